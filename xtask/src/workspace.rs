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
        let root = own
            .parent()
            .expect("xtask lies in its workspace")
            .to_path_buf();
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

    /// The cargo of another rustup toolchain, which must be installed: rustup is told not to fetch it.
    pub(crate) fn cargo_of<const N: usize>(&self, toolchain: &str, args: [&str; N]) -> Command {
        let mut command = Command::new("cargo");
        command
            .arg(format!("+{toolchain}"))
            .env("RUSTUP_AUTO_INSTALL", "0")
            .env_remove("CARGO");
        self.command(command, args)
    }

    fn command<const N: usize>(&self, mut command: Command, args: [&str; N]) -> Command {
        command
            .args(args)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
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
    key.starts_with("CARGO_PKG_")
        || key.starts_with("CARGO_MANIFEST_")
        || key == "CARGO_PRIMARY_PACKAGE"
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
    let (key, separator, start) = match (encoded, plain) {
        (Some(encoded), _) => ("CARGO_ENCODED_RUSTFLAGS", "\x1f", Some(encoded)),
        (None, plain) => ("RUSTFLAGS", " ", plain),
    };
    let all: Vec<&str> = start
        .as_deref()
        .into_iter()
        .chain(flags.iter().copied())
        .flat_map(|flag| flag.split(' ').filter(|_| separator == " ").chain(
            Some(flag).filter(|_| separator != " "),
        ))
        .collect();
    (key, all.join(separator))
}
