//! Deliberate faults that the models must notice.
//!
//! A model that has never gone red proves nothing. At each place whose removal must break a model,
//! the code asks [`active`], or passes its ordering through [`weaken`]; in a normal build the
//! answer is a constant `false` and the compiler deletes the question. In a model build the
//! environment variable `DROWSE_MUTANT` names the fault to commit. `cargo xtask mutants` commits
//! each one in turn and demands that a model fails.

use crate::atomic::Ordering;

/// Whether the fault `name` is to be committed. Always `false` outside model builds.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[inline(always)]
pub fn active(_name: &'static str) -> bool {
    false
}

/// As [`active`], for a fault that each of several subjects can commit: its name is `subject/fault`.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[inline(always)]
pub fn active_in(_subject: &'static str, _fault: &'static str) -> bool {
    false
}

/// Whether the fault `name` is to be committed: `DROWSE_MUTANT` names it.
#[cfg(any(drowse_loom, drowse_shuttle))]
pub fn active(name: &'static str) -> bool {
    chosen() == Some(name)
}

/// As [`active`], for a fault that each of several subjects can commit: its name is `subject/fault`.
#[cfg(any(drowse_loom, drowse_shuttle))]
pub fn active_in(subject: &'static str, fault: &'static str) -> bool {
    chosen().and_then(|name| name.split_once('/')) == Some((subject, fault))
}

/// The ordering of one access: `ordering`, or relaxed if the fault `name` is to be committed.
#[inline(always)]
pub fn weaken(name: &'static str, ordering: Ordering) -> Ordering {
    // ORDERING: the caller's, or a mutant's.
    if active(name) { Ordering::Relaxed } else { ordering }
}

/// As [`weaken`], for a fault that each of several subjects can commit: `subject/fault`.
#[inline(always)]
pub fn weaken_in(subject: &'static str, fault: &'static str, ordering: Ordering) -> Ordering {
    // ORDERING: the caller's, or a mutant's.
    if active_in(subject, fault) { Ordering::Relaxed } else { ordering }
}

#[cfg(any(drowse_loom, drowse_shuttle))]
fn chosen() -> Option<&'static str> {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("DROWSE_MUTANT").ok()).as_deref()
}
