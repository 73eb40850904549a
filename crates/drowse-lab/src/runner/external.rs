//! Contenders that cannot live in this program, because they are other builds of the same crates.
//!
//! Such a contender is a program that takes the lab's hidden command, `child --workload W --contender C --threads N --time-us T`, and prints
//! one [`Outcome`](crate::schema::Outcome) as JSON, on one line. It is looked for beside this program and in the target directory of
//! its own workspace.

use std::env;
use std::path::{Path, PathBuf};

/// A contender with a program of its own.
#[derive(Debug)]
pub struct External {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// The name of its program.
    program: &'static str,
    /// Where its workspace is, from the root of ours.
    workspace: &'static str,
}

/// All of them.
pub const ALL: &[External] = &[External {
    name: "rayon-on-drowse",
    about: "rayon's own code with drowse as its core",
    program: "rayon-on-drowse",
    workspace: "shim",
}];

/// The one of this name.
pub fn find(name: &str) -> Option<&'static External> {
    ALL.iter().find(|external| external.name == name)
}

impl External {
    /// Where its program is.
    ///
    /// # Errors
    ///
    /// If it is not built: how to build it.
    pub fn program(&self) -> Result<PathBuf, String> {
        let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let own = root.join(self.workspace).join("target/release");
        let file = format!("{}{}", self.program, env::consts::EXE_SUFFIX);
        let found =
            beside.into_iter().chain([own]).map(|place| place.join(&file)).find(|path| path.is_file());
        found.ok_or_else(|| {
            let (workspace, program) = (self.workspace, self.program);
            format!(
                "not built: `cargo build --release --manifest-path {workspace}/Cargo.toml` makes {program}"
            )
        })
    }
}
