//! How many workers can run at once.

use drowse_sync::{Counter, CpuMask, Mutex, ThreadId};

/// How many workers can run at once: as many as there are processors that at least one of them may
/// run on. Known when each has said where it may, which it does before its first sleep; until then,
/// and where the system does not say, there is no limit.
#[derive(Debug)]
pub(crate) struct Room {
    /// 0 for no limit.
    limit: Counter,
    reports: Mutex<Reports>,
}

#[derive(Debug)]
struct Reports {
    missing: usize,
    processors: Option<CpuMask>,
}

impl Room {
    pub(crate) fn new(workers: usize) -> Self {
        let reports = Reports { missing: workers, processors: None };
        Self { limit: Counter::new(), reports: Mutex::new(reports) }
    }

    /// Known beforehand.
    pub(crate) fn of(room: usize) -> Self {
        let this = Self::new(0);
        this.limit.set_mine(room as u64);
        this
    }

    pub(crate) fn get(&self) -> usize {
        match self.limit.get() {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        }
    }

    /// The calling thread is a worker, and has not reported yet.
    pub(crate) fn report(&self) {
        if let Some(mask) = CpuMask::of(ThreadId::current()) {
            self.add(mask);
        }
    }

    fn add(&self, mask: CpuMask) {
        let mut reports = self.reports.lock();
        let processors = reports.processors.map_or(mask, |others| others.or(mask));
        reports.processors = Some(processors);
        reports.missing = reports.missing.saturating_sub(1);
        if reports.missing == 0 && self.limit.get() == 0 {
            self.limit.set_mine(processors.count() as u64);
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
        room.report();
        room.report();
        assert_eq!(room.get(), usize::MAX, "one is missing");
        room.report();
        assert_eq!(room.get(), mask.count());
    }

    #[test]
    fn workers_with_a_processor_each_have_room_for_all() {
        let Some(mask) = CpuMask::of(ThreadId::current()) else { return };
        let cpus: Vec<usize> = (0..1024).filter(|cpu| mask.contains(*cpu)).collect();
        let only =
            |this: &usize| cpus.iter().filter(|cpu| *cpu != this).fold(mask, |mask, cpu| mask.without(*cpu));
        let room = Room::new(cpus.len());
        cpus.iter().for_each(|cpu| room.add(only(cpu)));
        assert_eq!(room.get(), cpus.len());
    }

    #[test]
    fn what_is_known_beforehand_stays() {
        let room = Room::of(7);
        room.report();
        assert_eq!(room.get(), 7);
    }
}
