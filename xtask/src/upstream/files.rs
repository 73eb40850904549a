//! Generated and copied files, written only where they differ: cargo builds anew what has a new date.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes the text unless it is there already.
pub(super) fn write(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == text.as_ref()) {
        return Ok(());
    }
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, text)
}

/// Makes the directory `to` a copy of `from`: what is only in `to` goes. Neither looks at hidden files nor at lock files.
pub(super) fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    let wanted = files_under(from)?;
    for stale in files_under(to).unwrap_or_default().iter().filter(|path| !wanted.contains(path)) {
        fs::remove_file(to.join(stale))?;
    }
    for path in wanted {
        write(&to.join(&path), fs::read(from.join(&path))?)?;
    }
    Ok(())
}

/// The names, without `.rs`, of the Rust files directly in a directory, in order.
pub(super) fn rust_files_in(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(String::from));
    }
    names.sort();
    Ok(names)
}

/// A path as a TOML string.
pub(super) fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

fn files_under(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let name = entry.file_name();
            if name == "Cargo.lock" || name.to_string_lossy().starts_with('.') {
                continue;
            }
            let path = directory.join(name);
            if entry.file_type()?.is_dir() {
                directories.push(path);
            } else {
                files.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process};

    #[test]
    fn a_mirror_takes_over_what_changed_and_drops_the_rest() {
        let root = env::temp_dir().join(format!("xtask-mirror-{}", process::id()));
        let (from, to) = (root.join("from"), root.join("to"));
        write(&from.join("src/lib.rs"), "one").unwrap();
        write(&from.join("Cargo.lock"), "lock").unwrap();
        write(&to.join("src/gone.rs"), "old").unwrap();
        mirror(&from, &to).unwrap();
        assert_eq!(files_under(&to).unwrap(), [PathBuf::from("src/lib.rs")]);
        assert!(!to.join("Cargo.lock").exists() && !to.join("src/gone.rs").exists());

        let written = fs::metadata(to.join("src/lib.rs")).unwrap().modified().unwrap();
        mirror(&from, &to).unwrap();
        assert_eq!(fs::metadata(to.join("src/lib.rs")).unwrap().modified().unwrap(), written);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn paths_are_quoted_for_toml() {
        assert_eq!(quoted(Path::new("/a b/c")), r#""/a b/c""#);
        assert_eq!(quoted(Path::new(r"C:\a")), r#""C:\\a""#);
    }

    #[test]
    fn rust_files_lose_their_ending() {
        let names = rust_files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/upstream")).unwrap();
        assert!(names.contains(&"files".to_string()));
    }
}
