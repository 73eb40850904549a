//! The command line: what was asked for, and the help that says what can be.

use std::fmt::Write as _;

use crate::step::Step;

/// What the user asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// The help text.
    Help,
    /// All steps of `test`.
    Test(Options),
    /// One step by its name.
    One(Step, Options),
}

/// What goes with a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Show the output of child processes as it comes.
    pub(crate) verbose: bool,
    /// Missing packages may be fetched.
    pub(crate) install: bool,
    /// What takes long is wanted too.
    pub(crate) full: bool,
    /// Only what has this in its name.
    pub(crate) filter: Option<String>,
}

/// Reads the arguments after the program's name. The error is meant for the user.
pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut command = None;
    let mut options = Options::default();
    for arg in args {
        match arg.as_str() {
            "-h" | "--help" => return Ok(Request::Help),
            "-v" | "--verbose" => options.verbose = true,
            "--install" => options.install = true,
            "--full" => options.full = true,
            flag if flag.starts_with('-') => {
                return Err(format!(
                    "unknown option `{flag}`; the options are --verbose, --install, --full and --help"
                ));
            }
            _ if command.is_none() => command = Some(arg),
            _ if options.filter.is_none() => options.filter = Some(arg),
            _ => return Err(format!("one filter is enough: what is `{arg}`?")),
        }
    }
    let Some(command) = command else {
        return Err(format!("no command given\n\n{}", help()));
    };
    if command == "help" {
        return Ok(Request::Help);
    }
    let step = match command.as_str() {
        "test" => None,
        name => Some(Step::named(name).ok_or_else(|| unknown(name))?),
    };
    if options.filter.is_some() && !step.is_some_and(Step::takes_filter) {
        return Err(format!("`{command}` takes no filter"));
    }
    if options.install && step != Some(Step::Tsan) {
        return Err(format!("`{command}` installs nothing"));
    }
    if options.full && step != Some(Step::Upstream) {
        return Err(format!("`{command}` has nothing that is left out without --full"));
    }
    Ok(match step {
        None => Request::Test(options),
        Some(step) => Request::One(step, options),
    })
}

/// The complaint about a command that does not exist.
fn unknown(name: &str) -> String {
    let names: Vec<&str> = Step::ALL.iter().map(|step| step.name()).collect();
    format!("unknown command `{name}`; the commands are: test, {}", names.join(", "))
}

/// The help text.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Usage: cargo xtask <command> [filter] [options]\n\
         \n\
         test        all of the steps from fmt to mutants, in this order; what CI runs\n\
         \n\
         One step alone:\n",
    );
    for step in Step::ALL {
        let name =
            if step.takes_filter() { format!("{} [filter]", step.name()) } else { step.name().to_string() };
        writeln!(text, "  {name:<18} {}", step.about()).expect("a string takes all text");
    }
    text += "\n\
        Options:\n\
        \x20 -v, --verbose      show what the child processes print as they print it, not only on failure\n\
        \x20 --install          tsan: fetch the Debian packages that it can use, with apt-get, and unpack them under target/\n\
        \x20 --full             upstream: what takes long as well\n\
        \x20 -h, --help         this text\n\
        \n\
        A filter is a part of a name: of a model or its test binary, of a mutant, or of a sleep protocol.\n\
        upstream runs the quick part of rayon's tests, all but octillion and the doctests, on each sleep protocol, and the\n\
        doctests on the default one; there --full adds octillion. With a filter it is the quick part alone, or with --full\n\
        everything. cargo fetches the tests; without a registry the step is skipped.\n\
        Exit code: 0 if nothing failed (a skipped step is no failure), 1 if something did, 2 for a wrong call.\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Request, String> {
        parse(line.split_whitespace().map(String::from))
    }

    #[test]
    fn commands_filters_and_options_are_read_in_any_order() {
        assert_eq!(parse_line("test"), Ok(Request::Test(Options::default())));
        let options = Options { verbose: true, filter: Some("latch".to_string()), ..Options::default() };
        assert_eq!(parse_line("-v loom latch"), Ok(Request::One(Step::Loom, options)));
        let options = Options { full: true, filter: Some("jec".to_string()), ..Options::default() };
        assert_eq!(parse_line("upstream jec --full"), Ok(Request::One(Step::Upstream, options)));
        assert_eq!(parse_line("loom --help"), Ok(Request::Help));
        assert_eq!(parse_line("help"), Ok(Request::Help));
    }

    #[test]
    fn an_unknown_command_is_told_the_valid_ones() {
        let mistake = parse_line("tset").unwrap_err();
        assert!(mistake.contains("unknown command `tset`"));
        for step in Step::ALL {
            assert!(mistake.contains(step.name()), "{step:?}");
        }
    }

    #[test]
    fn wrong_calls_are_refused() {
        assert!(parse_line("").unwrap_err().contains("Usage"));
        assert!(parse_line("test --fast").unwrap_err().contains("unknown option"));
        assert!(parse_line("fmt latch").unwrap_err().contains("takes no filter"));
        assert!(parse_line("test latch").unwrap_err().contains("takes no filter"));
        assert!(parse_line("loom a b").unwrap_err().contains("one filter"));
        assert!(parse_line("test --full").unwrap_err().contains("left out"));
        assert!(parse_line("asan --install").unwrap_err().contains("installs nothing"));
    }

    #[test]
    fn the_help_names_every_command() {
        let help = help();
        for step in Step::ALL {
            assert!(help.contains(step.name()), "{step:?}");
        }
    }
}
