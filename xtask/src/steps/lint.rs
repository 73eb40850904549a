//! The steps that look at the code without running it: fmt, clippy, docs.

use std::process::Command;

use crate::context::{BUILD_LIMIT, Context};
use crate::models::Backend;
use crate::outcome::Outcome;
use crate::tools::Tool;

/// The code is formatted.
pub(crate) fn fmt(context: &Context) -> Outcome {
    if !Tool::Rustfmt.is_there(context, "formatting is not checked") {
        return Outcome::skipped("no rustfmt");
    }
    let command = context.workspace().cargo(["fmt", "--all", "--check"]);
    match context.run(command, BUILD_LIMIT) {
        Ok(_) => Outcome::passed(""),
        Err(failure) => Outcome::failed(failure.how),
    }
}

/// No lint fires: in the workspace as it is, nor in the models as each of the checkers sees them.
pub(crate) fn clippy(context: &Context) -> Outcome {
    if !Tool::Clippy.is_there(context, "nothing is linted") {
        return Outcome::skipped("no clippy");
    }
    let mut failed = Vec::new();
    let mut lint = |what: &'static str, command: Command| {
        if context.run(command, BUILD_LIMIT).is_err() {
            failed.push(what);
        }
    };
    lint("workspace", deny_warnings(context.workspace().cargo(["clippy", "--workspace"])));
    for backend in Backend::OF_CODE {
        let command = backend.cargo(context, ["clippy", "--package", "drowse-models"]);
        lint(backend.name(), deny_warnings(command));
    }
    let detail = if failed.is_empty() {
        "workspace, loom, shuttle".to_string()
    } else {
        format!("in {}", failed.join(", "))
    };
    Outcome::by_failures(failed.len(), detail)
}

fn deny_warnings(mut clippy: Command) -> Command {
    clippy.args(["--all-targets", "--", "-D", "warnings"]);
    clippy
}

/// The documentation builds without a warning.
pub(crate) fn docs(context: &Context) -> Outcome {
    let mut command = context.workspace().cargo(["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    match context.run(command, BUILD_LIMIT) {
        Ok(_) => Outcome::passed(""),
        Err(failure) => Outcome::failed(failure.how),
    }
}
