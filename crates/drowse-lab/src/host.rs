//! Where this runs, and what it is.

use crate::schema::{Build, Host};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

/// What is not known.
const UNKNOWN: &str = "unknown";

/// How many threads the machine runs at once.
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The machine.
pub(crate) fn host(load_before: f64, load_after: f64) -> Host {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = model(&info).unwrap_or(std::env::consts::ARCH).to_owned();
    Host { cpus: cpus(), cpu, system: system(), load_before, load_after }
}

/// The program.
pub(crate) fn build() -> Build {
    let rustc = Some(env!("DROWSE_LAB_RUSTC")).filter(|text| !text.is_empty()).unwrap_or(UNKNOWN);
    Build {
        drowse: env!("CARGO_PKG_VERSION").to_owned(),
        rustc: rustc.to_owned(),
        commit: commit().unwrap_or_else(|| UNKNOWN.to_owned()),
    }
}

/// The processor's name for itself. What it is called depends on its kind.
fn model(info: &str) -> Option<&str> {
    ["model name", "Model", "cpu model", "Processor"].into_iter().find_map(|key| {
        info.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
        })
    })
}

fn system() -> String {
    let read = |name| fs::read_to_string(Path::new("/proc/sys/kernel").join(name));
    match (read("ostype"), read("osrelease")) {
        (Ok(system), Ok(release)) => format!("{} {}", system.trim(), release.trim()),
        _ => std::env::consts::OS.to_owned(),
    }
}

fn commit() -> Option<String> {
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    Some(if changed { head + "+" } else { head })
}

fn git(args: &[&str]) -> Option<String> {
    let said =
        Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(args).output().ok()?;
    said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_names() {
        let info =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A Fine CPU @ 2.50GHz\nprocessor\t: 1\n";
        assert_eq!(model(info), Some("A Fine CPU @ 2.50GHz"));
        assert_eq!(model("processor\t: 0\nModel\t\t: A Small Board\n"), Some("A Small Board"));
        assert_eq!(model("processor\t: 0\n"), None);
    }

    #[test]
    fn something_is_known_of_every_machine() {
        let host = host(0.5, 1.5);
        assert!(host.cpus > 0 && !host.cpu.is_empty() && !host.system.is_empty());
        let build = build();
        assert!(!build.rustc.is_empty() && !build.commit.is_empty());
    }
}
