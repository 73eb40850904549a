//! Contenders that cannot live in this program, because they are other builds of the same crates.
//!
//! Such a contender is a program with all of the lab in it. It takes the lab's hidden command,
//! `child --workload W --contender C --threads N --time-us T --sources S`, and prints one
//! [`Outcome`](crate::schema::Outcome) as JSON, on one line. It is looked for beside this program
//! and in the target directory of its own workspace. If it was built from other sources than this
//! one, it says so and measures nothing: figures of two states of the code side by side would
//! mislead.

use crate::contender::{Contender, RayonOnDrowse};
use crate::platform::interrupt::Ward;
use crate::say::tell;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A contender with a program of its own.
#[derive(Debug)]
pub struct External {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// The name of its program, and of the package that it is made of.
    program: &'static str,
    /// Where its workspace is, from the root of ours.
    workspace: &'static str,
}

/// All of them.
pub const ALL: &[External] = &[External {
    name: RayonOnDrowse::NAME,
    about: RayonOnDrowse::ABOUT,
    program: "drowse-lab-on-drowse",
    workspace: "shim",
}];

/// A hash of the sources that this program was built from.
pub(crate) const SOURCES: &str = env!("DROWSE_LAB_SOURCES");

/// As this program was built, so the others: a debug build's workloads are smaller.
const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// The one of this name.
pub fn find(name: &str) -> Option<&'static External> {
    ALL.iter().find(|external| external.name == name)
}

impl External {
    /// Where its program is: the newest, if there are several.
    ///
    /// # Errors
    ///
    /// If it is not built: how to build it.
    pub fn program(&self) -> Result<PathBuf, String> {
        let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let shared = env::var_os("CARGO_TARGET_DIR").map(|target| Path::new(&target).join(PROFILE));
        let own = root().join(self.workspace).join("target").join(PROFILE);
        let file = format!("{}{}", self.program, env::consts::EXE_SUFFIX);
        let places = beside.into_iter().chain(shared).chain([own]).map(|place| place.join(&file));
        let newest = places
            .filter(|path| path.is_file())
            .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
        newest.ok_or_else(|| format!("not built: {}", self.how_to_build()))
    }

    /// Builds its program; a line on standard error says so, and cargo what it does.
    ///
    /// # Errors
    ///
    /// If that failed: how to do it by hand.
    pub fn build(&self) -> Result<(), String> {
        tell(format!("building {} for {}: {}", self.program, self.name, self.command()));
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(cargo);
        command
            .args(self.arguments())
            .current_dir(root())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        match Ward::spawn(&mut command).and_then(|mut ward| ward.wait()) {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("cargo ended with {status}; {}", self.how_to_build())),
            Err(error) => {
                Err(format!("cargo could not be started ({error}); {}", self.how_to_build()))
            }
        }
    }

    /// What to do about a program that is missing or old.
    pub(crate) fn how_to_build(&self) -> String {
        format!("`{}` makes {}", self.command(), self.program)
    }

    fn command(&self) -> String {
        format!("cargo {}", self.arguments().join(" "))
    }

    fn arguments(&self) -> Vec<String> {
        let manifest = format!("{}/Cargo.toml", self.workspace);
        let release = if PROFILE == "release" { "--release" } else { "" };
        let all = ["build", release, "--manifest-path", &manifest, "--package", self.program];
        all.into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_says_how_to_build_it() {
        let absent =
            External { name: "x", about: "", program: "no-such-program", workspace: "shim" };
        let told = absent.program().unwrap_err();
        assert!(told.starts_with("not built: `cargo build"), "{told}");
        assert!(
            told.contains("--manifest-path shim/Cargo.toml --package no-such-program"),
            "{told}"
        );
    }

    #[test]
    fn each_has_a_package_in_its_workspace() {
        for external in ALL {
            let manifest = root().join(external.workspace).join("lab/Cargo.toml");
            let text = std::fs::read_to_string(manifest).unwrap();
            assert!(text.contains(&format!("name = \"{}\"", external.program)), "{text}");
        }
    }
}
