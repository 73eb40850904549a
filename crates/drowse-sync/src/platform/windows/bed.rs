//! Sleeping on a word by `WaitOnAddress`.

use crate::atomic::AtomicU32;
use crate::say;
use crate::wait_word::holds;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

type WaitOnAddress = unsafe extern "system" fn(*const c_void, *const c_void, usize, u32) -> i32;
type WakeByAddressSingle = unsafe extern "system" fn(*const c_void);

/// No time-out.
const INFINITE: u32 = u32::MAX;

/// Flag to load a library only from the folder of the system.
const SEARCH_SYSTEM32: u32 = 0x800;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn LoadLibraryExA(name: *const c_char, file: *mut c_void, flags: u32) -> *mut c_void;
    fn GetProcAddress(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Functions of the system for sleeping on a word. Looked up at the first use: linking to them
/// takes an import library that not every toolchain has.
#[derive(Debug, Clone, Copy)]
struct System {
    wait: WaitOnAddress,
    wake: WakeByAddressSingle,
}

impl System {
    fn get() -> Self {
        static SYSTEM: OnceLock<System> = OnceLock::new();
        *SYSTEM.get_or_init(|| Self::look_up().unwrap_or_else(|| give_up()))
    }

    fn look_up() -> Option<Self> {
        // SAFETY: the names end in a null, the library is never unloaded, and the functions have
        // the types that the system documents.
        unsafe {
            let library = LoadLibraryExA(
                c"api-ms-win-core-synch-l1-2-0.dll".as_ptr(),
                ptr::null_mut(),
                SEARCH_SYSTEM32,
            );
            if library.is_null() {
                return None;
            }
            let wait = GetProcAddress(library, c"WaitOnAddress".as_ptr());
            let wake = GetProcAddress(library, c"WakeByAddressSingle".as_ptr());
            (!wait.is_null() && !wake.is_null()).then(|| Self {
                wait: std::mem::transmute::<*mut c_void, WaitOnAddress>(wait),
                wake: std::mem::transmute::<*mut c_void, WakeByAddressSingle>(wake),
            })
        }
    }
}

/// Aborts; std itself does not run on such a system.
#[cold]
fn give_up() -> ! {
    say(format_args!("drowse: this Windows has no WaitOnAddress; Windows 10 and later have it"));
    std::process::abort();
}

/// Blocks if the word holds `value`, until [`Bed::wake`] or until the time is over. May return
/// early.
fn wait(word: &AtomicU32, value: u32, milliseconds: u32) {
    // SAFETY: both pointers are valid for the given size during the call, which only reads.
    unsafe {
        (System::get().wait)(
            ptr::from_ref(word).cast(),
            ptr::from_ref(&value).cast(),
            size_of::<u32>(),
            milliseconds,
        );
    }
}

/// Empty: the system knows the threads that sleep on an address.
#[derive(Debug)]
pub(crate) struct Bed;

impl Bed {
    pub(crate) const fn new() -> Self {
        Bed
    }

    pub(crate) fn sleep_while(&self, word: &AtomicU32, value: u32) {
        while holds(word, value) {
            wait(word, value, INFINITE);
        }
    }

    /// Sleeps for at most `time`. May return early.
    pub(crate) fn sleep_for(&self, word: &AtomicU32, value: u32, time: Duration) {
        // Rounded up, so that a sleeper does not wake repeatedly before the end.
        let milliseconds = time.as_nanos().div_ceil(1_000_000);
        wait(word, value, u32::try_from(milliseconds).unwrap_or(INFINITE - 1));
    }

    pub(crate) fn wake(&self, word: &AtomicU32) {
        // SAFETY: the system takes the address as a key, and never reads or writes there.
        unsafe { (System::get().wake)(ptr::from_ref(word).cast()) };
    }
}
