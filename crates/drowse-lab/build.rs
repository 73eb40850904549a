//! Tells the program which compiler built it, for the results that it writes.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let said = Command::new(rustc).arg("--version").output();
    let version = said.ok().filter(|said| said.status.success()).map(|said| said.stdout);
    let version = version.and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
    println!("cargo::rustc-env=DROWSE_LAB_RUSTC={}", version.trim());
}
