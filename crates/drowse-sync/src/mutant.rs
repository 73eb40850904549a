//! Deliberate faults that the models must notice.
//!
//! A model that has never failed proves nothing. Each place whose removal must break a model has a
//! name:
//!
//! | the fault | how the place is written |
//! |---|---|
//! | a fence is left out | [`full_fence("name")`](crate::full_fence), or another fence |
//! | an ordering is relaxed | [`weaken("name", Ordering::Release)`](weaken) |
//! | a step is left out | [`omittable!("name", step)`](crate::omittable) |
//! | a check is skipped | [`look!("name", condition)`](crate::look) |
//! | a lock is not taken | [`lock("name", &mutex)`](lock) |
//! | something else is done | [`faulty!("name", right, wrong)`](crate::faulty) |
//!
//! In a normal build the names are ignored and the compiler deletes what is left of them. In a
//! model build the environment variable `DROWSE_MUTANT` names the fault to commit. `cargo xtask
//! mutants` commits each fault in turn and demands that a model fails. A `wrong` of more than a few
//! words lives in a file of its own, which normal builds do not compile.

use crate::atomic::Ordering;
use crate::{Mutex, MutexGuard};

/// Returns `true` if the fault `name` is to be committed. Always `false` outside model builds.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[inline(always)]
pub fn active(_name: &'static str) -> bool {
    false
}

/// Returns `true` if `DROWSE_MUTANT` names this fault.
#[cfg(any(drowse_loom, drowse_shuttle))]
pub fn active(name: &'static str) -> bool {
    chosen() == Some(name)
}

/// Returns the ordering of an access: `ordering`, or relaxed if the fault `name` is to be
/// committed.
#[inline(always)]
pub fn weaken(name: &'static str, ordering: Ordering) -> Ordering {
    // ORDERING: the caller states the reason for `ordering`; relaxed is the fault.
    if active(name) { Ordering::Relaxed } else { ordering }
}

/// Locks the mutex. Returns `None` without locking if that is the fault to commit.
pub fn lock<'a, T>(name: &'static str, mutex: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
    (!active(name)).then(|| mutex.lock())
}

/// Takes a step, unless leaving it out is the fault to commit.
///
/// ```
/// let mut bell = 0;
/// drowse_sync::omittable!("example/no-bell", bell += 1);
/// assert_eq!(bell, 1);
/// ```
#[macro_export]
macro_rules! omittable {
    ($name:expr, $step:expr) => {
        if !$crate::mutant::active($name) {
            $step;
        }
    };
}

/// Evaluates the condition, or gives `false` if skipping the check is the fault to commit.
///
/// ```
/// assert!(drowse_sync::look!("example/blind", 1 + 1 == 2));
/// ```
#[macro_export]
macro_rules! look {
    ($name:expr, $condition:expr) => {
        $condition && !$crate::mutant::active($name)
    };
}

/// Evaluates to the right value, or to the wrong value if that is the fault to commit. Normal
/// builds do not compile the wrong value.
///
/// ```
/// assert_eq!(drowse_sync::faulty!("example/miscounts", 2 + 2, 5), 4);
/// ```
#[macro_export]
macro_rules! faulty {
    ($name:expr, $right:expr, $wrong:expr) => {{
        #[cfg(any(drowse_loom, drowse_shuttle))]
        {
            if $crate::mutant::active($name) { $wrong } else { $right }
        }
        #[cfg(not(any(drowse_loom, drowse_shuttle)))]
        {
            let _ = $name;
            $right
        }
    }};
}

#[cfg(any(drowse_loom, drowse_shuttle))]
fn chosen() -> Option<&'static str> {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("DROWSE_MUTANT").ok()).as_deref()
}
