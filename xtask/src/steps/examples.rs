//! Every example program runs and ends well, and so does an application on rayon whose core is ours.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::context::{BUILD_LIMIT, Context};
use crate::outcome::{Outcome, counted, seconds};
use crate::upstream::PROTOCOLS;

/// More than any example should take.
const RUN_LIMIT: Duration = Duration::from_secs(120);

/// Runs each program in `crates/drowse/examples`, and the shim's application.
pub(crate) fn examples(context: &Context) -> Outcome {
    programs(context).and("application on rayon", application(context))
}

fn programs(context: &Context) -> Outcome {
    let directory = context.workspace().root().join("crates/drowse/examples");
    let names = match names_in(&directory) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Outcome::failed(format!("cannot list the examples: {error}")),
    };
    if names.is_empty() {
        return Outcome::skipped("there are no examples");
    }
    let release = ["--release", "--package", "drowse"];
    let mut build = context.workspace().cargo(["build"]);
    build.args(release).arg("--examples");
    if let Err(failure) = context.run(build, BUILD_LIMIT) {
        return Outcome::failed(format!("build: {failure}"));
    }

    let mut failed = Vec::new();
    let mut report = Vec::new();
    for name in &names {
        let mut command = context.workspace().cargo(["run", "--quiet"]);
        command.args(release).args(["--example", name]);
        match context.run(command, RUN_LIMIT) {
            Ok(done) => report.push(format!("  {name}: ok in {}", seconds(done.took))),
            Err(failure) => {
                report.push(format!("  {name}: FAILED: {failure}"));
                failed.push(name.as_str());
            }
        }
    }
    let detail = if failed.is_empty() { counted(names.len(), "example") } else { failed.join(", ") };
    Outcome::by_failures(failed.len(), detail).with_report(report)
}

/// Runs the shim's application on each protocol. It has to say itself which core it runs on.
fn application(context: &Context) -> Outcome {
    let release = ["--release", "--package", "rayon-app"];
    let mut build = context.workspace().cargo_of_shim(["build"]);
    build.args(release);
    if let Err(failure) = context.run(build, BUILD_LIMIT) {
        return Outcome::failed(format!("build: {failure}"));
    }
    for protocol in PROTOCOLS {
        let mut command = context.workspace().cargo_of_shim(["run", "--quiet"]);
        command.args(release).env("DROWSE_SLEEP", protocol).env("DROWSE_LOG", "1");
        let output = match context.run(command, RUN_LIMIT) {
            Ok(done) => done.output,
            Err(failure) => return Outcome::failed(format!("on {protocol}: {failure}")),
        };
        for words in ["core: drowse ", &format!("sleep protocol {protocol}")] {
            if !output.contains(words) {
                return Outcome::failed(format!("on {protocol}: it does not say `{words}`"));
            }
        }
    }
    Outcome::passed(PROTOCOLS.join(", "))
}

/// The examples that cargo would find there, by name.
fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_example =
            path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file();
        if let (true, Some(stem)) = (is_example, path.file_stem()) {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_directories_with_a_main_are_examples() {
        // This crate's own sources serve as the directory: main.rs, and no directory in it has one.
        let names = names_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
        assert!(names.contains(&"main".to_string()));
        assert!(!names.contains(&"steps".to_string()));
        let names = names_in(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(!names.contains(&"Cargo".to_string()));
    }
}
