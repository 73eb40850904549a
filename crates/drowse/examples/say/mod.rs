//! `println!` for programs whose output may go to `head`.

use std::fmt::Arguments;
use std::io::{self, Write};

/// As `println!`, but where nobody reads any more the program ends quietly instead of panicking.
macro_rules! say {
    ($($line:tt)*) => {
        $crate::say::line(format_args!($($line)*))
    };
}

pub(crate) fn line(line: Arguments<'_>) {
    if let Err(error) = writeln!(io::stdout(), "{line}") {
        let closed = error.kind() == io::ErrorKind::BrokenPipe;
        std::process::exit(if closed { 0 } else { 1 });
    }
}
