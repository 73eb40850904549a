//! A toolchain whose std can be built anew: ThreadSanitizer must see into std, or it cries wolf.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::TARGET;
use crate::context::{BUILD_LIMIT, Context, shout};
use crate::process::Job;
use crate::tools::answers;

/// Unpacks Debian's packages into a directory.
const SCRIPT: &str = include_str!("debian_kit.sh");

/// Where a toolchain's sources of std lie under its sysroot.
const STD_SOURCES: &str = "lib/rustlib/src/rust/library/Cargo.lock";

/// A toolchain that has the sources of its std.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// rustup's nightly with its component `rust-src`.
    Nightly,
    /// Debian's rustc, unpacked into this directory, with the cargo that runs this program.
    Debian(PathBuf),
}

/// Why there is no kit after all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoKit {
    /// The packages are not to be had on this system.
    Unavailable,
    /// Something went wrong.
    Failed(String),
}

impl Toolchain {
    /// The first of them that is there.
    pub(crate) fn find(context: &Context) -> Option<Self> {
        let mut nightly = Command::new("rustc");
        nightly.args(["+nightly", "--print", "sysroot"]).env("RUSTUP_AUTO_INSTALL", "0");
        if sysroot(nightly).is_some_and(|root| root.join(STD_SOURCES).is_file()) {
            return Some(Self::Nightly);
        }
        let kit = directory(context);
        kit.join("complete").is_file().then_some(Self::Debian(kit))
    }

    /// Its cargo.
    pub(crate) fn cargo(&self, context: &Context) -> Command {
        match self {
            Self::Nightly => context.workspace().cargo_of("nightly", []),
            Self::Debian(kit) => {
                let mut command = context.workspace().cargo([]);
                command
                    .env("RUSTC", kit.join("bin/rustc"))
                    .env("RUSTDOC", kit.join("bin/rustdoc"))
                    .env("RUSTC_BOOTSTRAP", "1");
                command
            }
        }
    }
}

/// Unpacks Debian's packages under the target directory. Nothing else on the system changes, but for apt's lists.
pub(crate) fn unpack_debian(context: &Context) -> Result<(), NoKit> {
    // The lists may be there already, and only root may refresh them: so it is no matter if this fails.
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    let refreshed = answers(update);
    let mut show = Command::new("apt-cache");
    show.args(["show", "rustc-web", "rust-web-src"]);
    if !answers(show) {
        let lists = if refreshed { "" } else { " (and its lists could not be refreshed)" };
        shout(&format!(
            "apt knows no rustc-web and rust-web-src{lists}: they are in Debian's rust-web sources"
        ));
        return Err(NoKit::Unavailable);
    }
    let runtime = tsan_runtime().ok_or_else(|| {
        NoKit::Failed("this toolchain has no ThreadSanitizer runtime: is it rustup's?".to_string())
    })?;
    let mut script = Command::new("sh");
    script.args(["-c", SCRIPT, "debian_kit.sh"]).arg(directory(context)).arg(runtime);
    let unpacked = context.run_named("debian_kit.sh", script, BUILD_LIMIT);
    unpacked.map(drop).map_err(|failure| NoKit::Failed(format!("unpacking: {failure}")))
}

/// Where Debian's packages are unpacked to.
fn directory(context: &Context) -> PathBuf {
    context.workspace().target_for("tsan-kit")
}

/// The runtime library in the toolchain that runs this program.
fn tsan_runtime() -> Option<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "sysroot"]);
    let libraries = sysroot(rustc)?.join("lib/rustlib").join(TARGET).join("lib");
    let paths = fs::read_dir(libraries).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    paths.into_iter().find(|path| is_tsan_runtime(path))
}

/// Its name holds the channel of the toolchain.
fn is_tsan_runtime(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("librustc-") && name.ends_with("_rt.tsan.a")
}

/// The directory that the command prints.
fn sysroot(command: Command) -> Option<PathBuf> {
    let job = Job::new(command, Duration::from_secs(60)).stdout_apart();
    let done = job.run().ok().filter(|done| done.succeeded())?;
    Some(PathBuf::from(done.stdout.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_known_by_its_name_on_every_channel() {
        assert!(is_tsan_runtime(Path::new("lib/librustc-stable_rt.tsan.a")));
        assert!(is_tsan_runtime(Path::new("lib/librustc-nightly_rt.tsan.a")));
        assert!(!is_tsan_runtime(Path::new("lib/librustc-stable_rt.asan.a")));
    }

    #[test]
    fn a_toolchain_that_is_not_there_has_no_sysroot() {
        assert_eq!(sysroot(Command::new("no-such-program-anywhere")), None);
    }
}
