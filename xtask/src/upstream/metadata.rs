//! Reads packages from what `cargo metadata` prints.

use std::path::PathBuf;
use std::process::Command;

use crate::json::string_after;

/// A package of a resolved graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) version: String,
    pub(super) manifest: PathBuf,
}

/// Makes a cargo command print what [`packages`] reads.
pub(super) fn ask(cargo: &mut Command) -> &mut Command {
    cargo.args(["metadata", "--format-version", "1", "--all-features"])
}

/// The packages of this name, in all versions. A dependency on it is no package: it has no version behind its name.
pub(super) fn packages(metadata: &str, name: &str) -> Vec<Package> {
    let start = format!(r#"{{"name":"{name}","version":"#);
    let mut found = Vec::new();
    for (at, _) in metadata.match_indices(&start) {
        let package = &metadata[at..];
        let version = string_after(package, r#""version":"#);
        // The first one from here on is its own.
        let manifest = string_after(package, r#""manifest_path":"#);
        found.extend(
            version
                .zip(manifest)
                .map(|(version, manifest)| Package { version, manifest: PathBuf::from(manifest) }),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_told_from_dependencies_and_longer_names() {
        let metadata = concat!(
            r#"{"packages":[{"name":"rayon","version":"1.12.0","id":"i","dependencies":["#,
            r#"{"name":"rayon-core","source":"s","req":"^1"}],"manifest_path":"/r/rayon/Cargo.toml"},"#,
            r#"{"name":"rayon-core","version":"1.13.0","id":"j","manifest_path":"/r/core/Cargo.toml"}]}"#,
        );
        let package = |version: &str, manifest: &str| Package {
            version: version.to_string(),
            manifest: PathBuf::from(manifest),
        };
        assert_eq!(packages(metadata, "rayon"), [package("1.12.0", "/r/rayon/Cargo.toml")]);
        assert_eq!(packages(metadata, "rayon-core"), [package("1.13.0", "/r/core/Cargo.toml")]);
        assert_eq!(packages(metadata, "core"), []);
    }
}
