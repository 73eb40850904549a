//! Number of processors that the process may use at once, and files of the system.
//!
//! The answer is that of `std::thread::available_parallelism`, whose code for reading paths and
//! files is a tenth of a small program; but it looks for the first version of cgroups in the usual
//! places only.

use super::{CpuMask, ThreadId};

/// Length of the longest file of which all is read, and of the longest path.
const MOST: usize = 4096;

/// Returns the number of processors that the calling thread may run on, or the cgroup's quota, if
/// that is less.
pub(crate) fn core_count() -> usize {
    let allowed = CpuMask::of(ThreadId::current()).map_or(0, |mask| mask.count());
    if allowed > 0 {
        return allowed.min(quota().max(1));
    }
    // SAFETY: has only a number as its argument.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1).max(1)
}

/// Returns the quota of the process's cgroup and those above it, in processors.
fn quota() -> usize {
    let mut text = [0; MOST];
    let Some(groups) = read_file(b"/proc/self/cgroup\0", &mut text) else { return usize::MAX };
    let Some((group, is_v1)) = cpu_group(groups) else { return usize::MAX };
    if is_v1 {
        // The names of a mount point, and of the link to it.
        let [one, other] = [&b"/sys/fs/cgroup/cpu"[..], b"/sys/fs/cgroup/cpu,cpuacct"];
        return quota_below(one, group, true).min(quota_below(other, group, true));
    }
    quota_below(b"/sys/fs/cgroup", group, false)
}

/// Returns the path of the group that limits the processors, and `true` for the first version of
/// cgroups. That version, if it is in use, names its controllers.
fn cpu_group(groups: &[u8]) -> Option<(&[u8], bool)> {
    let mut found = None;
    for line in groups.split(|byte| *byte == b'\n') {
        let mut fields = line.splitn(3, |byte| *byte == b':');
        let (Some(controllers), Some(path)) = (fields.nth(1), fields.next()) else { continue };
        let is_v1 = controllers.split(|byte| *byte == b',').any(|name| name == b"cpu");
        if is_v1 || (controllers.is_empty() && found.is_none()) {
            found = Some((path, is_v1));
        }
    }
    found
}

/// Returns the least quota of this group and those above it.
fn quota_below(mount: &[u8], mut group: &[u8], is_v1: bool) -> usize {
    // A group that is not there is mounted elsewhere, or hidden.
    if !is_v1 && numbers_in(mount, group, b"/cgroup.controllers\0").is_none() {
        return usize::MAX;
    }
    let mut least = usize::MAX;
    loop {
        let (limit, period) = if is_v1 {
            let number = |file| numbers_in(mount, group, file).and_then(|(number, _)| number);
            (number(b"/cpu.cfs_quota_us\0"), number(b"/cpu.cfs_period_us\0"))
        } else {
            numbers_in(mount, group, b"/cpu.max\0").unwrap_or((None, None))
        };
        if let (Some(limit), Some(period)) = (limit, period) {
            least = least.min(limit.checked_div(period).unwrap_or(least));
        }
        match group.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => group = &group[..slash],
            None => return least,
        }
    }
}

/// Returns the two words of a file of this group, where they are numbers. `None` if it cannot be
/// read.
#[inline(never)]
fn numbers_in(mount: &[u8], group: &[u8], file: &[u8]) -> Option<(Option<usize>, Option<usize>)> {
    let (mut path, mut length) = ([0; MOST], 0);
    for part in [mount, group, file] {
        path.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    let mut text = [0; 64];
    let text = read_file(&path, &mut text)?;
    let mut words = text.split(|byte| *byte == b' ' || *byte == b'\n');
    Some((words.next().and_then(number), words.next().and_then(number)))
}

/// Returns the number that these digits stand for.
pub(super) fn number(digits: &[u8]) -> Option<usize> {
    let mut number = (!digits.is_empty()).then_some(0_usize)?;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        number = number.checked_mul(10)?.checked_add(digit)?;
    }
    Some(number)
}

/// Reads the beginning of a file, whose path ends with a NUL. Returns what was read; `None` if it
/// cannot be opened.
#[inline(never)]
pub(super) fn read_file<'t>(path: &[u8], text: &'t mut [u8]) -> Option<&'t [u8]> {
    if !path.contains(&0) {
        return None;
    }
    let mut length = 0;
    // SAFETY: the path ends with a NUL. The system writes at most as many bytes as are left of
    // `text`. The file is closed here only.
    unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        while let Ok(more @ 1..) = usize::try_from(libc::read(
            file,
            text[length..].as_mut_ptr().cast(),
            text.len() - length,
        )) {
            length += more;
        }
        libc::close(file);
    }
    Some(&text[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_std_finds() {
        assert_eq!(core_count(), std::thread::available_parallelism().unwrap().get());
    }

    #[test]
    fn the_first_version_of_cgroups_comes_first() {
        let groups = "12:cpuset:/a\n4:cpu,cpuacct:/b/c:d\n0::/e\n";
        assert_eq!(cpu_group(groups.as_bytes()), Some((&b"/b/c:d"[..], true)));
        assert_eq!(cpu_group(b"0::/e\n"), Some((&b"/e"[..], false)));
        assert_eq!(cpu_group(b"1:cpuset:/a\n"), None);
    }

    #[test]
    fn the_least_quota_counts() {
        let root = std::env::temp_dir().join(format!("drowse-quota-{}", std::process::id()));
        let group = root.join("a").join("b");
        std::fs::create_dir_all(&group).unwrap();
        let write = |file: &str, text: &str| std::fs::write(root.join(file), text).unwrap();
        let quota = |is_v1| quota_below(root.to_str().unwrap().as_bytes(), b"/a/b", is_v1);
        write("a/cpu.max", "500000 100000\n");
        assert_eq!(quota(false), usize::MAX, "the group is not there");
        write("a/b/cgroup.controllers", "");
        write("a/b/cpu.max", "max 100000\n");
        write("cpu.max", "700000 100000\n");
        assert_eq!(quota(false), 5);
        write("a/b/cpu.cfs_quota_us", "-1\n");
        write("a/b/cpu.cfs_period_us", "100000\n");
        assert_eq!(quota(true), usize::MAX);
        write("cpu.cfs_quota_us", "250000\n");
        write("cpu.cfs_period_us", "100000\n");
        assert_eq!(quota(true), 2);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn digits_are_a_number() {
        assert_eq!(["0", "42"].map(|text| number(text.as_bytes())), [Some(0), Some(42)]);
        let bad = ["", "-1", "max", "99999999999999999999999"];
        assert_eq!(bad.map(|text| number(text.as_bytes())), [None; 4]);
    }
}
