#![doc = include_str!("README.md")]

use crate::headcount::{Headcount, JEC_BITS, JobsEvent, Snapshot};
use crate::{Announcement, Committed, House, Posted, Protocol, Reason, Recheck, Retreat, Waker};
use drowse_sync::{hint, mutant};

/// The jobs event counter. See the [module](self) for how it works and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jec {
    jec_bits: u32,
}

impl Jec {
    const NAME: &str = "jec";

    /// The protocol, with a counter of 32 bits.
    pub fn new() -> Self {
        Self { jec_bits: JEC_BITS }
    }

    /// With a counter that wraps sooner, which only models have a reason to want: of 1 to 32 bits.
    #[must_use]
    pub fn with_counter_bits(bits: u32) -> Self {
        assert!((1..=JEC_BITS).contains(&bits), "a jobs event counter has 1 to {JEC_BITS} bits, not {bits}");
        Self { jec_bits: bits }
    }

    fn heads<'a>(&self, house: &'a House) -> Headcount<'a> {
        Headcount::of(house, Self::NAME)
    }
}

impl Default for Jec {
    fn default() -> Self {
        Self::new()
    }
}

impl Protocol for Jec {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn tells_latch(&self) -> bool {
        true
    }

    fn start_looking(&self, house: &House, _worker: usize) {
        self.heads(house).start_looking();
    }

    fn searching(&self, word: u64) -> Option<usize> {
        Some(Snapshot::of(word).awake_idle())
    }

    /// Makes the JEC even, and remembers it.
    fn announce(&self, house: &House, _worker: usize) -> Option<Announcement> {
        let one_parity = mutant::active("jec/one-parity");
        let counts = self.heads(house).counts;
        let now = counts.next_event_if(self.jec_bits, |seen| seen.is_sleepy() == one_parity);
        if mutant::active("jec/announce-in-two-steps") {
            // A pause, without which loom would not let a post in here.
            hint::spin_loop();
            return Some(Announcement::remember(counts.load().jobs_event().to_bits()));
        }
        Some(Announcement::remember(now.jobs_event().to_bits()))
    }

    fn commit<'look>(
        &self,
        house: &House,
        announcement: Announcement,
        recheck: Recheck<'look>,
    ) -> Result<Committed<'look>, Retreat> {
        let remembered = JobsEvent::from_bits(announcement.remembered());
        let no_news = |now: Snapshot| now.jobs_event() == remembered || mutant::active("jec/no-jec-check");
        self.heads(house).commit(no_news, recheck).ok_or(Retreat::BeforeSleepy)
    }

    fn uncommit(&self, house: &House, _worker: usize) {
        self.heads(house).uncommit();
    }

    fn stop_looking(&self, house: &House, _worker: usize, work_visible: &dyn Fn() -> bool) {
        self.heads(house).stop_looking(work_visible);
    }

    /// Makes the JEC odd; wakes as many as it takes beyond those who search.
    fn post(&self, house: &House, posted: &Posted<'_>) {
        let heads = self.heads(house);
        let now = if mutant::active("jec/post-keeps-jec") {
            heads.counts.load()
        } else {
            heads.counts.next_event_if(self.jec_bits, Snapshot::is_sleepy)
        };
        if now.sleeping() == 0 {
            return;
        }
        let wanted = if posted.queue_was_empty() {
            // Those who search will find the jobs; wake for what is left.
            posted.jobs.saturating_sub(now.awake_idle())
        } else {
            // A backlog: those who search have enough to do.
            posted.jobs
        };
        heads.wake_for(posted, wanted.min(now.sleeping()));
    }

    fn latch_set(&self, house: &House, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        self.heads(house).latch_set(owner, slept, reason, waker);
    }

    fn broadcast(&self, house: &House) {
        self.heads(house).wake_all(Reason::Broadcast);
    }

    fn is_clear(&self, word: u64) -> bool {
        let now = Snapshot::of(word);
        (now.inactive(), now.sleeping()) == (0, 0)
    }
}
