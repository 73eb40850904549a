//! Number of workers that can run at once, and those that are up and use no processor.

use drowse_sync::{Counter, CpuMask, Mutex, ThreadId};

/// Number of workers that can run at once: the number of processors that at least one of them may
/// use. Each worker reports its processors before its first sleep. Until all have reported, and if
/// the system does not tell, there is no limit.
///
/// Beside workers that are up and use no processor there is room for others: see
/// [`for_wakes`](Self::for_wakes).
#[derive(Debug)]
pub(crate) struct Room {
    /// 0 for no limit.
    limit: Counter,
    reports: Mutex<Reports>,
    /// Number of sentries in a row that had to get up.
    relieved: Counter,
    /// Number of workers that do not come back from their jobs: those that sentries have marked.
    pub(crate) stuck: Counter,
    /// Number of workers that sleep alone, and of those that count as active and do not run.
    pub(crate) alone: Counter,
    pub(crate) aside: Counter,
}

/// Number of sentries in a row beyond which one more changes nothing.
const MOST_IN_A_ROW: u32 = 8;

#[derive(Debug)]
struct Reports {
    /// Number of workers that have not reported. `None` if the limit is fixed.
    missing: Option<usize>,
    processors: CpuMask,
}

impl Room {
    pub(crate) fn new(workers: usize) -> Self {
        Self::with_missing(Some(workers))
    }

    fn with_missing(missing: Option<usize>) -> Self {
        let reports = Reports { missing, processors: CpuMask::EMPTY };
        Self {
            limit: Counter::new(),
            reports: Mutex::new(reports),
            relieved: Counter::new(),
            stuck: Counter::new(),
            alone: Counter::new(),
            aside: Counter::new(),
        }
    }

    /// Returns a fixed limit.
    pub(crate) fn of(room: usize) -> Self {
        let this = Self::with_missing(None);
        this.limit.set_mine(room as u64);
        this
    }

    pub(crate) fn get(&self) -> usize {
        match self.limit.get() {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        }
    }

    /// Returns for how many of `seats` workers there is room, for decisions about wakes: as many as
    /// there are processors, doubled for each sentry in a row that had to get up, plus the workers
    /// that are stuck, sleep alone or have stepped aside.
    pub(crate) fn for_wakes(&self, seats: usize) -> usize {
        let count = |counter: &Counter| usize::try_from(counter.get()).unwrap_or(0);
        let off = count(&self.stuck).min(seats) + count(&self.alone) + count(&self.aside);
        self.get().saturating_mul(1 << self.relieved_in_a_row()).saturating_add(off)
    }

    /// Returns how many sentries in a row had to get up, at most `MOST_IN_A_ROW`.
    pub(crate) fn relieved_in_a_row(&self) -> u32 {
        u32::try_from(self.relieved.get()).unwrap_or(u32::MAX).min(MOST_IN_A_ROW)
    }

    /// Records that a sentry gets up because the others make no progress, `before` others in a row
    /// before it.
    pub(crate) fn note_relief(&self, before: u32) {
        self.relieved.set_mine(u64::from(before) + 1);
    }

    /// Records that a worker was woken and found nothing to do: there may be room for too many.
    pub(crate) fn woken_for_nothing(&self) {
        if self.relieved.get() > 0 {
            self.relieved.subtract(1);
        }
    }

    /// Reports the processors of the calling worker, for the `first` time or because it may be
    /// allowed others by now.
    #[inline(never)]
    pub(crate) fn report(&self, first: bool) {
        if let Some(mask) = CpuMask::of(ThreadId::current()) {
            self.add(&mask, usize::from(first));
        }
    }

    fn add(&self, mask: &CpuMask, reports_more: usize) {
        let mut reports = self.reports.lock();
        let Some(missing) = reports.missing else { return };
        let missing = missing.saturating_sub(reports_more);
        reports.missing = Some(missing);
        reports.processors.add(mask);
        if missing == 0 {
            self.limit.set_mine(reports.processors.count() as u64);
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{CpuMask, Room, ThreadId};

    #[test]
    fn workers_that_share_processors_have_as_much_room_as_those() {
        let Some(mask) = CpuMask::of(ThreadId::current()) else { return };
        let room = Room::new(3);
        room.report(true);
        room.report(true);
        assert_eq!(room.get(), usize::MAX, "one is missing");
        room.report(true);
        assert_eq!(room.get(), mask.count());
    }

    #[test]
    fn workers_with_a_processor_each_have_room_for_all() {
        let Some(mask) = CpuMask::of(ThreadId::current()) else { return };
        let cpus: Vec<usize> = (0..1024).filter(|cpu| mask.contains(*cpu)).collect();
        let only = |this: &usize| {
            cpus.iter().filter(|cpu| *cpu != this).fold(mask, |mask, cpu| mask.without(*cpu))
        };
        let room = Room::new(cpus.len());
        cpus.iter().for_each(|cpu| room.add(&only(cpu), 1));
        assert_eq!(room.get(), cpus.len());
    }

    #[test]
    fn who_may_run_elsewhere_later_says_so() {
        let Some(mask) = CpuMask::of(ThreadId::current()) else { return };
        let cpus: Vec<usize> = (0..1024).filter(|cpu| mask.contains(*cpu)).collect();
        let one = cpus[1..].iter().fold(mask, |mask, cpu| mask.without(*cpu));
        let room = Room::new(1);
        room.add(&one, 1);
        assert_eq!(room.get(), 1);
        room.report(false);
        assert_eq!(room.get(), cpus.len());
    }

    #[test]
    fn what_is_known_beforehand_stays() {
        let room = Room::of(7);
        room.report(true);
        assert_eq!(room.get(), 7);
    }
}
