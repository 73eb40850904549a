//! How much memory the process has.

use std::fs;

/// Resident memory of the whole process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Now.
    pub resident: u64,
    /// The most that there was at any time.
    pub most: u64,
}

impl Memory {
    /// What the system says, where it does: Linux.
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/status").ok()?)
    }

    fn parse(status: &str) -> Option<Self> {
        let bytes = |key: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(key))?;
            let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(kibibytes * 1024)
        };
        Some(Self { resident: bytes("VmRSS:")?, most: bytes("VmHWM:")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_among_other_figures() {
        let status = "Name:\tlab\nVmHWM:\t    2048 kB\nVmRSS:\t      12 kB\nThreads:\t3\n";
        assert_eq!(Memory::parse(status), Some(Memory { resident: 12 << 10, most: 2 << 20 }));
        assert_eq!(Memory::parse("Name:\tlab\nVmRSS:\t 12 kB\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_used_is_counted() {
        const SIZE: usize = 256 << 20;
        let before = Memory::read().unwrap();
        let used = vec![1_u8; SIZE];
        let after = Memory::read().unwrap();
        assert_eq!(std::hint::black_box(&used).len(), SIZE);
        // Other tests of this process may have let go of some meanwhile.
        assert!(after.resident > before.resident + SIZE as u64 / 2, "{before:?} {after:?}");
        assert!(after.most >= after.resident, "{after:?}");
    }
}
