//! Processors that threads run on, and may run on.

use super::cores::{number, read_file};
use std::sync::OnceLock;

/// Id that the system gives a thread. Valid only in the process that asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(libc::pid_t);

impl ThreadId {
    /// Returns the id of the calling thread.
    pub fn current() -> Self {
        // SAFETY: has no arguments, and never fails.
        Self(unsafe { libc::syscall(libc::SYS_gettid) } as libc::pid_t)
    }

    /// Converts to a number that is not zero.
    pub fn to_bits(self) -> u32 {
        self.0 as u32
    }

    /// Converts from that number; returns `None` for zero.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits != 0).then_some(Self(bits as libc::pid_t))
    }
}

/// Returns the processor that the calling thread runs on at this moment.
pub fn current_cpu() -> Option<usize> {
    // SAFETY: has no arguments.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Set of processors, as the system has it.
#[derive(Clone, Copy, PartialEq)]
pub struct CpuMask([libc::c_ulong; WORDS]);

const WORDS: usize = size_of::<libc::cpu_set_t>() / size_of::<libc::c_ulong>();
const BITS: usize = libc::c_ulong::BITS as usize;

impl CpuMask {
    /// The set without processors.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Returns the processors that the thread may run on. Returns `None` if the system does not
    /// say, or has more processors than fit.
    #[inline(never)]
    pub fn of(thread: ThreadId) -> Option<Self> {
        Self::of_id(thread.0)
    }

    fn of_id(thread: libc::pid_t) -> Option<Self> {
        let mut mask = Self::EMPTY;
        // SAFETY: room for the answer, of the size given.
        let answered = unsafe {
            libc::sched_getaffinity(thread, size_of::<Self>(), mask.0.as_mut_ptr().cast())
        };
        (answered == 0).then_some(mask)
    }

    /// Restricts the thread to these processors. Returns `false` if the system refuses.
    #[must_use]
    #[inline(never)]
    pub fn apply_to(&self, thread: ThreadId) -> bool {
        // SAFETY: the system reads the set, of the size given.
        unsafe { libc::sched_setaffinity(thread.0, size_of::<Self>(), self.0.as_ptr().cast()) == 0 }
    }

    /// Returns the number of processors in the set.
    #[inline(never)]
    pub fn count(&self) -> usize {
        let mut count = 0;
        // (Bit by bit: `count_ones` compiles to more code where the processor has no instruction.)
        for cpu in 0..WORDS * BITS {
            count += usize::from(self.contains(cpu));
        }
        count
    }

    /// Returns `true` if the processor is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.get(cpu / BITS).is_some_and(|word| word >> (cpu % BITS) & 1 != 0)
    }

    /// Adds the processors of the other set.
    pub fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Returns the set without this processor.
    #[must_use]
    #[inline(never)]
    pub fn without(mut self, cpu: usize) -> Self {
        if let Some(word) = self.0.get_mut(cpu / BITS) {
            *word &= !(1 << (cpu % BITS));
        }
        self
    }

    /// Returns the mask to apply to a thread that may run on this set, and is to keep it.
    ///
    /// If the set has all processors that the machine can have, returns a mask with more than
    /// those, so that the system treats the thread as unrestricted. Otherwise, and if that number
    /// is not known, returns the set itself. Never allows more processors than the set.
    #[must_use]
    #[inline(never)]
    pub fn to_keep(self) -> Self {
        static POSSIBLE: OnceLock<Option<usize>> = OnceLock::new();
        let possible = POSSIBLE.get_or_init(|| {
            let mut list = [0; 256];
            let read = read_file(b"/sys/devices/system/cpu/possible\0", &mut list)?;
            if read.len() < 256 { count_of_list(read) } else { None }
        });
        if possible.is_none_or(|possible| self.count() < possible) {
            return self;
        }
        Self([libc::c_ulong::MAX; WORDS])
    }

    /// Returns `true` if the system lets the calling thread change its mask, as far as can be seen
    /// without changing it.
    pub fn can_be_changed() -> bool {
        // SAFETY: the length is 0, so nothing of the set is read. The system refuses a set without
        // processors with EINVAL, for that reason alone. (Emulators require a valid pointer, too.)
        let refused = unsafe { libc::sched_setaffinity(0, 0, Self::EMPTY.0.as_ptr().cast()) };
        refused != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
    }
}

/// Returns the count of numbers in a line like `0-3,8`.
fn count_of_list(line: &[u8]) -> Option<usize> {
    let mut count = 0;
    for part in line.strip_suffix(b"\n").unwrap_or(line).split(|byte| *byte == b',') {
        let mut ends = part.split(|byte| *byte == b'-');
        let first = number(ends.next()?)?;
        let last = ends.next().map_or(Some(first), number)?;
        count += last.checked_sub(first)? + 1;
    }
    Some(count)
}

impl std::fmt::Debug for CpuMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries((0..WORDS * BITS).filter(|cpu| self.contains(*cpu))).finish()
    }
}

/// Returns `true` if the calling thread may run on more than one processor. One system call.
pub fn has_several_cores() -> bool {
    // A machine with more processors than fit has several.
    CpuMask::of_id(0).is_none_or(|mask| mask.count() > 1)
}

#[cfg(test)]
mod tests {
    use super::{CpuMask, ThreadId, count_of_list, current_cpu};

    #[test]
    fn a_list_of_processors_is_counted() {
        let count = |list: &str| count_of_list(list.as_bytes());
        assert_eq!(["0\n", "0-3", "0-1,4,8-11\n"].map(count), [Some(1), Some(4), Some(7)]);
        assert_eq!(["", "x", "3-1", "1-"].map(count), [None; 4]);
    }

    #[test]
    fn to_ask_whether_a_mask_can_be_changed_changes_nothing() {
        let before = CpuMask::of(ThreadId::current()).unwrap();
        assert!(CpuMask::can_be_changed());
        assert_eq!(CpuMask::of(ThreadId::current()), Some(before));
    }

    #[test]
    fn a_thread_runs_where_it_may() {
        let this = ThreadId::current();
        let mask = CpuMask::of(this).unwrap();
        // Between the two questions the thread may move, but not off the mask.
        assert!(mask.contains(current_cpu().unwrap()));
        assert_eq!(ThreadId::from_bits(this.to_bits()), Some(this));
    }

    #[test]
    fn what_is_kept_is_what_was() {
        std::thread::spawn(|| {
            let this = ThreadId::current();
            let mask = CpuMask::of(this).unwrap();
            assert!(mask.to_keep().apply_to(this));
            assert_eq!(format!("{:?}", CpuMask::of(this)), format!("{:?}", Some(mask)));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_mask_without_one_has_one_less() {
        let mask = CpuMask::of(ThreadId::current()).unwrap();
        let cpu = (0..).find(|cpu| mask.contains(*cpu)).unwrap();
        assert!(!mask.without(cpu).contains(cpu));
        assert_eq!(mask.without(cpu).count(), mask.count() - 1);
        assert_eq!(mask.without(usize::MAX).count(), mask.count());
    }
}
