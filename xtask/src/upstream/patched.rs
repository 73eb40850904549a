//! A workspace with rayon as it was published, the published integration tests of rayon-core, and the shim in
//! rayon-core's place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::files::{mirror, quoted, rust_files_in, write};
use super::metadata::{ask, packages};
use super::published::Published;
use super::suite::{DOCTEST_LIMIT, Suite, TEST_LIMIT};
use crate::context::{BUILD_LIMIT, Context};

/// Test files that are left to `--full`: they take more than half a minute each.
const SLOW: [&str; 1] = ["octillion"];

/// The workspace, ready to be built.
#[derive(Debug)]
pub(super) struct Patched<'a> {
    published: &'a Published,
    directory: PathBuf,
    /// The files of rayon's integration tests.
    rayon_tests: Vec<String>,
}

impl<'a> Patched<'a> {
    /// Writes it, and makes sure that the core in it is ours.
    pub(super) fn make(context: &Context, published: &'a Published) -> Result<Self, String> {
        let directory = context.workspace().target_for("upstream/patched");
        let core = context.workspace().shim().join("rayon-core");
        let rayon_tests = make_workspace(&directory, published, &core)
            .map_err(|error| format!("cannot prepare {}: {error}", directory.display()))?;
        let patched = Self { published, directory, rayon_tests };
        patched.demand_our_core(context, &core.join("Cargo.toml"))?;
        Ok(patched)
    }

    /// There is one core in the graph, and it is the shim.
    fn demand_our_core(&self, context: &Context, ours: &Path) -> Result<(), String> {
        let mut command = self.cargo(context);
        ask(&mut command);
        let done = context
            .run_stdout_apart(command, BUILD_LIMIT)
            .map_err(|failure| format!("rayon does not resolve with the shim: {failure}"))?;
        check_core(&done.stdout, ours)
    }

    /// Builds all tests that are wanted.
    pub(super) fn build(&self, context: &Context) -> Result<(), String> {
        for mut command in [self.test_rayon(context, context.full()), self.test_core(context)] {
            command.arg("--no-run");
            context.run(command, BUILD_LIMIT).map_err(|failure| format!("build: {failure}"))?;
        }
        Ok(())
    }

    /// rayon's unit and integration tests, the slow ones too if they are all wanted.
    pub(super) fn rayon(&self, context: &Context, protocol: &str, all: bool) -> Suite {
        on(protocol, self.test_rayon(context, all))
    }

    /// rayon-core's integration tests.
    pub(super) fn core(&self, context: &Context, protocol: &str) -> Suite {
        on(protocol, self.test_core(context))
    }

    /// The examples in rayon's documentation.
    pub(super) fn doctests(&self, context: &Context, protocol: &str) -> Suite {
        let mut command = self.cargo(context);
        command.args(["test", "--package", "rayon", "--doc", "--no-fail-fast"]).env("DROWSE_SLEEP", protocol);
        Suite::new(command, DOCTEST_LIMIT)
    }

    fn test_rayon(&self, context: &Context, all: bool) -> Command {
        let mut command = self.cargo(context);
        command.args(["test", "--package", "rayon", "--no-fail-fast", "--lib"]);
        for name in self.rayon_tests.iter().filter(|name| all || !SLOW.contains(&name.as_str())) {
            command.args(["--test", name]);
        }
        command
    }

    fn test_core(&self, context: &Context) -> Command {
        let mut command = self.cargo(context);
        command.args(["test", "--package", "core-tests", "--no-fail-fast", "--tests"]);
        command
    }

    fn cargo(&self, context: &Context) -> Command {
        self.published.cargo_in(context, &self.directory)
    }
}

/// There is one core, and its manifest is this one.
pub(super) fn check_core(metadata: &str, ours: &Path) -> Result<(), String> {
    match packages(metadata, "rayon-core").as_slice() {
        [core] if core.manifest == ours => Ok(()),
        cores => Err(format!("the core under rayon is not the shim: {cores:?}")),
    }
}

/// The tests on this protocol. The core itself must say that it is ours and which protocol it uses.
fn on(protocol: &str, mut command: Command) -> Suite {
    command.args(["--", "--nocapture"]).env("DROWSE_SLEEP", protocol).env("DROWSE_LOG", "1");
    Suite::new(command, TEST_LIMIT).saying(format!("sleep protocol {protocol}"))
}

/// Returns the names of rayon's integration tests.
fn make_workspace(directory: &Path, published: &Published, core: &Path) -> io::Result<Vec<String>> {
    write(
        &directory.join("Cargo.toml"),
        format!(
            "[workspace]\nresolver = \"2\"\nmembers = [\"rayon\", \"core-tests\"]\n\n\
             [patch.crates-io]\nrayon-core = {{ path = {} }}\n\n\
             [profile.dev]\ndebug = 0\nincremental = false\n",
            quoted(core)
        ),
    )?;
    mirror(&published.rayon, &directory.join("rayon"))?;
    let core_tests = directory.join("core-tests");
    mirror(&published.core.join("tests"), &core_tests.join("tests"))?;
    let manifest = fs::read_to_string(published.core.join("Cargo.toml"))?;
    write(&core_tests.join("Cargo.toml"), core_manifest(&manifest))?;
    write(&core_tests.join("src/lib.rs"), "")?;
    rust_files_in(&directory.join("rayon/tests"))
}

/// A manifest for the tests of rayon-core alone: its edition, and what they and the original core depend on, since the
/// tests use that too.
fn core_manifest(published: &str) -> String {
    let edition = published.lines().find(|line| line.starts_with("edition = ")).unwrap_or_default();
    let mut text = format!(
        "[package]\nname = \"core-tests\"\n{edition}\n\n[dependencies]\nrayon-core = \"{}\"\n",
        super::CORE
    );
    let mut wanted = false;
    for line in published.lines() {
        if line.starts_with('[') {
            wanted = line.contains("dependencies");
        }
        if wanted {
            text += line;
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_core_is_not_taken_for_ours() {
        let package = |version: &str, place: &str| {
            format!(r#"{{"name":"rayon-core","version":"{version}","manifest_path":"{place}/Cargo.toml"}}"#)
        };
        let ours = package("1.13.1000", "/shim/rayon-core");
        let real = package("1.13.0", "/registry/rayon-core-1.13.0");
        let check = |metadata: &str| check_core(metadata, Path::new("/shim/rayon-core/Cargo.toml"));
        assert_eq!(check(&ours), Ok(()));
        assert!(check(&real).unwrap_err().contains("1.13.0"));
        assert!(check(&(ours + &real)).is_err());
        assert!(check("").is_err());
    }

    #[test]
    fn the_cores_tests_keep_their_edition_and_dependencies() {
        let published = "[package]\nedition = \"2021\"\nname = \"rayon-core\"\nlinks = \"rayon-core\"\n\n\
            [dependencies.crossbeam-deque]\nversion = \"0.8.1\"\n\n[dev-dependencies.rand]\nversion = \"0.9\"\n\n\
            [target.\"cfg(unix)\".dev-dependencies.libc]\nversion = \"0.2\"\n\n[lib]\nname = \"rayon_core\"\n";
        assert_eq!(
            core_manifest(published),
            "[package]\nname = \"core-tests\"\nedition = \"2021\"\n\n[dependencies]\nrayon-core = \"1.13.0\"\n\
             [dependencies.crossbeam-deque]\nversion = \"0.8.1\"\n\n[dev-dependencies.rand]\nversion = \"0.9\"\n\n\
             [target.\"cfg(unix)\".dev-dependencies.libc]\nversion = \"0.2\"\n\n"
        );
    }
}
