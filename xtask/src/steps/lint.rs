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
    let workspace = context.workspace();
    let outcome = plain(context, workspace.cargo(["fmt", "--all", "--check"]));
    // Without `--all`, which would go on to the crates that the shim depends on.
    outcome.and("shim", plain(context, workspace.cargo_of_shim(["fmt", "--check"])))
}

/// No lint fires: in the workspace and the shim as they are, nor in the models as each of the checkers sees them.
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
    lint("shim", deny_warnings(context.workspace().cargo_of_shim(["clippy", "--workspace"])));
    for backend in Backend::OF_CODE {
        let command = backend.cargo(context, ["clippy", "--package", "drowse-models"]);
        lint(backend.name(), deny_warnings(command));
    }
    let detail = if failed.is_empty() {
        "workspace, shim, loom, shuttle".to_string()
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
    let build = ["doc", "--workspace", "--no-deps"];
    let document = |mut command: Command| {
        command.env("RUSTDOCFLAGS", "-D warnings");
        plain(context, command)
    };
    let outcome = document(context.workspace().cargo(build));
    outcome.and("shim", document(context.workspace().cargo_of_shim(build)))
}

/// A command that either ends well or does not: there is nothing to count.
fn plain(context: &Context, command: Command) -> Outcome {
    match context.run(command, BUILD_LIMIT) {
        Ok(_) => Outcome::passed(""),
        Err(failure) => Outcome::failed(failure.how),
    }
}
