//! Measures machine code and CPU time of the build on drowse beside rayon-core, and compares them
//! with budgets.
//!
//! The same programs are built twice, in two workspaces that differ only in the core under rayon;
//! `xtask/scripts/size.sh` prepares them. The size of a call site is the difference between two
//! programs of which one has [`EXTRA_SITES`] more of them, divided by that number.

mod budget;
mod cpu;
mod elf;
mod groups;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Arg;

use crate::context::{BUILD_LIMIT, Context};
use crate::outcome::{Outcome, Status, counted};
use crate::steps::executables;
use crate::tools;
use budget::{Budgets, Figure, Unit, Verdict};
use elf::Sizes;
use groups::{Groups, groups};

pub(crate) const ARGS: &[fn() -> Arg] = &[
    || {
        Arg::new("full")
            .long("full")
            .action(clap::ArgAction::SetTrue)
            .help("rayon's own tests as well")
    },
    || {
        let help =
            "instead, list the largest groups of functions of this program: a name in the table";
        Arg::new("groups").long("groups").value_name("PROGRAM").help(help)
    },
];

/// The programs: that of `shim/programs`, and those of `shim/size`.
const PROGRAMS: [&str; 7] =
    ["programs", "small", "fixed", "nothing", "sites_base", "sites_joins", "sites_par_iters"];

/// The programs that are also built with the profile `z`.
const SITES: [&str; 3] = ["sites_base", "sites_joins", "sites_par_iters"];

/// The suffix of their names then.
const FOR_SIZE: &str = "/z";

/// Kinds of call sites, and the program that has [`EXTRA_SITES`] more of them than `sites_base`.
const KINDS: [(&str, &str); 2] = [("join", "sites_joins"), ("par_iter", "sites_par_iters")];
const EXTRA_SITES: u64 = 10;

/// The prefix of the names of rayon's test binaries.
const TEST: &str = "test/";

/// The name of rayon's unit tests.
const UNIT_TESTS: &str = "test/rayon";

/// Builds whose CPU time is measured, in this order, in an empty target directory: name and
/// arguments for cargo.
const BUILDS: [(&str, &str); 3] = [
    ("runtime/release", "build --release --package rayon-core"),
    ("runtime/dev", "build --package rayon-core"),
    ("program/release", "build --release --bin programs"),
];

/// The number of groups that are listed.
const LISTED: usize = 40;

/// A core under rayon, by the name of its workspace.
#[derive(Clone, Copy)]
enum Core {
    Rayon,
    DropIn,
}

/// The sizes of programs and the CPU times of builds on one core.
#[derive(Default)]
struct Measured {
    sizes: BTreeMap<String, Sizes>,
    times: BTreeMap<&'static str, Duration>,
}

/// Builds the programs on both cores, and compares what they cost with the budgets.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    if !cfg!(unix) || cfg!(target_vendor = "apple") {
        return Err(Status::Skipped.with("it reads ELF files, which are not built here"));
    }
    if let Some(program) = &context.groups {
        return list_groups(context, program);
    }
    context.script("size", if context.full { "--full" } else { "" })?;
    let (theirs, ours) = (Core::Rayon.measure(context)?, Core::DropIn.measure(context)?);
    let mut report = table(&theirs, &ours);
    let figures = figures(&theirs, &ours);
    let detail =
        figures.iter().map(|figure| format!("{} {}", figure.name, figure.unit.show(figure.value)));
    let mut detail = detail.collect::<Vec<_>>().join(", ");

    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        report
            .push("the budgets are for x86-64 Linux: here the figures are only shown".to_string());
        return Ok(Status::Passed.with(detail).with_report(report));
    }
    let path = context.root.join(budget::FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let budgets = Budgets::parse(&text).map_err(|error| format!("{}: {error}", budget::FILE))?;
    let (failures, can_be_lowered) = compare(&budgets, &figures, &compiler(context)?, context.full);
    report.extend(failures.iter().map(|words| format!("FAILED: {words}")));
    report.extend(can_be_lowered.iter().cloned());
    if !failures.is_empty() {
        let names: Vec<_> =
            failures.iter().filter_map(|words| words.split_whitespace().next()).collect();
        return Err(Status::Failed
            .with(format!("budgets: {}", names.join(", ")))
            .with_report(report));
    }
    if !can_be_lowered.is_empty() {
        detail += &format!("; {} can be lowered", counted(can_be_lowered.len(), "budget"));
    }
    Ok(Status::Passed.with(detail).with_report(report))
}

impl Core {
    const BOTH: [Self; 2] = [Self::Rayon, Self::DropIn];

    /// Returns the name of its workspace.
    fn name(self) -> &'static str {
        match self {
            Self::Rayon => "rayon-core",
            Self::DropIn => "drop-in",
        }
    }

    /// Builds everything from nothing and measures it.
    fn measure(self, context: &Context) -> Result<Measured, Outcome> {
        let mut measured = Measured::default();
        self.clean(context, "")?;
        for (name, args) in BUILDS {
            let (_, time) = self.build(context, "", args, "bin")?;
            measured.times.insert(name, time);
        }
        // The runtime was built before, and a user builds both.
        let runtime = measured.times["runtime/release"];
        *measured.times.get_mut("program/release").expect("it was built") += runtime;
        let (programs, _) = self.build(context, "", "build --release --bins", "bin")?;
        measured.read(programs, "", "")?;
        let sites = SITES.map(|name| format!(" --bin {name}")).concat();
        let (programs, _) = self.build(context, "", &format!("build --profile z{sites}"), "bin")?;
        measured.read(programs, "", FOR_SIZE)?;
        if context.full {
            self.clean(context, "-tests")?;
            let build = "test --release --package rayon --tests --no-run";
            let (tests, time) = self.build(context, "-tests", build, "test")?;
            measured.times.insert("tests/release", time);
            measured.read(tests, TEST, "")?;
            // Built by now: this finds the executable.
            let build = "test --release --package rayon --lib --no-run";
            let (unit_tests, _) = self.build(context, "-tests", build, "lib")?;
            measured.read(unit_tests, TEST, "")?;
        }
        Ok(measured)
    }

    fn directory(self, context: &Context, suffix: &str) -> PathBuf {
        context.target_for("size").join(format!("{}{suffix}", self.name()))
    }

    /// Removes what was built in a workspace.
    fn clean(self, context: &Context, suffix: &str) -> Result<(), String> {
        let built = self.directory(context, suffix).join("build");
        match fs::remove_dir_all(&built) {
            Err(error) if built.exists() => Err(format!("{}: {error}", built.display())),
            _ => Ok(()),
        }
    }

    /// Runs cargo in a workspace. Returns the executables of this kind, and the CPU time that it
    /// took.
    fn build(
        self,
        context: &Context,
        suffix: &str,
        args: &str,
        kind: &str,
    ) -> Result<(Vec<(String, PathBuf)>, Duration), Outcome> {
        let directory = self.directory(context, suffix);
        let mut command =
            context.cargo(&format!("{args} --message-format=json-render-diagnostics"));
        command.current_dir(&directory).env("CARGO_TARGET_DIR", directory.join("build"));
        // cargo builds what is not from a registry incrementally: the drop-in, and not rayon-core.
        command.env("CARGO_INCREMENTAL", "0").env("RUSTC_WRAPPER", "");
        for flags in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
            command.env_remove(flags);
        }
        if context.target_for("upstream").join("offline").is_file() {
            command.env("CARGO_NET_OFFLINE", "true");
        }
        let before = cpu::of_children();
        let built = context.run_stdout_apart(command, BUILD_LIMIT)?;
        Ok((executables(&built.stdout, kind), cpu::of_children().saturating_sub(before)))
    }
}

impl Measured {
    /// Reads the sizes of executables. Their names get this prefix and this suffix.
    fn read(
        &mut self,
        executables: Vec<(String, PathBuf)>,
        prefix: &str,
        suffix: &str,
    ) -> Result<(), String> {
        for (name, path) in executables {
            let sizes = fs::read(&path)
                .map_err(|error| error.to_string())
                .and_then(|file| Sizes::of(&file));
            let sizes = sizes.map_err(|error| format!("{}: {error}", path.display()))?;
            self.sizes.insert(format!("{prefix}{name}{suffix}"), sizes);
        }
        Ok(())
    }

    /// Returns the bytes of machine code for one call site of this kind, in the programs whose
    /// names have this suffix.
    fn site(&self, kind: (&str, &str), suffix: &str) -> u64 {
        let text = |name: &str| self.sizes[&format!("{name}{suffix}")].text;
        text(kind.1).saturating_sub(text("sites_base")) / EXTRA_SITES
    }
}

/// Formats everything that was measured, a line for each figure.
fn table(theirs: &Measured, ours: &Measured) -> Vec<String> {
    let head =
        |what: &str| format!("{what:<36} {:>10} {:>10} {:>6}", "rayon-core", "drop-in", "ratio");
    let row = |name: &str, theirs: u64, ours: u64| {
        format!("{name:<36} {theirs:>10} {ours:>10} {:>6.3}", over(ours, theirs))
    };
    let stripped = format!(
        "{} {:>10} {:>10} {:>6}",
        head("machine code, bytes"),
        "stripped",
        "drop-in",
        "ratio"
    );
    let mut lines = vec![stripped];
    for (name, sizes) in &ours.sizes {
        let theirs = theirs.sizes[name];
        let ratio = over(sizes.stripped, theirs.stripped);
        let text = row(&format!("  {name}"), theirs.text, sizes.text);
        lines.push(format!("{text} {:>10} {:>10} {ratio:>6.3}", theirs.stripped, sizes.stripped));
    }
    lines.push(head("machine code of a call site, bytes"));
    for (kind, level) in sites() {
        let name = format!("  {}", site_name(kind, level));
        lines.push(row(&name, theirs.site(kind, level), ours.site(kind, level)));
    }
    lines.push(head("CPU time of the build, s"));
    for (name, time) in &ours.times {
        let (theirs, ours) = (theirs.times[name].as_secs_f64(), time.as_secs_f64());
        lines.push(format!("  {name:<34} {theirs:>10.1} {ours:>10.1} {:>6.2}", ours / theirs));
    }
    lines
}

/// Returns the figures that have a budget.
fn figures(theirs: &Measured, ours: &Measured) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |name: String, unit, value, of| figures.push(Figure { name, unit, value, of });
    for (name, sizes) in &ours.sizes {
        if matches!(name.as_str(), "programs" | "small" | "fixed") || name.starts_with(TEST) {
            let (theirs, ours) = (theirs.sizes[name].text, sizes.text);
            let of = format!("{ours} bytes over {theirs}");
            add(format!("text/{name}"), Unit::SizeRatio, over(ours, theirs), of);
        }
    }
    let of = |theirs: u64| format!("bytes; {theirs} on rayon-core");
    let small = |measured: &Measured| measured.sizes["small"].stripped;
    add("stripped/small".to_string(), Unit::Bytes, float(small(ours)), of(small(theirs)));
    for (kind, level) in sites() {
        let (theirs, ours) = (theirs.site(kind, level), ours.site(kind, level));
        add(format!("site/{}", site_name(kind, level)), Unit::Bytes, float(ours), of(theirs));
    }
    for (name, time) in &ours.times {
        let (theirs, ours) = (theirs.times[name].as_secs_f64(), time.as_secs_f64());
        let of = format!("{ours:.1} s over {theirs:.1} s");
        add(format!("cpu/{name}"), Unit::TimeRatio, ours / theirs, of);
    }
    figures
}

/// Returns every kind of call site at each level of optimisation.
fn sites() -> impl Iterator<Item = ((&'static str, &'static str), &'static str)> {
    ["", FOR_SIZE].into_iter().flat_map(|level| KINDS.map(|kind| (kind, level)))
}

/// Returns the name of a kind of call site with its level of optimisation.
fn site_name(kind: (&str, &str), level: &str) -> String {
    format!("{}{}", kind.0, if level.is_empty() { "/o3" } else { level })
}

/// Compares figures with budgets. Returns messages about figures above their budgets, and about
/// those far below. With `all` a budget without a figure gets a message too.
fn compare(
    budgets: &Budgets,
    figures: &[Figure],
    compiler: &str,
    all: bool,
) -> (Vec<String>, Vec<String>) {
    let (mut failures, mut can_be_lowered) = (Vec::new(), Vec::new());
    for figure in figures {
        match budgets.judge(figure, compiler) {
            Verdict::Within => {}
            Verdict::Above(words) => failures.push(words),
            Verdict::FarBelow(words) => can_be_lowered.push(words),
        }
    }
    let is_unknown = |name: &&str| all && figures.iter().all(|figure| figure.name != **name);
    let unknown = budgets.names().filter(is_unknown);
    failures.extend(
        unknown.map(|name| {
            format!("{name} in {} is a budget without a figure: remove it", budget::FILE)
        }),
    );
    (failures, can_be_lowered)
}

/// Lists the largest groups of functions of a program on both cores.
fn list_groups(context: &Context, program: &str) -> Result<Outcome, Outcome> {
    tools::NM.demand("symbols are not read")?;
    let (suffix, kind, build) = if program == UNIT_TESTS {
        ("-tests", "lib", "test --release --package rayon --no-run --lib".to_string())
    } else if let Some(name) = program.strip_prefix(TEST) {
        ("-tests", "test", format!("test --release --package rayon --no-run --test {name}"))
    } else if let Some(name) = program.strip_suffix(FOR_SIZE).filter(|name| SITES.contains(name)) {
        ("", "bin", format!("build --profile z --bin {name}"))
    } else if PROGRAMS.contains(&program) {
        ("", "bin", format!("build --release --bin {program}"))
    } else {
        let sites = SITES.map(|name| format!("{name}{FOR_SIZE}")).join(", ");
        let programs = PROGRAMS.join(", ");
        let names = format!(
            "the programs are {programs}, {sites}, {UNIT_TESTS} and {TEST} with one of its tests"
        );
        return Err(Status::WrongCall.with(names));
    };
    context.script("size", if suffix.is_empty() { "" } else { "--full" })?;
    let [theirs, ours] = Core::BOTH.map(|core| -> Result<Groups, Outcome> {
        let (programs, _) = core.build(context, suffix, &build, kind)?;
        let (_, path) = programs.first().ok_or_else(|| "cargo built no program".to_string())?;
        let mut nm = Command::new("nm");
        nm.args(["--demangle", "--print-size", "--defined-only"]).arg(path);
        Ok(groups(&context.run_stdout_apart(nm, BUILD_LIMIT)?.stdout))
    });
    let report = groups::table(&theirs?, &ours?, LISTED);
    Ok(Status::Passed.with(program).with_report(report))
}

/// Returns the version of the compiler.
fn compiler(context: &Context) -> Result<String, Outcome> {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.arg("--version").current_dir(&context.root);
    let said = context.run(command, BUILD_LIMIT)?.output;
    Ok(said.split_whitespace().nth(1).unwrap_or_default().to_string())
}

fn over(ours: u64, theirs: u64) -> f64 {
    float(ours) / float(theirs)
}

#[allow(clippy::cast_precision_loss, reason = "files are smaller than 2^53 bytes")]
fn float(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_those_in_the_directory() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../shim/size/src/bin");
        let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<_> =
            files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string()).collect();
        found.push("programs".to_string());
        found.sort();
        let mut listed = PROGRAMS;
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    fn measured(factor: u64) -> Measured {
        let sizes = |text: u64| Sizes { text: text * factor, stripped: 2 * text * factor };
        let mut all = Measured::default();
        for (name, text) in PROGRAMS.into_iter().zip((1_000..).step_by(500)) {
            all.sizes.insert(name.to_string(), sizes(text));
            all.sizes.insert(format!("{name}{FOR_SIZE}"), sizes(text / 2));
        }
        all.times = BUILDS.map(|(name, _)| (name, Duration::from_secs(factor))).into();
        all
    }

    #[test]
    fn each_figure_has_one_budget_and_a_row() {
        let (theirs, ours) = (measured(1), measured(3));
        let figures = figures(&theirs, &ours);
        let values: Vec<_> =
            figures.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
        assert_eq!(
            values,
            [
                ("text/fixed", 3.0),
                ("text/programs", 3.0),
                ("text/small", 3.0),
                ("stripped/small", 9_000.0),
                ("site/join/o3", 150.0),
                ("site/par_iter/o3", 300.0),
                ("site/join/z", 75.0),
                ("site/par_iter/z", 150.0),
                ("cpu/program/release", 3.0),
                ("cpu/runtime/dev", 3.0),
                ("cpu/runtime/release", 3.0),
            ]
        );
        let table = table(&theirs, &ours);
        assert!(
            table
                .iter()
                .any(|line| line
                    == "  join/o3                                    50        150  3.000"),
            "{table:#?}"
        );
    }

    #[test]
    fn a_figure_without_a_budget_and_a_budget_without_a_figure_fail() {
        let budgets = Budgets::parse("compiler 1\ntext/a 2\ntext/b 9\ntext/gone 1\n").unwrap();
        let figures = ["text/a", "text/b", "text/c"].map(|name| Figure {
            name: name.to_string(),
            unit: Unit::SizeRatio,
            value: 2.5,
            of: String::new(),
        });
        let words = |all| {
            let (failures, can_be_lowered) = compare(&budgets, &figures, "1", all);
            let first = |words: &String| words.split_whitespace().next().unwrap().to_string();
            (
                failures.iter().map(first).collect::<Vec<_>>(),
                can_be_lowered.iter().map(first).collect::<Vec<_>>(),
            )
        };
        assert_eq!(words(false), (vec!["text/a".into(), "text/c".into()], vec!["text/b".into()]));
        assert_eq!(words(true).0, ["text/a", "text/c", "text/gone"]);
    }
}
