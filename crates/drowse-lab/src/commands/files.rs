//! The files that a run leaves.

use super::Misuse;
use crate::schema::Results;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, process};

/// About what a page and its results take. A device that is full should say so before an hour of
/// measuring.
const ROOM: usize = 1 << 20;

/// Sees to it, before anything is measured, that files of these names can be written to this
/// directory.
///
/// # Errors
///
/// If they cannot, and why.
pub(super) fn prepare(directory: &Path, names: &[&str]) -> Result<(), Misuse> {
    let refused = |why: String| Misuse(format!("cannot write to {}: {why}", directory.display()));
    if directory.exists() && !directory.is_dir() {
        return Err(refused("it is no directory".to_owned()));
    }
    fs::create_dir_all(directory).map_err(|error| refused(error.to_string()))?;
    if let Some(name) = names.iter().find(|name| directory.join(name).is_dir()) {
        return Err(refused(format!("{name} is a directory")));
    }
    let probe = directory.join(format!(".drowse-lab-{}.probe", process::id()));
    let written = fs::File::create(&probe).and_then(|mut file| file.write_all(&vec![b' '; ROOM]));
    // If it is not there, it was not written.
    let _ = fs::remove_file(&probe);
    written.map_err(|error| refused(error.to_string()))
}

/// Writes a file, and the directory that it is to be in. What was there before is there until all
/// of the new one is.
///
/// # Errors
///
/// If that fails, and why.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Misuse> {
    let told = |error: io::Error| Misuse(format!("cannot write {}: {error}", path.display()));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(told)?;
    }
    match fs::symlink_metadata(path) {
        // A device or a link is written to, not replaced.
        Ok(there) if !there.is_file() => fs::write(path, text).map_err(told),
        _ => {
            let part = beside(path);
            let whole = fs::write(&part, text).and_then(|()| fs::rename(&part, path));
            whole.map_err(|error| {
                let _ = fs::remove_file(&part);
                told(error)
            })
        }
    }
}

/// Writes the results. Those that are there get another name: which, if there were any.
///
/// # Errors
///
/// If that fails, and why. Then those that were there are there still.
pub(super) fn write_results(path: &Path, results: &Results) -> Result<Option<PathBuf>, Misuse> {
    let (part, previous) = (beside(path), path.with_extension("previous.json"));
    write(&part, &to_text(results)?)?;
    let aside = match fs::rename(path, &previous) {
        Ok(()) => Ok(Some(previous)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Misuse(format!("cannot rename {}: {error}", path.display()))),
    }?;
    fs::rename(&part, path)
        .map_err(|error| Misuse(format!("cannot write {}: {error}", path.display())))?;
    Ok(aside)
}

/// Where a file is until it is whole.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", process::id()));
    path.with_file_name(name)
}

/// Results as the text of a file: one cell per line, so that a person can find their way in it.
pub(super) fn to_text(results: &Results) -> Result<String, Misuse> {
    let mut value = serde_json::to_value(results)?;
    let mut text = String::from("{");
    let fields = value.as_object_mut().map(std::mem::take).unwrap_or_default();
    for (number, (name, value)) in fields.into_iter().enumerate() {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.push_str(&serde_json::to_string(&name)?);
        text.push_str(": ");
        match value {
            serde_json::Value::Array(items) if !items.is_empty() => {
                let items: Result<Vec<_>, _> = items.iter().map(serde_json::to_string).collect();
                text.push_str(&format!("[\n{}\n]", items?.join(",\n")));
            }
            other => text.push_str(&serde_json::to_string(&other)?),
        }
    }
    text.push_str("\n}\n");
    Ok(text)
}
