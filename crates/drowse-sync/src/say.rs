//! Messages of drowse on the standard error.

use crate::platform::write_to_stderr;
use std::fmt;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

/// Writes one line to the standard error. If that is closed the line is lost, without an error.
///
/// Every message of the library goes through here. This never unwinds, because it is called where a
/// panic would free what other threads still use. (`eprintln!` panics when it cannot write.) The
/// text may come from the user's code, such as an error's `Display`, so its panics are caught too.
/// This does not take std's lock around the standard error: its holder may be waiting for the
/// caller.
///
/// ```
/// drowse_sync::say(format_args!("drowse: {} workers", 3));
/// ```
pub fn say(line: fmt::Arguments<'_>) {
    let said = panic::catch_unwind(AssertUnwindSafe(|| {
        // One write, so that lines of several threads do not mix.
        write_to_stderr(format!("{line}\n").as_bytes());
    }));
    if let Err(payload) = said {
        // The payload is the user's, and may panic when it is dropped.
        mem::forget(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::say;
    use std::fmt;

    struct Bad;

    impl fmt::Display for Bad {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            struct WorseStill;
            impl Drop for WorseStill {
                fn drop(&mut self) {
                    panic!("a payload that panics");
                }
            }
            std::panic::panic_any(WorseStill);
        }
    }

    #[test]
    fn a_text_that_panics_is_not_said() {
        say(format_args!("{Bad}"));
        assert!(!std::thread::panicking());
    }
}
