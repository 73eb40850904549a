#![doc = include_str!("README.md")]

mod state;

use crate::{Announcement, Committed, House, Posted, Protocol, Reason, Recheck, Retreat, Waker};
use drowse_sync::{full_fence, mutant};
use state::State;

/// One sleepy worker at a time. See the [module](self) for how it works and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sleepy;

impl Sleepy {
    const NAME: &str = "sleepy";

    /// Wakes everybody. The caller has executed a fence since it published its news.
    fn tickle(house: &House, reason: Reason) {
        let state = State::of(house);
        if state.is_quiet() {
            return;
        }
        // WAKE: a sleepy worker finds that it is not the sleepy one any more, and does not sleep. If the bit was set, some sleep, or are
        // about to; each has made its bed before it set the bit. Where there is a census they are all awake to it in the same step in which
        // the word says so, and with it to those who will therefore not tickle again.
        if mutant::active("sleepy/clear-uncounted") {
            if state.clear() {
                house.wake_all_if(|| true, reason, || {});
            }
            return;
        }
        let somebody_sleeps = || state.clear() && !mutant::active("sleepy/tickle-leaves-sleepers");
        house.wake_all_if(somebody_sleeps, reason, || {});
    }
}

impl Protocol for Sleepy {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// A latch that is set tickles everyone, as all news does; nobody needs to know who waits for what.
    fn tells_latch(&self) -> bool {
        false
    }

    fn announce(&self, house: &House, worker: usize) -> Option<Announcement> {
        let announced = State::of(house).get_sleepy(worker)?;
        // ORDERING: pairs with the fence of whoever has news. Either it sees us sleepy after its fence, or we see its news after
        // ours. Heavy, since workers that post execute a light one, and the word does not say whether any is active.
        if !mutant::active("sleepy/no-announce-fence") {
            house.fence_against_posts(!mutant::active("sleepy/announce-fence-full"));
        }
        Some(announced)
    }

    fn cancel(&self, house: &House, announcement: Announcement) {
        if !mutant::active("sleepy/keeps-sleepy") {
            State::of(house).wake_up(announcement);
        }
    }

    fn commit<'look>(
        &self,
        house: &House,
        announcement: Announcement,
        recheck: Recheck<'look>,
    ) -> Result<Committed<'look>, Retreat> {
        let state = State::of(house);
        // WAKE: news older than our announcement are in sight now; younger ones have tickled, and the next step fails.
        let Some(committed) = recheck.nothing_to_do() else {
            state.wake_up(announcement);
            return Err(Retreat::StartOver);
        };
        if state.fall_asleep(announcement) { Ok(committed) } else { Err(Retreat::StartOver) }
    }

    fn post(&self, house: &House, posted: &Posted<'_>) {
        posted.expect_thieves();
        Self::tickle(house, Reason::Job);
    }

    fn latch_set(&self, house: &House, _owner: usize, _slept: bool, reason: Reason, _waker: Waker) {
        // ORDERING: the latch was set before; pairs with the fence of `announce`.
        if !mutant::active("sleepy/no-latch-fence") {
            full_fence("");
        }
        Self::tickle(house, reason);
    }

    fn broadcast(&self, house: &House) {
        Self::tickle(house, Reason::Broadcast);
    }

    fn is_clear(&self, word: u64) -> bool {
        // The bit that says that some sleep stays until the next tickle.
        word <= 1
    }
}
