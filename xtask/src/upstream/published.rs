//! What rayon has published: where cargo has put it, and a crate that builds our tests on it.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::files::{quoted, rust_files_in, write};
use super::metadata::{ask, packages};
use super::suite::{Suite, TEST_LIMIT};
use super::{CORE, RAYON};
use crate::context::{BUILD_LIMIT, Context};
use crate::process::Job;

/// How long cargo may look for the registry.
const FETCH_LIMIT: Duration = Duration::from_secs(180);

/// Tests of the shim with this prefix are about what rayon-core does not have.
const OURS_ALONE: &str = "drowse_";

/// rayon's sources as cargo has unpacked them.
#[derive(Debug)]
pub(super) struct Published {
    /// The directory of rayon.
    pub(super) rayon: PathBuf,
    /// The directory of rayon-core.
    pub(super) core: PathBuf,
    /// The crate with our tests and the real rayon-core.
    crate_directory: PathBuf,
    /// The registry cannot be reached, but all that is needed was fetched before.
    offline: bool,
}

impl Published {
    /// Lets cargo fetch it. `None` if cargo cannot.
    pub(super) fn find(context: &Context) -> Result<Option<Self>, String> {
        let base = context.workspace().target_for("upstream");
        let crate_directory = base.join("original");
        make_crate(&context.workspace().shim().join("rayon-core/tests"), &crate_directory)
            .map_err(|error| format!("cannot prepare {}: {error}", base.display()))?;
        for offline in [false, true] {
            let mut command = context.workspace().cargo([]);
            ask(set_offline(&mut command, offline)).current_dir(&crate_directory);
            let Ok(done) = Job::new(command, FETCH_LIMIT).stdout_apart().run() else { continue };
            if !done.succeeded() {
                if !offline {
                    print!("{}", done.output);
                }
                if done.output.contains("failed to parse manifest") {
                    return Err("cargo does not understand the generated manifest".to_string());
                }
                continue;
            }
            let directory = |name, version| {
                let package = packages(&done.stdout, name).into_iter().find(|p| p.version == version);
                package
                    .and_then(|package| package.manifest.parent().map(Path::to_path_buf))
                    .ok_or_else(|| format!("cargo metadata does not tell where {name} {version} is"))
            };
            return Ok(Some(Self {
                rayon: directory("rayon", RAYON)?,
                core: directory("rayon-core", CORE)?,
                crate_directory,
                offline,
            }));
        }
        Ok(None)
    }

    /// A cargo for the generated crate or workspace in this directory.
    pub(super) fn cargo_in(&self, context: &Context, directory: &Path) -> Command {
        let mut command = context.workspace().cargo([]);
        set_offline(&mut command, self.offline)
            .current_dir(directory)
            .env("CARGO_TARGET_DIR", context.workspace().target_for("upstream/build"));
        command
    }

    /// Builds the shim's tests of what rayon-core has too, on rayon-core itself.
    pub(super) fn build(&self, context: &Context) -> Result<(), String> {
        let mut command = self.cargo_in(context, &self.crate_directory);
        command.args(["test", "--tests", "--no-run"]);
        let built = context.run(command, BUILD_LIMIT);
        built.map(|_| ()).map_err(|failure| format!("the shim's tests do not build on rayon-core: {failure}"))
    }

    /// Runs them.
    pub(super) fn our_tests(&self, context: &Context) -> Suite {
        let mut command = self.cargo_in(context, &self.crate_directory);
        command.args(["test", "--tests", "--no-fail-fast"]);
        Suite::new(command, TEST_LIMIT)
    }
}

/// Tells cargo that there is no registry to be reached.
fn set_offline(command: &mut Command, offline: bool) -> &mut Command {
    if offline {
        command.env("CARGO_NET_OFFLINE", "true");
    }
    command
}

/// Writes the crate. Its tests stay where they are.
fn make_crate(tests: &Path, directory: &Path) -> io::Result<()> {
    let names: Vec<String> =
        rust_files_in(tests)?.into_iter().filter(|name| !name.starts_with(OURS_ALONE)).collect();
    write(&directory.join("Cargo.toml"), manifest(tests, &names))?;
    write(&directory.join("src/lib.rs"), "")
}

fn manifest(tests: &Path, names: &[String]) -> String {
    let mut text = format!(
        "[package]\nname = \"original\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         rayon-core = \"={CORE}\"\n\
         # Never built: named, so that cargo fetches it.\n\
         rayon = {{ version = \"={RAYON}\", optional = true }}\n\n[profile.dev]\ndebug = 0\nincremental = false\n"
    );
    for name in names {
        let path = quoted(&tests.join(format!("{name}.rs")));
        write!(text, "\n[[test]]\nname = \"{name}\"\npath = {path}\n").expect("a string takes all text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_stay_where_they_are() {
        let text = manifest(Path::new("/shim/tests"), &["signatures".to_string()]);
        assert!(text.contains("rayon-core = \"=1.13.0\""), "{text}");
        assert!(
            text.contains("[[test]]\nname = \"signatures\"\npath = \"/shim/tests/signatures.rs\"\n"),
            "{text}"
        );
    }
}
