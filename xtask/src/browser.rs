//! The lab's pages in a real browser: charts, table, timelines and zoom, in light and dark, on a desk and on a phone.
//!
//! The pages come from a debug build of the lab, which goes through everything and measures nothing worth knowing: it
//! is the pages that are looked at, not their figures.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::context::{BUILD_LIMIT, Context, Failure, shout};
use crate::outcome::{Outcome, counted};
use crate::process::{Ending, Finished, Job};
use crate::tools::Tool;

/// More than the lab should take to make a page.
const PAGE_LIMIT: Duration = Duration::from_secs(180);
/// More than the browser should take for one.
const CHECK_LIMIT: Duration = Duration::from_secs(300);

/// What the check ends with where there is no browser.
const NO_BROWSER: i32 = 77;

/// Every workload, so that every kind of chart is there; contenders of every kind, one of which has reasons rather than
/// figures; as many rounds as it takes to tell contenders apart; and hardly any time.
const REPORT: &str = "compare --full --threads 2 --rounds 3 --time 1ms \
    --contender serial --contender drowse --contender drowse-sleepy --contender rayon --contender channel";

const TRACE: &str = "trace --workload ticks";

/// A page of the lab's.
struct Page {
    /// What it is called in reports, and the directory of its screenshots.
    name: &'static str,
    /// The lab's command that makes it.
    command: &'static str,
    /// Its file.
    file: &'static str,
    /// What the check has to know about it.
    options: &'static [&'static str],
}

const PAGES: [Page; 2] = [
    Page { name: "report", command: REPORT, file: "report.html", options: &[] },
    Page { name: "trace", command: TRACE, file: "trace-ticks.html", options: &["--trace"] },
];

/// Makes the pages and looks at them.
pub(crate) fn run(context: &Context) -> Outcome {
    if !Tool::Python.is_there(context, "the pages are not looked at: browser is SKIPPED") {
        return Outcome::skipped("no python3");
    }
    let mut ready = check(context);
    ready.arg("--ready");
    if let Err(reason) = is_ready(Job::new(ready, CHECK_LIMIT).run()) {
        shout(&format!("browser is SKIPPED: {reason}"));
        return Outcome::skipped("no browser that works");
    }

    let build = context.workspace().cargo(["build", "--package", "drowse-lab"]);
    if let Err(failure) = context.run(build, BUILD_LIMIT) {
        return Outcome::failed(format!("build: {failure}"));
    }
    let place = context.workspace().target_for("drowse-lab");
    let mut shots = Vec::new();
    for page in &PAGES {
        match look(context, page, &place) {
            Ok(directory) => shots.push(directory),
            Err(failure) => return Outcome::failed(format!("{}: {failure}", page.name)),
        }
    }
    let report = shots.iter().map(|directory| format!("  screenshots: {}", directory.display())).collect();
    let detail =
        format!("{}; screenshots in {}", counted(shots.len(), "page"), place.join("shots").display());
    Outcome::passed(detail).with_report(report)
}

/// Makes one page and looks at it. Returns where the pictures are.
fn look(context: &Context, page: &Page, place: &Path) -> Result<PathBuf, Failure> {
    let (made, shots) = (place.join("browser"), place.join("shots").join(page.name));
    let mut lab = context.workspace().cargo(["run", "--quiet", "--package", "drowse-lab", "--"]);
    lab.args(page.command.split_whitespace()).arg("--out").arg(&made);
    context.run(lab, PAGE_LIMIT)?;
    let mut command = check(context);
    command.arg(made.join(page.file)).arg(&shots).args(page.options);
    context.run_named(&format!("browser/check.py on the {}", page.name), command, CHECK_LIMIT)?;
    Ok(shots)
}

/// The program that drives the browser.
fn check(context: &Context) -> Command {
    let mut command = Command::new("python3");
    command.arg(context.workspace().root().join("crates/drowse-lab/browser/check.py"));
    command
}

/// Whether there is a browser; if not, the check's own words about what is missing and how to get it.
fn is_ready(answer: std::io::Result<Finished>) -> Result<(), String> {
    let answer = answer.map_err(|error| format!("python3 cannot be run: {error}"))?;
    match answer.ending {
        Ending::Exited(status) if status.success() => Ok(()),
        Ending::Exited(status) if status.code() == Some(NO_BROWSER) => {
            Err(answer.output.lines().last().unwrap_or("there is no browser").trim().to_string())
        }
        _ => Err(format!("browser/check.py --ready: {}", answer.how_it_ended())),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn answer(script: &str) -> Result<(), String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        is_ready(Job::new(command, CHECK_LIMIT).run())
    }

    #[test]
    fn a_missing_browser_is_told_in_the_checks_own_words() {
        assert_eq!(answer("exit 0"), Ok(()));
        assert_eq!(answer("echo install one >&2; exit 77"), Err("install one".to_string()));
        assert!(answer("exit 1").unwrap_err().contains("exit status: 1"));
    }

    #[test]
    fn each_page_has_its_own_command_and_file() {
        let [report, trace] = &PAGES;
        assert!(report.command.starts_with("compare ") && trace.command.starts_with("trace "));
        assert_ne!(report.file, trace.file);
        assert!(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/drowse-lab/browser/check.py").is_file()
        );
    }
}
