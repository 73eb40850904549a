//! `FlushProcessWriteBuffers` makes every running thread of the process execute a full fence.
//!
//! The system need not be told of it in advance, and does not refuse it. So whoever wants light
//! fences has them, and each heavy one has the system execute it, whether or not anybody has any.

use crate::fence::full;
use crate::real::AtomicU64;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{Ordering, compiler_fence};

#[link(name = "kernel32")]
unsafe extern "system" {
    safe fn FlushProcessWriteBuffers();
}

/// How many heavy fences the system has executed.
static EXECUTED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// How many of them were this thread's.
    static EXECUTED_HERE: Cell<u64> = const { Cell::new(0) };
}

/// Leave to use [light fences](crate::light_fence), which is always given here.
#[derive(Debug)]
pub struct LightFences {
    /// Heavy fences before.
    executed: u64,
    on_this_thread: PhantomData<*mut ()>,
}

/// Proof that light fences were [prepared](LightFences::prepare).
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// There is nothing to prepare.
    pub fn prepare() -> Prepared {
        Prepared(())
    }

    /// If they are to be had at all: they are.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// If they are to be had at this moment: they are.
    pub fn get() -> Option<Self> {
        Some(Self { executed: executed(), on_this_thread: PhantomData })
    }

    /// Here they are good for as long as the thread runs anything.
    pub fn at_end_of_thread(_give_back: fn()) {}

    /// How many heavy fences there were since, for these or others.
    pub fn cost(&self) -> u64 {
        executed().saturating_sub(self.executed)
    }

    /// Whether they must be given back. Never, here.
    pub fn are_due_back(&self) -> bool {
        false
    }
}

fn executed() -> u64 {
    // ORDERING: relaxed; a measure.
    EXECUTED.load(Ordering::Relaxed)
}

#[inline(always)]
pub(crate) fn light_fence() {
    // ORDERING: for the compiler only; the processor's part is done by the heavy fence.
    compiler_fence(Ordering::SeqCst);
}

#[cold]
pub(crate) fn heavy_fence() {
    full();
    FlushProcessWriteBuffers();
    // ORDERING: relaxed; a measure.
    EXECUTED.fetch_add(1, Ordering::Relaxed);
    let _ = EXECUTED_HERE.try_with(|executed| executed.set(executed.get() + 1));
}

/// How many heavy fences this thread has had the system execute.
pub fn heavy_fences_executed() -> u64 {
    EXECUTED_HERE.try_with(Cell::get).unwrap_or(0)
}

/// There is nothing to be had that is not there already.
pub fn want_light_fences() {}
