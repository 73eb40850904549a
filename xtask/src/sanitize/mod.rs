//! The tests under sanitizers.

mod asan;
mod kit;
mod tsan;

pub(crate) use asan::asan;
pub(crate) use tsan::tsan;

/// The only target that these are tried on.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The crates under test. Not the whole workspace: the rest has no unsafe code and no threads of its own.
const SELECTION: [&str; 8] =
    ["--package", "drowse", "--package", "drowse-sleep", "--package", "drowse-sync", "--target", TARGET];

/// Under a sanitizer frames are several times as big, and everything takes several times as long.
const SLOW_AND_WIDE: [(&str, &str); 2] = [("RUST_MIN_STACK", "33554432"), ("DROWSE_TEST_PATIENCE", "6")];

/// Whether this program was built for the target.
fn is_on_target() -> bool {
    cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))
}

/// The sanitizer's options: the user's after ours, since the last one counts.
fn with_options(users: Option<String>, ours: &str) -> String {
    match users {
        Some(users) => format!("{ours}:{users}"),
        None => ours.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_options_come_last() {
        assert_eq!(with_options(None, "a=1"), "a=1");
        assert_eq!(with_options(Some("a=0".to_string()), "a=1"), "a=1:a=0");
    }
}
