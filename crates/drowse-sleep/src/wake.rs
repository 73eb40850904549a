//! Path of news to a sleeper: news, a decision, a claim, a wake-up.

use crate::slots::{Claim, Grip};
use crate::word::Event;
use crate::{Posted, PostedTo, Reason, Sleep, Wake};
use drowse_sync::{faulty, full_fence, full_fence_after_rmw, omittable};

/// Next step of a waking thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waker {
    /// Goes on: a worker with more work to do, whose processor stays busy.
    GoesOn,
    /// May stop: any other thread. If it sleeps next, its processor is the best place for the woken
    /// worker.
    MayStop,
}

impl Sleep {
    /// Announces that an active worker has published `jobs` jobs. Wakes as many workers as the
    /// protocol decides. (A worker is active when it is not between
    /// [`start_looking`](Self::start_looking) and [`stop_looking`](Self::stop_looking).)
    ///
    /// `queue` is where the jobs are; it is asked only if a worker sleeps.
    ///
    /// If no worker sleeps or is sleepy, this is one load and one branch, whatever the protocol.
    /// The caller must have executed a [light fence](drowse_sync::light_fence) since it published
    /// the jobs, or a full one if it does not hold [`LightFences`](drowse_sync::LightFences).
    #[inline(always)]
    pub fn post(&self, jobs: usize, queue: &impl PostedTo) {
        // ORDERING: the caller's fence pairs with those in `announce`, `commit` and
        // `pass_the_baton`. Without it, we could miss a sleeper whose last look misses our job.
        if self.word.wants_attention() {
            self.post_cold(jobs, true, queue);
        }
    }

    /// Announces `jobs` jobs that a thread outside the pool has put into the injector by a
    /// read-modify-write. The thread must not have written anything else since.
    pub fn post_injected(&self, jobs: usize, queue: &impl PostedTo) {
        // ORDERING: pairs with the fences in `announce`, `commit` and `pass_the_baton`, as in
        // `post`.
        full_fence_after_rmw("sleep/no-post-fence");
        if self.word.wants_attention() {
            self.post_cold(jobs, false, queue);
        }
    }

    /// Returns `true` if a post would have to ask the protocol: workers sleep or are sleepy.
    pub fn has_sleepers(&self) -> bool {
        self.word.wants_attention()
    }

    #[cold]
    #[inline(never)]
    fn post_cold(&self, jobs: usize, by_worker: bool, queue: &dyn PostedTo) {
        if by_worker {
            self.end_grace();
        }
        let posted = self.posted(jobs, by_worker, queue.was_empty());
        let waker = if by_worker { Waker::GoesOn } else { Waker::MayStop };
        let decide = || {
            let wake = self.word.change(Event::Post, |word| self.protocol.post(word, &posted));
            if wake != Wake::Nobody && wake != Wake::Any(0) {
                queue.expect_thieves();
            }
            wake
        };
        self.wake_preferring(queue.preferred(), Reason::Job, waker, &decide);
    }

    fn posted(&self, jobs: usize, by_worker: bool, queue_was_empty: bool) -> Posted {
        Posted { jobs, by_worker, queue_was_empty, workers: self.seats_in_use(), room: self.room() }
    }

    /// Announces that the latch of worker `owner` was set. `slept` is the result of
    /// [`LatchWord::set`](crate::LatchWord::set).
    ///
    /// `waker` tells what the calling thread does next. It is called only if a worker may have to
    /// be woken.
    #[inline]
    pub fn latch_set(
        &self,
        owner: usize,
        slept: bool,
        reason: Reason,
        waker: impl FnOnce() -> Waker,
    ) {
        if slept || !self.rules.tells_latch {
            self.latch_set_cold(owner, slept, reason, waker());
        }
    }

    #[cold]
    fn latch_set_cold(&self, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        if slept {
            // WAKE: the owner sleeps on this latch or is about to. Or `Slots::claim` finds it
            // awake: another waker has claimed it, it got up by itself, or it has left its slot.
            // Then it has not yet called `LatchWord::tell_awake`, and probes the latch after that.
            self.wake(reason, waker, &|| Wake::Only(owner));
        } else {
            // ORDERING: pairs with the fence in `announce`, and comes after the latch was set.
            // Either we see the worker sleepy, or its last look sees the latch set.
            full_fence("sleep/no-latch-fence");
            self.alert(reason);
        }
    }

    /// Announces that each worker was left a job that no other worker may run.
    pub fn post_broadcast(&self) {
        // ORDERING: pairs with the fences in `announce` and `commit`. Either we see the worker
        // sleepy or counted, or its last look sees the job.
        full_fence("sleep/no-broadcast-fence");
        self.alert(Reason::Broadcast);
    }

    /// Alerts all workers. The caller has executed a full fence since it published the news.
    fn alert(&self, reason: Reason) {
        let change = || self.word.change(Event::Alert, |word| self.protocol.alert(word));
        self.wake(reason, Waker::MayStop, &change);
    }

    /// Passes the baton: wakes a sleeper in place of the last searcher.
    pub(crate) fn wake_for_baton(&self) {
        self.wake_in_place_of_posts(Reason::Baton, Waker::GoesOn);
    }

    /// Wakes workers for jobs whose posts relied on another thread and woke none.
    pub(crate) fn wake_in_place_of_posts(&self, reason: Reason, waker: Waker) {
        let posted = self.posted(self.baton_jobs(), true, false);
        let decide = || self.word.change(Event::Baton, |word| self.protocol.baton(word, &posted));
        self.wake(reason, waker, &decide);
    }

    /// Wakes the workers that `decide` returns.
    pub(crate) fn wake(&self, reason: Reason, waker: Waker, decide: &dyn Fn() -> Wake) {
        self.wake_preferring(None, reason, waker, decide);
    }

    /// Wakes the workers that `decide` returns. If it leaves the choice, `preferred` comes first.
    ///
    /// All of them are claimed and uncounted before the first one is unparked. Otherwise it could
    /// take itself for the last searcher while the others are on their way. With deadlock detection
    /// the decision, the claims and the census are one step under the detector's lock, so the
    /// census never shows all workers asleep or blocked in between, even if the first one runs and
    /// blocks before the others are unparked.
    #[inline(never)]
    fn wake_preferring(
        &self,
        preferred: Option<usize>,
        reason: Reason,
        waker: Waker,
        decide: &dyn Fn() -> Wake,
    ) {
        if self.is_left_behind() {
            return;
        }
        let decide = || self.or_place_sentry(decide());
        let hold = waker == Waker::GoesOn && self.placement.is_on();
        let grip = if hold { Grip::Hold } else { Grip::LetGo };
        // Most wakes are of one worker and allocate nothing.
        let (mut first, mut others) = (None, Vec::new());
        let mut keep = |claimed| match first {
            None => first = Some(claimed),
            Some(_) => others.push(claimed),
        };
        match &self.detector {
            None => {
                self.claim(decide(), preferred, grip, &mut |worker, claim| keep((worker, claim)))
            }
            Some(detector) => {
                let early = faulty!("sleep/decides-unlocked", None, Some(decide()));
                detector.wake(&mut |awake| {
                    self.claim(
                        early.unwrap_or_else(&decide),
                        preferred,
                        grip,
                        &mut |worker, claim| {
                            omittable!("detector/wake-one-by-one", awake(worker, claim));
                            keep((worker, claim));
                        },
                    );
                });
            }
        }
        for (worker, claim) in first.into_iter().chain(others.iter().copied()) {
            faulty!("detector/wake-one-by-one", (), self.count_awake(worker, claim));
            self.unpark(worker, claim, reason);
        }
    }

    /// Makes a sleeper the sentry if `wake` asks for one. Returns the wake that is left to do: one
    /// worker if no sleeper can be the sentry, because all that are counted are still on their way
    /// to sleep or were claimed by other wakers.
    fn or_place_sentry(&self, wake: Wake) -> Wake {
        if wake != Wake::Sentry {
            return wake;
        }
        if self.place_sentry() {
            return Wake::Nobody;
        }
        // WAKE: posts that relied on the flag read the word before `stand_down` changed it. The
        // acquire of that change shows us the prepared slots of all workers counted by then, so
        // `claim` finds one, unless other wakers have claimed them all.
        self.stand_down();
        omittable!("sentry/nobody-instead", return Wake::Any(1));
        Wake::Nobody
    }

    /// Tells the census of a single worker, for the fault `detector/wake-one-by-one`.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    fn count_awake(&self, worker: usize, claim: Claim) {
        if let Some(detector) = &self.detector {
            detector.wake(&mut |awake| awake(worker, claim));
        }
    }

    /// Claims the workers that `wake` names, as far as they sleep or are about to.
    ///
    /// Uncounts those that slept. So the counts are right from this moment on, not only when the
    /// system runs the woken threads. A worker that was stopped before it slept uncounts itself.
    #[inline(never)]
    fn claim(
        &self,
        wake: Wake,
        preferred: Option<usize>,
        grip: Grip,
        claimed: &mut dyn FnMut(usize, Claim),
    ) {
        let (candidates, mut wanted) = match wake {
            Wake::Nobody | Wake::Sentry => (0..0, 0),
            Wake::Any(wanted) => (0..self.seats_in_use(), wanted),
            Wake::Only(worker) => (worker..worker + 1, 1),
            Wake::All => (0..self.seats_in_use(), usize::MAX),
        };
        // If there is a choice, workers that have a thread come first.
        let can_choose = matches!(wake, Wake::Any(_));
        let preferred = preferred.filter(|worker| can_choose && candidates.contains(worker));
        let candidates = preferred.into_iter().chain(candidates);
        let passes = if can_choose { self.passes() } else { 1 };
        for (pass, worker) in
            (0..passes).flat_map(|pass| candidates.clone().map(move |worker| (pass, worker)))
        {
            if wanted == 0 {
                break;
            }
            if can_choose && self.passes_by(worker, pass == 0) {
                continue;
            }
            let claim = match wake {
                Wake::Only(_) => self.slots.claim_by_name(worker, grip),
                _ => self.slots.claim(worker, grip),
            };
            if claim.was_counted() {
                omittable!("sleep/no-uncount-by-waker", self.uncount());
            }
            if claim == Claim::Relieved {
                self.stand_down();
            }
            if claim != Claim::Awake {
                wanted -= 1;
                claimed(worker, claim);
            }
        }
    }

    /// Wakes a worker that the caller has claimed.
    fn unpark(&self, worker: usize, claim: Claim, reason: Reason) {
        let meter = &self.meters[worker];
        if !claim.slept() {
            return meter.kept_awake.add(1);
        }
        meter.count_wake(reason);
        self.observe(|observer| observer.wake(worker, reason));
        if claim == Claim::Held {
            self.placement.send_elsewhere(worker, self.up(), self.clock.elapsed(), meter);
        }
        if claim == Claim::Absent {
            return self.start_absent(worker, reason);
        }
        // WAKE: since the claim only this thread can wake the worker.
        self.slots.unpark(worker, claim);
    }

    /// Returns how many workers are awake or being woken; all of them if the word does not tell.
    fn up(&self) -> usize {
        let heads = self.protocol.heads(self.word.peek());
        self.seats_in_use() - heads.map_or(0, |heads| heads.sleeping.min(self.seats_in_use()))
    }

    /// Takes a worker off the count of the sleeping: it was woken, or has committed and did not
    /// sleep.
    pub(crate) fn uncount(&self) {
        // A waker that claims a sleeper by its latch need not have seen the sleeper's `commit`: the
        // first word that it loads may be older, and the exchange fails then.
        let seen = self.word.change(Event::Uncount, |word| (self.protocol.uncount(word), word));
        debug_assert!(
            self.protocol.heads(seen).is_none_or(|heads| heads.sleeping > 0),
            "{seen:#x}"
        );
    }
}
