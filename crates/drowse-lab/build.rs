//! Tells the program which compiler built it, for the results that it writes, and which sources, so
//! that two builds of them can tell whether they belong together.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// All that the lab's figures depend on and that changes with this repository.
const SOURCES: [&str; 4] = ["src", "../drowse/src", "../drowse-sleep/src", "../drowse-sync/src"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let said = Command::new(rustc).arg("--version").output();
    let version = said.ok().filter(|said| said.status.success()).map(|said| said.stdout);
    let version = version.and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
    println!("cargo::rustc-env=DROWSE_LAB_RUSTC={}", version.trim());

    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for directory in SOURCES {
        println!("cargo::rerun-if-changed={directory}");
        for file in files(Path::new(directory)) {
            hash.add(file.to_string_lossy().as_bytes());
            hash.add(&fs::read(&file).unwrap_or_default());
        }
    }
    println!("cargo::rustc-env=DROWSE_LAB_SOURCES={:016x}", hash.0);
}

/// Every file under this directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).collect()
}

/// A hash that is the same in every build (FNV-1a).
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
