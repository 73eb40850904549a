//! The repository's text files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::Job;

/// The path from the root, with `/` on every system, and the text of each file that is UTF-8.
pub(crate) fn texts_in(root: &Path) -> io::Result<Vec<(String, String)>> {
    let paths = match listed_by_git(root) {
        Some(paths) => paths,
        None => walked(root)?,
    };
    let mut texts = Vec::new();
    for path in paths {
        let bytes = match fs::read(root.join(&path)) {
            Ok(bytes) => bytes,
            // Listed, but deleted since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if let Ok(text) = String::from_utf8(bytes) {
            texts.push((path, text));
        }
    }
    if texts.iter().any(|(path, _)| path == "Cargo.toml") {
        Ok(texts)
    } else {
        Err(io::Error::other("no Cargo.toml at the root"))
    }
}

/// What is committed or about to be. `None` where there is no git, or no repository.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("git");
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let done = Job::new(command, Duration::from_secs(60))
        .stdout_apart()
        .run()
        .ok()
        .filter(|done| done.succeeded() && !done.stdout.is_empty())?;
    let mut paths: Vec<String> = done
        .stdout
        .split_terminator('\0')
        .filter(|path| root.join(path).is_file())
        .map(String::from)
        .collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// Every file that is not built and not git's own.
fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() && entry.file_name() != "target" && entry.file_name() != ".git" {
                directories.push(path);
            } else if kind.is_file() {
                let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
                files.push(parts.join("/"));
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn the_walk_finds_this_file() {
        let files = walked(here()).unwrap();
        assert!(files.contains(&"src/tidy/files.rs".to_string()));
        assert!(files.contains(&"Cargo.toml".to_string()));
    }

    #[test]
    fn texts_come_with_their_paths() {
        let texts = texts_in(here()).unwrap();
        let (_, text) = texts.iter().find(|(path, _)| path == "src/tidy/files.rs").unwrap();
        assert!(text.starts_with("//! The repository's text files."));
    }

    #[test]
    fn a_place_without_a_manifest_is_no_repository() {
        assert!(texts_in(&here().join("src")).is_err());
    }
}
