//! Fences by `FlushProcessWriteBuffers`: every running thread of the process executes a full fence.
//!
//! The call needs no registration and is never refused. So light fences are always available, and
//! each heavy fence makes the system execute it, even if no thread holds light fences.

use crate::fence::full;
use crate::real::AtomicU64;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{Ordering, compiler_fence};

#[link(name = "kernel32")]
unsafe extern "system" {
    safe fn FlushProcessWriteBuffers();
}

/// Number of heavy fences that the system has executed.
static EXECUTED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Number of heavy fences executed by this thread.
    static EXECUTED_HERE: Cell<u64> = const { Cell::new(0) };
}

/// Permission to use [light fences](crate::light_fence), which is always given here.
#[derive(Debug)]
pub struct LightFences {
    /// Value of `EXECUTED` when the permission was given.
    executed: u64,
    on_this_thread: PhantomData<*mut ()>,
}

/// Proof that light fences were [prepared](LightFences::prepare).
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// Does nothing: there is nothing to prepare.
    pub fn prepare() -> Prepared {
        Prepared(())
    }

    /// Returns the permission.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// Returns the permission.
    pub fn get() -> Option<Self> {
        Some(Self { executed: executed(), on_this_thread: PhantomData })
    }

    /// Does nothing: here light fences work until the end of the thread.
    pub fn at_end_of_thread(_give_back: fn()) {}

    /// Returns how many heavy fences all threads have executed since `get`.
    pub fn cost(&self) -> u64 {
        executed().saturating_sub(self.executed)
    }

    /// Returns `true` if the permission must be given back: never here.
    pub fn are_due_back(&self) -> bool {
        false
    }
}

fn executed() -> u64 {
    // ORDERING: relaxed; a statistic.
    EXECUTED.load(Ordering::Relaxed)
}

#[inline(always)]
pub(crate) fn light_fence() {
    // ORDERING: keeps only the compiler from reordering; `heavy_fence` does the processor's part.
    compiler_fence(Ordering::SeqCst);
}

#[cold]
pub(crate) fn heavy_fence() {
    full();
    FlushProcessWriteBuffers();
    // ORDERING: relaxed; a statistic.
    EXECUTED.fetch_add(1, Ordering::Relaxed);
    let _ = EXECUTED_HERE.try_with(|executed| executed.set(executed.get() + 1));
}

/// Returns how many heavy fences this thread has had the system execute.
pub fn heavy_fences_executed() -> u64 {
    EXECUTED_HERE.try_with(Cell::get).unwrap_or(0)
}

/// Does nothing: light fences are always available.
pub fn want_light_fences() {}
