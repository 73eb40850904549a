//! Cargo wants a build script wherever there is a `links` key. There is nothing to build.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
