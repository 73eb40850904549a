//! Ring of the newest events, up to a limit.

use super::TraceRecord;
use std::collections::VecDeque;

/// Ring of the newest records, with a count of those that were dropped.
#[derive(Debug)]
pub(super) struct Ring {
    records: VecDeque<TraceRecord>,
    capacity: usize,
    lost: u64,
}

impl Ring {
    /// Returns an empty ring. It allocates memory only as it fills.
    pub(super) fn new(capacity: usize) -> Self {
        Self { records: VecDeque::new(), capacity, lost: 0 }
    }

    pub(super) fn push(&mut self, record: TraceRecord) {
        if self.records.len() == self.capacity {
            self.records.pop_front();
            self.lost += 1;
        }
        self.records.push_back(record);
    }

    pub(super) fn drain(&mut self) -> Vec<TraceRecord> {
        self.records.drain(..).collect()
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceEvent;
    use std::time::Duration;

    #[test]
    fn the_oldest_go_first() {
        let mut ring = Ring::new(2);
        let record = |nanos| TraceRecord {
            at: Duration::from_nanos(nanos),
            worker: None,
            what: TraceEvent::Idle,
        };
        (1..=5).for_each(|nanos| ring.push(record(nanos)));
        assert_eq!(ring.drain(), [record(4), record(5)]);
        assert_eq!(ring.lost(), 3);
        assert!(ring.drain().is_empty());
    }
}
