//! A program with an old lock file gets our core by the one command that the migration page names,
//! and keeps the rest of what it has locked.

use std::fs;
use std::io;
use std::path::Path;

use super::UNREACHABLE;
use super::files::{mirror, quoted, write};
use super::metadata::ask;
use super::patched::check_core;
use super::published::Published;
use crate::context::{BUILD_LIMIT, Context, shout};
use crate::outcome::{Outcome, counted};

/// Programs with a lock file of their year, each in a directory of its own.
const PROGRAMS: &str = "old-locks";

/// What the program prints, and drowse's log before it.
const RESULT: &str = "500500";
const LOG: &str = ": a pool of ";

/// Each program of `shim/old-locks` runs on drowse after the two lines and one `cargo update`.
pub(crate) fn old_locks(context: &Context) -> Outcome {
    // It makes sure that there is a registry.
    let published = match Published::find(context) {
        Ok(Some(published)) => published,
        Ok(None) => {
            shout(&format!("{UNREACHABLE}: that old lock files take the shim is not checked."));
            return Outcome::skipped(UNREACHABLE);
        }
        Err(why) => return Outcome::failed(why),
    };
    let names = match names_in(&context.workspace().shim().join(PROGRAMS)) {
        Ok(names) if !names.is_empty() => names,
        Ok(_) => return Outcome::failed("there are no programs with old lock files"),
        Err(error) => return Outcome::failed(format!("cannot read shim/{PROGRAMS}: {error}")),
    };
    let mut failed = Vec::new();
    for name in &names {
        if let Err(why) = try_one(context, &published, name) {
            failed.push(format!("{name}: {why}"));
        }
    }
    let detail = if failed.is_empty() {
        format!("{} on drowse: {}", counted(names.len(), "old lock file"), names.join(", "))
    } else {
        failed.join("; ")
    };
    Outcome::by_failures(failed.len(), detail)
}

fn try_one(context: &Context, published: &Published, name: &str) -> Result<(), String> {
    let program = context.workspace().shim().join(PROGRAMS).join(name);
    let directory = context.workspace().target_for("upstream/old-locks").join(name);
    let core = context.workspace().shim().join("rayon-core");
    let before = prepare(&program, &directory, &core)
        .map_err(|error| format!("cannot prepare {}: {error}", directory.display()))?;

    let cargo = || published.cargo_in(context, &directory);
    let mut update = cargo();
    update.args(["update", "--package", "rayon-core"]);
    context.run(update, BUILD_LIMIT).map_err(|failure| format!("cargo update: {failure}"))?;

    let mut metadata = cargo();
    ask(&mut metadata).arg("--locked");
    let metadata =
        context.run_stdout_apart(metadata, BUILD_LIMIT).map_err(|failure| format!("metadata: {failure}"))?;
    check_core(&metadata.stdout, &core.join("Cargo.toml"))?;
    let after = fs::read_to_string(directory.join("Cargo.lock")).map_err(|error| error.to_string())?;
    keeps_the_rest(&before, &after)?;

    let mut run = cargo();
    run.args(["run", "--quiet", "--locked"]).env("DROWSE_LOG", "1");
    let run = context.run(run, BUILD_LIMIT).map_err(|failure| format!("does not run: {failure}"))?;
    if run.output.contains(RESULT) && run.output.contains(LOG) {
        Ok(())
    } else {
        Err(format!("it does not run on drowse: {}", run.output.trim()))
    }
}

/// Copies the program, adds the two lines that a user adds, and returns what it has locked.
fn prepare(program: &Path, directory: &Path, core: &Path) -> io::Result<String> {
    mirror(program, directory)?;
    let manifest = fs::read_to_string(program.join("Cargo.toml"))?;
    write(&directory.join("Cargo.toml"), with_the_two_lines(&manifest, core))?;
    let lock = fs::read_to_string(program.join("Cargo.lock"))?;
    write(&directory.join("Cargo.lock"), &lock)?;
    Ok(lock)
}

fn with_the_two_lines(manifest: &str, core: &Path) -> String {
    format!("{manifest}\n[patch.crates-io]\nrayon-core = {{ path = {} }}\n", quoted(core))
}

/// Cargo may take newer what our core and the old one both depend on. What else the program has
/// locked stays.
fn keeps_the_rest(before: &str, after: &str) -> Result<(), String> {
    let after = packages(after);
    let gone = packages(before).into_iter().find(|package| {
        ["rayon", "crossbeam-queue", "libc"].contains(&package.0) && !after.contains(package)
    });
    match gone {
        Some((name, version)) => Err(format!("{name} {version}, which it had locked, is gone")),
        None => Ok(()),
    }
}

/// The names and versions in a lock file.
fn packages(lock: &str) -> Vec<(&str, &str)> {
    lock.split("[[package]]")
        .filter_map(|package| {
            let value = |key| package.split_once(key)?.1.split('"').next();
            value("\nname = \"").zip(value("\nversion = \""))
        })
        .collect()
}

/// The directories in a directory, in order.
fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "version = 3\n\n[[package]]\nname = \"libc\"\nversion = \"0.2.98\"\nsource = \"s\"\n\n\
        [[package]]\nname = \"rayon-core\"\nversion = \"1.9.1\"\ndependencies = [\n \"libc\",\n]\n";

    #[test]
    fn lock_files_are_read() {
        assert_eq!(packages(OLD), [("libc", "0.2.98"), ("rayon-core", "1.9.1")]);
    }

    #[test]
    fn only_the_core_may_change() {
        assert_eq!(keeps_the_rest(OLD, &OLD.replace("1.9.1", "1.13.1000")), Ok(()));
        let other = keeps_the_rest(OLD, &OLD.replace("0.2.98", "0.2.191"));
        assert!(other.unwrap_err().contains("libc 0.2.98"));
    }

    #[test]
    fn the_two_lines_go_to_the_end() {
        let manifest = with_the_two_lines("[workspace]\n", Path::new("/shim/rayon-core"));
        let lines = "[patch.crates-io]\nrayon-core = { path = \"/shim/rayon-core\" }\n";
        assert_eq!(manifest, format!("[workspace]\n\n{lines}"));
    }
}
