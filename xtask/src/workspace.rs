//! Where things are, and how cargo is called.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checkout that this program works on.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// The workspace that this crate is a member of.
    pub(crate) fn find() -> Self {
        // cargo names the crate's place at run time too: it may have moved since it was built.
        let own = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = own.parent().expect("xtask lies in its workspace").to_path_buf();
        // A relative CARGO_TARGET_DIR is relative to where cargo was called.
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
            || root.join("target"),
            |dir| std::path::absolute(&dir).unwrap_or_else(|_| PathBuf::from(dir)),
        );
        Self { root, target }
    }

    /// The directory of the workspace's manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A target directory of its own for builds whose flags differ, so that they do not evict the others.
    pub(crate) fn target_for(&self, purpose: &str) -> PathBuf {
        self.target.join(purpose)
    }

    /// The cargo that runs this program, called in the workspace's root.
    pub(crate) fn cargo<const N: usize>(&self, args: [&str; N]) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.command(Command::new(cargo), args)
    }

    /// The same for the shim, which is a workspace of its own.
    pub(crate) fn cargo_of_shim<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = self.cargo(args);
        command.current_dir(self.shim());
        command
    }

    /// The directory of the workspace with rayon-core's stand-in.
    pub(crate) fn shim(&self) -> PathBuf {
        self.root.join("shim")
    }

    /// The cargo of another rustup toolchain, which must be installed: rustup is told not to fetch it.
    pub(crate) fn cargo_of<const N: usize>(&self, toolchain: &str, args: [&str; N]) -> Command {
        let mut command = Command::new("cargo");
        command.arg(format!("+{toolchain}")).env("RUSTUP_AUTO_INSTALL", "0").env_remove("CARGO");
        self.command(command, args)
    }

    fn command<const N: usize>(&self, mut command: Command, args: [&str; N]) -> Command {
        command.args(args).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // What `cargo run` said about this program is no business of its children.
        for (key, _) in env::vars_os() {
            if is_about_this_run(&key.to_string_lossy()) {
                command.env_remove(key);
            }
        }
        command
    }
}

/// Whether `cargo run` sets this variable to describe the program that it runs.
fn is_about_this_run(key: &str) -> bool {
    key.starts_with("CARGO_PKG_") || key.starts_with("CARGO_MANIFEST_") || key == "CARGO_PRIMARY_PACKAGE"
}

/// Adds rustc flags to those that the user has set.
pub(crate) fn add_rustflags(command: &mut Command, flags: &[&str]) {
    let set = |key: &str| env::var(key).ok().filter(|value| !value.is_empty());
    let (key, value) = joined_rustflags(set("CARGO_ENCODED_RUSTFLAGS"), set("RUSTFLAGS"), flags);
    command.env(key, value);
}

/// The variable to set and its value. cargo ignores the second variable where the first is set.
fn joined_rustflags(
    encoded: Option<String>,
    plain: Option<String>,
    flags: &[&str],
) -> (&'static str, String) {
    let (key, separator, start) = match encoded {
        Some(encoded) => ("CARGO_ENCODED_RUSTFLAGS", "\x1f", Some(encoded)),
        None => ("RUSTFLAGS", " ", plain),
    };
    let added = flags.join(separator);
    match start {
        Some(start) => (key, start + separator + &added),
        None => (key, added),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_added_to_the_users() {
        let flags = ["--cfg", "model"];
        let text = |text: &str| Some(text.to_string());
        assert_eq!(joined_rustflags(None, None, &flags), ("RUSTFLAGS", "--cfg model".to_string()));
        assert_eq!(
            joined_rustflags(None, text("-C debuginfo=0"), &flags),
            ("RUSTFLAGS", "-C debuginfo=0 --cfg model".to_string())
        );
        assert_eq!(
            joined_rustflags(text("-C\x1fdebuginfo=0"), text("-g"), &flags),
            ("CARGO_ENCODED_RUSTFLAGS", "-C\x1fdebuginfo=0\x1f--cfg\x1fmodel".to_string())
        );
    }

    #[test]
    fn the_root_holds_the_workspaces_manifest() {
        let manifest = Workspace::find().root().join("Cargo.toml");
        let text = std::fs::read_to_string(manifest).unwrap();
        assert!(text.contains("[workspace]"));
    }
}
