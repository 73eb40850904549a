//! `report`: the page and the table of results that were written before.

use super::files::write;
use super::{End, Misuse, conclude};
use crate::cli::ReportArgs;
use crate::report;
use crate::say::say;

pub(super) fn report(args: &ReportArgs) -> Result<End, Misuse> {
    let results = report::read(&args.results)?;
    let page = args.out.clone().unwrap_or_else(|| args.results.with_extension("html"));
    if page == args.results {
        return Err(Misuse(format!("the page would overwrite the results in {}", page.display())));
    }
    write(&page, &report::html(&results))?;
    say(report::table(&results).trim_end());
    conclude(&results);
    say(format!("\nPage: {}", page.display()));
    Ok(End::Well)
}
