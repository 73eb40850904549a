//! Stacks of loom's threads, kept for the next execution.
//!
//! loom starts each execution of a model on new stacks: for each thread it maps memory, protects a
//! page of it, touches the rest for the first time, and unmaps it. That takes longer than the model
//! itself. Here the functions of the C library through which it does so keep what is unmapped, and
//! hand it out again. They are defined in the program, so they come before the C library's for all
//! Rust code in it; the C library itself does not call them.

use libc::{MAP_STACK, SYS_mmap, SYS_munmap, syscall};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most stacks that are kept. A model has at most five threads.
const MOST: usize = 16;

/// A mapped stack.
#[derive(Clone, Copy)]
struct Stack {
    at: *mut c_void,
    bytes: usize,
}

// SAFETY: the memory belongs to the `Stacks` that it is in.
unsafe impl Send for Stack {}

struct Stacks {
    /// In use by a thread of a model.
    used: Vec<Stack>,
    /// Unmapped by the model, and still mapped.
    kept: Vec<Stack>,
    /// Number of times that a kept stack was handed out.
    reused: usize,
}

static STACKS: Mutex<Stacks> = Mutex::new(Stacks { used: Vec::new(), kept: Vec::new(), reused: 0 });

fn stacks() -> MutexGuard<'static, Stacks> {
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how often a stack was handed out that another execution had used.
///
/// Each model calls it, so that the functions below are linked.
pub fn stacks_used_again() -> usize {
    stacks().reused
}

/// Maps memory, as the C library's function of this name does.
///
/// # Safety
///
/// That of the C library's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mmap(
    at: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // Of all Rust code in these programs only the generators that loom runs its threads on ask for
    // stacks.
    let is_stack = flags & MAP_STACK != 0 && at.is_null();
    if is_stack {
        let mut stacks = stacks();
        if let Some(index) = stacks.kept.iter().rposition(|stack| stack.bytes == bytes) {
            let stack = stacks.kept.swap_remove(index);
            stacks.used.push(stack);
            stacks.reused += 1;
            return stack.at;
        }
    }
    // SAFETY: the arguments are the caller's.
    let mapped = unsafe { syscall(SYS_mmap, at, bytes, protection, flags, file, offset) };
    let mapped: *mut c_void = ptr::with_exposed_provenance_mut(mapped as usize);
    if is_stack && mapped.addr() != usize::MAX {
        stacks().used.push(Stack { at: mapped, bytes });
    }
    mapped
}

/// Unmaps memory, as the C library's function of this name does; but keeps stacks.
///
/// # Safety
///
/// That of the C library's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn munmap(at: *mut c_void, bytes: usize) -> c_int {
    {
        let mut stacks = stacks();
        let is_it = |stack: &Stack| stack.at == at && stack.bytes == bytes;
        if let Some(index) = stacks.used.iter().position(is_it) {
            let stack = stacks.used.swap_remove(index);
            if stacks.kept.len() < MOST {
                stacks.kept.push(stack);
                return 0;
            }
        }
    }
    // SAFETY: the arguments are the caller's.
    unsafe { syscall(SYS_munmap, at, bytes) as c_int }
}
