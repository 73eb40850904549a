//! `hangs`: who comes to the end of programs that hang.

use super::{End, Misuse};
use crate::cli::{HangsArgs, HangsChildArgs};
use crate::contender::{Contender, Rayon};
use crate::hangs::{self, ALL, Program, Table, Who};
use crate::platform::interrupt;
use crate::say::{self, say, say_json, tell};
use std::io::{self, IsTerminal};

pub(super) fn hangs(args: &HangsArgs) -> Result<End, Misuse> {
    // It could be drowse under rayon's name.
    Rayon::new(1)?;
    let asked = |program: &&Program| {
        args.program.is_empty() || args.program.iter().any(|name| name == program.name)
    };
    let runs: Vec<_> = ALL
        .iter()
        .filter(asked)
        .flat_map(|program| program.all().map(move |who| (program, who)))
        .collect();
    let (watch, on_terminal) = (interrupt::watch(), io::stderr().is_terminal());
    let mut table = Table::default();
    for (done, (program, who)) in runs.iter().enumerate() {
        let cure = program.cure(*who).map_or(String::new(), |cure| format!(" ({})", cure.how));
        let line =
            format!("{} of {}: {} on {}{cure}", done + 1, runs.len(), program.name, who.name());
        match (args.json, on_terminal) {
            (true, _) => {}
            (false, true) => say::draw(&line),
            (false, false) => tell(line),
        }
        let run = hangs::run(program, *who, args.timeout);
        if interrupt::stopped().is_some() {
            break;
        }
        table.add(program, run);
    }
    drop(watch);
    if on_terminal && !args.json {
        say::wipe();
    }
    if args.json {
        say_json(&hangs::as_json(&table))?;
    } else {
        if let [name] = &args.program[..] {
            let about =
                ALL.iter().find(|program| program.name == name).map_or("", |program| program.about);
            say(format!("{name}: {about}.\n"));
        }
        say(&table);
    }
    if let Some(signal) = interrupt::stopped() {
        tell(format!("stopped by {}: the table has what was run", interrupt::name(signal)));
        return Ok(End::Stopped(signal));
    }
    Ok(if table.is_well() { End::Well } else { End::Amiss })
}

/// `hangs-child`: one program, here.
pub(super) fn child(args: &HangsChildArgs) -> Result<End, Misuse> {
    interrupt::end_with_parent();
    let none = || Misuse(format!("there is no program {} for {}", args.program, args.who));
    let program = ALL.iter().find(|program| program.name == args.program).ok_or_else(none)?;
    let who = Who::from_word(&args.who).ok_or_else(none)?;
    say_json(&hangs::here(program, who).ok_or_else(none)?)?;
    Ok(End::Well)
}
