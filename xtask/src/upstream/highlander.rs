//! There can be only one core: two pools would share the processors unawares, and one of them be configured in vain.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::files::{quoted, write};
use super::published::Published;
use super::{CORE, UNREACHABLE};
use crate::context::{Context, shout};
use crate::outcome::Outcome;
use crate::process::Job;

/// More than cargo should need to see that it cannot be.
const LIMIT: Duration = Duration::from_secs(180);

/// A crate that depends on rayon-core and on the shim does not resolve, and cargo says clearly why.
pub(crate) fn highlander(context: &Context) -> Outcome {
    // So that it cannot fail for want of the real one.
    let published = match Published::find(context) {
        Ok(Some(published)) => published,
        Ok(None) => {
            shout(&format!("{UNREACHABLE}: that two cores do not go together is not checked."));
            return Outcome::skipped(UNREACHABLE);
        }
        Err(why) => return Outcome::failed(why),
    };
    let directory = context.workspace().target_for("highlander");
    let manifest = manifest(&context.workspace().shim().join("rayon-core"));
    let written = write(&directory.join("Cargo.toml"), manifest)
        .and_then(|()| write(&directory.join("src/lib.rs"), ""))
        .map(|()| fs::remove_file(directory.join("Cargo.lock")));
    if let Err(error) = written {
        return Outcome::failed(format!("cannot prepare {}: {error}", directory.display()));
    }
    let mut command = published.cargo_in(context, &directory);
    command.arg("generate-lockfile");
    match Job::new(command, LIMIT).echo(context.verbose()).run() {
        Ok(done) if done.succeeded() => {
            Outcome::failed("rayon-core and the shim resolve together: a program would have two pools")
        }
        Ok(done) => {
            let report = done.output.lines().map(|line| format!("  {line}")).collect();
            match reason(&done.output) {
                Some(reason) => Outcome::passed(format!("cargo: {reason}")),
                None => Outcome::failed("cargo refuses, but does not say that it is for `links`"),
            }
            .with_report(report)
        }
        Err(error) => Outcome::failed(format!("cargo cannot be run: {error}")),
    }
}

fn manifest(shim: &Path) -> String {
    format!(
        "[package]\nname = \"highlander\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         rayon-core = \"={CORE}\"\nours = {{ package = \"rayon-core\", path = {} }}\n",
        quoted(shim)
    )
}

/// The sentence that says what two packages cannot share, if the message is about the core's `links` key.
fn reason(message: &str) -> Option<&str> {
    let line = message.lines().find(|line| line.contains("links = \"rayon-core\""))?;
    Some(line.split(". ").next().unwrap_or(line).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clear_message_counts() {
        let clear = "error: failed to select a version for `rayon-core`.\n\
            Only one package may have a value. Use `links = \"rayon-core\"` once.\n";
        assert_eq!(reason(clear), Some("Only one package may have a value"));
        assert_eq!(reason("error: no matching package named `rayon-core` found\n"), None);
    }
}
