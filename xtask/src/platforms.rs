//! The platforms that people have, as far as this machine can build for them, and run what it
//! built.
//!
//! Debian's newest compiler comes with the sources of its std, so std is built for each of them
//! too. It is unpacked under `target/`; what else is needed (linkers, emulators) is Debian's as
//! well, and installed on demand.

mod emulated;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::context::{BUILD_LIMIT, Context, Failure};
use crate::outcome::{Outcome, Status, counted, seconds};
use crate::steps::{Counts, executables};
use crate::tools::{say, shout};

/// So many tests are run by one process. qemu does not give back all that it has had for a thread,
/// and there are tens of thousands.
const AT_A_TIME: usize = 32;

/// More than so many tests should take, on a machine that does not exist.
const RUN_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The crates that are for users.
const PACKAGES: &str = "--package drowse --package drowse-sleep --package drowse-sync";

struct Platform {
    /// Its name in the table.
    name: &'static str,
    triple: &'static str,
    /// What is compiled besides the library itself, or nothing.
    besides: &'static str,
    /// How its tests are run, if they are.
    by: By,
}

/// Who runs what was built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The machine itself, or an emulator, from this package; linked by this one, from that.
    Program(&'static [&'static str], Linker),
    /// Windows' libraries on Linux.
    Wine,
    /// A program of its own: there are no threads, and libtest wants one a test.
    Node,
    /// Nobody: it is compiled.
    Nobody,
}

impl By {
    /// The commands that it takes to build for it and to run it, and Debian's packages with them.
    fn needs(self) -> (Vec<&'static str>, &'static str) {
        match self {
            Self::Program(runner, linker) => {
                (runner.iter().copied().chain([linker.command]).collect(), linker.packages)
            }
            Self::Wine => {
                let commands = vec!["x86_64-w64-mingw32-dlltool", "x86_64-w64-mingw32-gcc", WINE];
                (commands, "gcc-mingw-w64-x86-64 binutils-mingw-w64-x86-64 wine64")
            }
            Self::Node => (vec!["node"], "nodejs"),
            Self::Nobody => (Vec::new(), ""),
        }
    }

    /// Whether the system is what it says that it is.
    fn is_real(self) -> bool {
        !matches!(self, Self::Program([_, ..], _))
    }
}

/// A linker, and the package that it is in.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Linker {
    command: &'static str,
    packages: &'static str,
}

const fn platform(
    name: &'static str,
    triple: &'static str,
    besides: &'static str,
    by: By,
) -> Platform {
    Platform { name, triple, besides, by }
}

const LAB: &str = "--package drowse-lab";
const ARM: Linker = Linker {
    command: "aarch64-linux-gnu-gcc",
    packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static",
};
const I686: Linker =
    Linker { command: "i686-linux-gnu-gcc", packages: "gcc-i686-linux-gnu libc6-dev-i386-cross" };

const PLATFORMS: [Platform; 15] = [
    platform("Linux, 32 bit", "i686-unknown-linux-gnu", "", By::Program(&[], I686)),
    platform(
        "Linux, ARM",
        "aarch64-unknown-linux-gnu",
        "",
        By::Program(&["qemu-aarch64-static"], ARM),
    ),
    platform("Windows", "x86_64-pc-windows-gnu", LAB, By::Wine),
    platform("WebAssembly, no threads", "wasm32-unknown-unknown", "", By::Node),
    platform("WebAssembly, threads", "wasm32-wasip1-threads", "", By::Nobody),
    platform("Windows, MSVC", "x86_64-pc-windows-msvc", LAB, By::Nobody),
    platform("macOS", "aarch64-apple-darwin", LAB, By::Nobody),
    platform("FreeBSD", "x86_64-unknown-freebsd", LAB, By::Nobody),
    platform("Android", "aarch64-linux-android", LAB, By::Nobody),
    platform("Linux, musl", "x86_64-unknown-linux-musl", LAB, By::Nobody),
    platform("Linux, big-endian", "s390x-unknown-linux-gnu", "", By::Nobody),
    platform("Linux, RISC-V of 32 bit", "riscv32gc-unknown-linux-gnu", "", By::Nobody),
    platform("no 64-bit atomics: ARMv5", "armv5te-unknown-linux-gnueabi", "", By::Nobody),
    platform("no 64-bit atomics: PowerPC", "powerpc-unknown-linux-gnu", "", By::Nobody),
    platform("no 64-bit atomics: MIPS", "mips-unknown-linux-gnu", "", By::Nobody),
];

/// What came of one platform.
struct Row {
    compiles: &'static str,
    /// What was run, and by whom.
    tests: String,
    failed: Option<String>,
}

/// Compiles and runs what can be, and prints a table.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    let wanted: Vec<_> =
        PLATFORMS.iter().filter(|it| context.wants(it.name) || context.wants(it.triple)).collect();
    if wanted.is_empty() {
        let names = PLATFORMS.iter().map(|it| line(it.name, it.triple, "", ""));
        let asked = context.filter.as_deref().unwrap_or_default();
        let why = format!("no platform has `{asked}` in its name");
        return Err(Status::WrongCall.with(why).with_report(names.collect()));
    }
    let kit = Kit::get(context)?;
    let mut table = vec![line("platform", "target", "compiles", "tests")];
    let (mut failed, mut tests) = (Vec::new(), 0);
    for platform in &wanted {
        let what = "std is built for it first, which takes a minute or several";
        say(format_args!("  {}: {what} ...", platform.triple));
        let row = kit.try_out(context, platform);
        tests += Counts::of_words(&row.tests);
        failed.extend(row.failed.map(|why| format!("{}: {why}", platform.triple)));
        let line = line(platform.name, platform.triple, row.compiles, &row.tests);
        say(&line);
        table.push(line);
    }
    let detail = format!("{}, {}", counted(wanted.len(), "platform"), counted(tests, "test"));
    let status = if failed.is_empty() { Status::Passed } else { Status::Failed };
    Ok(status.with(if failed.is_empty() { detail } else { failed.join("; ") }).with_report(table))
}

fn line(platform: &str, triple: &str, compiles: &str, tests: &str) -> String {
    format!("  {platform:<26} {triple:<30} {compiles:<8} {tests}").trim_end().to_string()
}

/// A compiler with the sources of its std.
struct Kit {
    rustc: PathBuf,
    rustdoc: PathBuf,
}

impl Kit {
    /// Unpacks it if it is not there.
    fn get(context: &Context) -> Result<Self, Outcome> {
        let place = context.target_for("rust-newest");
        if !place.join("complete").exists() && !context.install {
            let how = "cargo xtask platforms --install fetches Debian's packages (root is needed for linkers)";
            shout(&format!("no compiler with the sources of its std: {how}"));
            return Err(Status::Skipped.with("no compiler with the sources of its std"));
        }
        context.script("debian_kit", &format!("{} newest", place.display()))?;
        Ok(Self { rustc: place.join("bin/rustc"), rustdoc: place.join("bin/rustdoc") })
    }

    /// The machine's cargo, with this compiler, in its own target directory.
    fn cargo(&self, context: &Context, args: &str) -> Command {
        let mut command = context.cargo(args);
        command.env("CARGO_TARGET_DIR", context.target_for("platforms"));
        command.env("RUSTC", &self.rustc).env("RUSTDOC", &self.rustdoc).env("RUSTC_BOOTSTRAP", "1");
        command
    }

    fn try_out(&self, context: &Context, platform: &Platform) -> Row {
        let triple = platform.triple;
        // First of all: to compile std for Windows takes a tool of its linker's.
        let (commands, packages) = platform.by.needs();
        let is_ready = have(context, &commands, packages);
        let check = format!(
            "check --quiet -Zbuild-std=std,panic_unwind --target {triple} --package drowse {}",
            platform.besides
        );
        if let Err(why) = context.run(self.cargo(context, &check), BUILD_LIMIT) {
            return Row { compiles: "NO", tests: String::new(), failed: Some(why.into()) };
        }
        let ran = match platform.by {
            By::Nobody => {
                return Row {
                    compiles: "yes",
                    tests: "not run: nothing here can".to_string(),
                    failed: None,
                };
            }
            By::Program(runner, linker) => {
                is_ready.and_then(|()| self.test(context, platform, runner, Some(linker.command)))
            }
            By::Wine => is_ready.and_then(|()| self.wine(context, platform)),
            By::Node => is_ready.and_then(|()| self.node(context, platform)),
        };
        let by = match platform.by {
            By::Program([], _) => "on this machine",
            By::Program(..) => "under qemu",
            By::Wine => "under wine",
            By::Node | By::Nobody => "in node",
        };
        match ran {
            Ok(counts) if counts.failed == 0 => {
                let left_out = match counts.ignored {
                    0 => String::new(),
                    some => format!(", {some} left out"),
                };
                let tests = format!("{} passed {by}{left_out}", counts.passed);
                Row { compiles: "yes", tests, failed: None }
            }
            Ok(counts) => {
                let tests = format!("{} passed, {} FAILED {by}", counts.passed, counts.failed);
                Row { compiles: "yes", failed: Some(tests.clone()), tests }
            }
            Err(Missing::Tool(what)) => {
                Row { compiles: "yes", tests: format!("not run: {what}"), failed: None }
            }
            Err(Missing::Success(why)) => {
                Row { compiles: "yes", tests: format!("FAILED: {why}"), failed: Some(why) }
            }
        }
    }

    /// Builds the tests, and runs each binary.
    fn test(
        &self,
        context: &Context,
        platform: &Platform,
        runner: &[&str],
        linker: Option<&str>,
    ) -> Result<Counts, Missing> {
        let binaries = self.build_tests(context, platform, linker)?;
        let mut all = Counts::default();
        for (name, binary) in binaries {
            let since = Instant::now();
            let counts = run_tests(context, platform, runner, (&name, &binary));
            let counts = counts.map_err(|why| Missing::Success(format!("{name}: {why}")))?;
            say(format_args!("    {name}: {counts}, {}", seconds(since.elapsed())));
            all.add(counts);
        }
        Ok(all)
    }

    fn build_tests(
        &self,
        context: &Context,
        platform: &Platform,
        linker: Option<&str>,
    ) -> Result<Vec<(String, PathBuf)>, Missing> {
        let build = format!(
            "test --no-run -Zbuild-std=std,panic_unwind,test --target {} {PACKAGES} --lib --tests \
             --message-format=json-render-diagnostics",
            platform.triple
        );
        let mut command = self.cargo(context, &build);
        if let Some(linker) = linker {
            let variable = platform.triple.to_uppercase().replace('-', "_");
            command.env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
            // Threads of a program that is linked dynamically hang in Debian's qemu; and the
            // libraries need not be there.
            command.env("RUSTFLAGS", "-Ctarget-feature=+crt-static");
        }
        let built =
            context.run_stdout_apart(command, BUILD_LIMIT).map_err(|why| why.to_string())?;
        let both = ["lib", "test"].into_iter().flat_map(|kind| executables(&built.stdout, kind));
        Ok(both.collect())
    }

    fn wine(&self, context: &Context, platform: &Platform) -> Result<Counts, Missing> {
        let binaries = self.build_tests(context, platform, None)?;
        // Debian's wine is older than what std asks of Windows, by one function.
        let place = binaries.first().and_then(|(_, path)| path.parent());
        let library =
            place.ok_or_else(|| "there are no tests".to_string())?.join("bcryptprimitives.dll");
        let mut gcc = Command::new("x86_64-w64-mingw32-gcc");
        gcc.args(["-shared", "-O2", "-o"]).arg(&library);
        gcc.arg(context.root.join("xtask/platforms/wine/bcryptprimitives.c")).arg("-ladvapi32");
        context.run(gcc, BUILD_LIMIT).map_err(|why| why.to_string())?;
        fs::create_dir_all(context.target_for("platforms")).map_err(|why| why.to_string())?;
        self.test(context, platform, &[WINE], None)
    }

    fn node(&self, context: &Context, platform: &Platform) -> Result<Counts, Missing> {
        let mut build = self.cargo(context, "build --quiet -Zbuild-std=std,panic_abort");
        build
            .args(["--target", platform.triple])
            .current_dir(context.root.join("xtask/platforms/wasm"));
        // Debian's compiler has no linker for it, and rustup's has.
        build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", rust_lld()?);
        context.run(build, BUILD_LIMIT).map_err(|why| why.to_string())?;
        let module =
            context.target_for("platforms").join(platform.triple).join("debug/drowse_in_wasm.wasm");
        let mut node = Command::new("node");
        node.arg(context.root.join("xtask/platforms/wasm/run.mjs")).arg(module);
        let done = context.run(node, RUN_LIMIT).map_err(|why| why.to_string())?;
        Ok(Counts { passed: Counts::of_words(&done.output), failed: 0, ignored: 0 })
    }
}

/// Runs all tests of a binary, some at a time.
fn run_tests(
    context: &Context,
    platform: &Platform,
    runner: &[&str],
    (name, binary): (&str, &Path),
) -> Result<Counts, Failure> {
    let command = || {
        let mut words = runner.iter().map(Path::new).chain([binary]);
        let mut command = Command::new(words.next().expect("at least the binary"));
        command.args(words).current_dir(context.root.join("crates/drowse"));
        command.env("DROWSE_TEST_PATIENCE", "10").env("RUST_BACKTRACE", "0");
        // For tests that start themselves once more. Windows finds wine by itself.
        if let [emulator] =
            runner.iter().filter(|_| platform.by != By::Wine).collect::<Vec<_>>()[..]
        {
            command.env("DROWSE_TEST_RUNNER", emulator);
        }
        command.env("WINEDEBUG", "-all").env("WINEPREFIX", context.target_for("platforms/wine"));
        command
    };
    let mut list = command();
    list.args(["--list", "--format", "terse"]);
    let listed = context.run_stdout_apart(list, RUN_LIMIT)?.stdout;
    let can_run =
        |test: &&str| platform.by.is_real() || emulated::can_run(name, test, context.full);
    let all = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    let names: Vec<_> = all.clone().filter(can_run).collect();
    let mut all = Counts { ignored: all.count() - names.len(), ..Counts::default() };
    for some in names.chunks(AT_A_TIME) {
        let mut command = command();
        command.arg("--exact").args(some);
        all.add(match context.run(command, RUN_LIMIT) {
            Ok(done) => Counts::of(&done.output),
            Err(failure) if Counts::of(&failure.output).failed > 0 => Counts::of(&failure.output),
            Err(failure) => return Err(failure),
        });
    }
    Ok(all)
}

/// Where Debian puts it.
const WINE: &str = "/usr/lib/wine/wine64";

/// Why there are no figures.
enum Missing {
    /// Something that it needs is not here.
    Tool(String),
    /// It was tried, and went wrong.
    Success(String),
}

impl From<String> for Missing {
    fn from(why: String) -> Self {
        Self::Success(why)
    }
}

/// Sees to it that these commands are there, by installing these packages if that is wanted.
fn have(context: &Context, commands: &[&str], packages: &str) -> Result<(), Missing> {
    let is_missing = |command: &&&str| {
        let mut ask = Command::new(command);
        ask.arg("--version").env("WINEPREFIX", context.target_for("platforms/wine"));
        ask.output().is_err()
    };
    if commands.iter().find(is_missing).is_none() {
        return Ok(());
    }
    if context.install {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--no-install-recommends", "-qq"])
            .args(packages.split_whitespace());
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        context
            .run(apt, BUILD_LIMIT)
            .map_err(|why| Missing::Tool(format!("{packages} ({why})")))?;
    }
    match commands.iter().find(is_missing) {
        Some(command) => {
            Err(Missing::Tool(format!("{command} is missing (packages {packages}; or --install)")))
        }
        None => Ok(()),
    }
}

/// The linker that comes with rustup's compilers.
fn rust_lld() -> Result<PathBuf, Missing> {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = asked.map_err(|error| Missing::Tool(format!("rustc: {error}")))?.stdout;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot).trim());
    let lld = sysroot.join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    if lld.exists() {
        Ok(lld)
    } else {
        Err(Missing::Tool("rust-lld, which comes with rustup's rustc".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_is_there_once() {
        let mut triples: Vec<_> = PLATFORMS.iter().map(|platform| platform.triple).collect();
        triples.sort_unstable();
        triples.dedup();
        assert_eq!(triples.len(), PLATFORMS.len());
    }
}
