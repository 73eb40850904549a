//! Null twins of the plan, the probe and their guards.

use super::{DEADLOCK, STALL, WaitFor};
use crate::setting::{Once, switch, value_of};
use drowse_sleep::Sleep;
use drowse_sync::{Arc, Weak, say};
use std::fmt;
use std::marker::PhantomData;

/// Alarms and trace of a pool: none.
#[derive(Debug, Default)]
pub(crate) struct Plan;

/// A plan that is complete.
pub(crate) type Ready = Plan;

impl Plan {
    /// Prints once per process, if the environment asks for reports, that the program has none.
    pub(crate) fn ready(self) -> Ready {
        static SAY: Once = Once::new();
        for name in [DEADLOCK, STALL] {
            if value_of(name).is_some_and(|value| switch(value.trim_ascii()) != Some(false)) {
                SAY.call(say_that_there_are_no_reports);
            }
        }
        self
    }

    pub(crate) fn describe(&self, _: &mut dyn FnMut(fmt::Arguments<'_>)) {}
}

fn say_that_there_are_no_reports() {
    // Of a program on drowse itself it is not known where it takes drowse from.
    let drop_in = cfg!(feature = "rayon-env");
    let line = if drop_in { "rayon-core = { version = \"1.13\"" } else { "drowse = { ..." };
    say(format_args!(
        "drowse: DROWSE_DEADLOCK and DROWSE_STALL have no effect: this program was built without reports; for them, \
         put under [dependencies] in its Cargo.toml: {line}, features = [\"diagnose\"] }} (DROWSE_DEADLOCK reports marked workers only)"
    ));
}

/// Previous state of a worker.
#[must_use]
pub(crate) struct Before;

/// The engine's only way to the alarms and the trace of a pool.
#[derive(Debug)]
pub(crate) struct Probe;

impl Probe {
    pub(crate) fn new(_: &Ready, _: &Tracing, _: usize, _: usize) -> Self {
        Self
    }

    pub(crate) fn watch<P>(&self, sleep: Sleep, _: &Weak<P>) -> Sleep {
        sleep
    }

    pub(crate) fn begin<P>(&self, _: &Arc<P>) {}

    pub(crate) fn end(&self) {}

    pub(crate) fn begin_thread(&self, _: usize) {}

    pub(crate) fn begin_wait(&self, _: usize, _: WaitFor) -> Before {
        Before
    }

    pub(crate) fn end_wait(&self, _: usize, _: Before) {}

    pub(crate) fn begin_search(&self, _: usize) {}

    pub(crate) fn end_search(&self, _: usize) {}

    pub(crate) fn took_injected(&self, _: usize) {}

    pub(crate) fn stole(&self, _: usize, _: usize) {}

    pub(crate) fn begin_job(&self, _: usize) -> Before {
        Before
    }

    pub(crate) fn end_job(&self, _: usize, _: Before) {}

    pub(crate) fn blocked(&self, _: usize) {}

    pub(crate) fn unblocked(&self, _: Option<usize>, _: usize) {}

    pub(crate) fn note_waiter(&self, _: WaitFor) -> OutsideWait<'_> {
        OutsideWait(PhantomData)
    }

    pub(crate) fn notes_waiters(&self) -> bool {
        false
    }
}

/// Guard of the calling thread's wait.
#[derive(Debug)]
pub(crate) struct OutsideWait<'p>(PhantomData<&'p Probe>);

impl OutsideWait<'_> {
    pub(crate) fn note_begun(&self, _: usize) {}
}

/// Trace attached to a pool that is being built.
pub(crate) struct Tracing;

impl Tracing {
    pub(crate) fn begin(_: &Ready, _: usize) -> Option<Self> {
        Some(Self)
    }

    pub(crate) fn name(&self, _: usize, _: &str) {}

    pub(crate) fn keep(self) {}
}
