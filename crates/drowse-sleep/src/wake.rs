//! Path of news to a sleeper: news, a decision, a claim, a wake-up.

use crate::slots::{Claim, Grip};
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

/// News for sleepers.
pub(crate) enum News<'a> {
    /// Jobs were posted to this queue.
    Jobs(&'a Posted, &'a dyn PostedTo),
    /// Jobs are visible whose posts relied on another thread and woke no worker.
    Baton(&'a Posted),
    /// Something that may concern all workers.
    Alert,
    /// Something for this worker only.
    For(usize),
}

/// Workers that a waker has claimed. Most wakes are of one worker and allocate nothing.
#[derive(Default)]
struct Claims {
    first: Option<(usize, Claim)>,
    others: Vec<(usize, Claim)>,
}

impl Claims {
    fn add(&mut self, worker: usize, claim: Claim) {
        match self.first {
            None => self.first = Some((worker, claim)),
            Some(_) => self.others.push((worker, claim)),
        }
    }

    fn get(&self, at: usize) -> Option<(usize, Claim)> {
        if at == 0 { self.first } else { self.others.get(at - 1).copied() }
    }
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
        if by_worker && self.defer_post() {
            return;
        }
        let posted = self.posted(jobs, by_worker, queue.was_empty());
        let waker = if by_worker { Waker::GoesOn } else { Waker::MayStop };
        self.wake(Reason::Job, waker, &News::Jobs(&posted, queue));
    }

    #[inline(never)]
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
        if slept || !self.word.rules.counts_heads {
            self.latch_set_cold(owner, slept, reason, waker());
        }
    }

    #[cold]
    fn latch_set_cold(&self, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        if slept {
            // WAKE: the owner sleeps on this latch or is about to. Or `Slots::claim` finds it
            // awake: another waker has claimed it, it got up by itself, or it has left its slot.
            // Then it has not yet called `LatchWord::tell_awake`, and probes the latch after that.
            self.wake(reason, waker, &News::For(owner));
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
        self.wake(reason, Waker::MayStop, &News::Alert);
    }

    /// Passes the baton: wakes a sleeper in place of the last searcher.
    pub(crate) fn wake_for_baton(&self) {
        self.wake_in_place_of_posts(Reason::Baton, Waker::GoesOn);
    }

    /// Wakes workers for jobs whose posts relied on another thread and woke none.
    #[inline(never)]
    pub(crate) fn wake_in_place_of_posts(&self, reason: Reason, waker: Waker) {
        if !self.word.rely() {
            let posted = self.posted(self.baton_jobs(), true, false);
            self.wake(reason, waker, &News::Baton(&posted));
        }
    }

    /// Wakes the workers that the news calls for.
    ///
    /// All of them are claimed and uncounted before the first one is unparked. Otherwise it could
    /// take itself for the last searcher while the others are on their way. With deadlock detection
    /// the decision, the claims and the census are one step under the detector's lock, so the
    /// census never shows all workers asleep or blocked in between, even if the first one runs and
    /// blocks before the others are unparked.
    #[inline(never)]
    pub(crate) fn wake(&self, reason: Reason, waker: Waker, news: &News<'_>) {
        if self.is_left_behind() {
            return;
        }
        let hold = waker == Waker::GoesOn && self.placement.is_on();
        let grip = if hold { Grip::Hold } else { Grip::LetGo };
        let mut claims = Claims::default();
        match &self.detector {
            None => self.claim(self.decide(news), news, grip, &mut claims),
            Some(detector) => {
                let early = faulty!("sleep/decides-unlocked", None, Some(self.decide(news)));
                detector.wake(&mut |awake| {
                    let wake = early.unwrap_or_else(|| self.decide(news));
                    self.claim(wake, news, grip, &mut claims);
                    let mut at = 0;
                    while let Some((worker, claim)) = claims.get(at) {
                        omittable!("detector/wake-one-by-one", awake(worker, claim));
                        at += 1;
                    }
                });
            }
        }
        let mut at = 0;
        while let Some((worker, claim)) = claims.get(at) {
            faulty!("detector/wake-one-by-one", (), self.count_awake(worker, claim));
            self.unpark(worker, claim, reason);
            at += 1;
        }
    }

    /// Decides which workers to wake.
    fn decide(&self, news: &News<'_>) -> Wake {
        let wake = match news {
            News::Jobs(posted, queue) => {
                let wake = self.word.post(posted);
                if !matches!(wake, Wake::Nobody | Wake::Any(0)) {
                    queue.expect_thieves();
                }
                wake
            }
            News::Baton(posted) => self.word.baton(posted),
            News::Alert => self.word.alert(),
            News::For(worker) => Wake::Only(*worker),
        };
        self.or_place_sentry(wake)
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
        // WAKE: posts that relied on the flag read the word before `end_all_promises` changed it.
        // The acquire of that change shows us the prepared slots of all workers counted by then, so
        // `claim` finds one, unless other wakers have claimed them all.
        self.end_all_promises();
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
    #[inline(never)]
    fn claim(&self, wake: Wake, news: &News<'_>, grip: Grip, claims: &mut Claims) {
        let seats = self.seats_in_use();
        let mut wanted = match wake {
            Wake::Nobody | Wake::Sentry => return,
            Wake::Only(worker) => {
                self.claim_one(worker, true, grip, claims);
                return;
            }
            Wake::Any(wanted) => wanted,
            Wake::All => usize::MAX,
        };
        // If there is a choice, one worker comes first, and workers that have a thread come before
        // those without.
        let can_choose = wanted != usize::MAX;
        let preferred = match news {
            News::Jobs(_, queue) if can_choose && wanted > 0 => queue.preferred(),
            _ => None,
        };
        for pass in 0..if can_choose { self.passes() } else { 1 } {
            let mut next = preferred.filter(|worker| *worker < seats);
            let mut others = 0..seats;
            while wanted > 0 {
                let Some(worker) = next.take().or_else(|| others.next()) else { break };
                if !(can_choose && self.passes_by(worker, pass == 0)) {
                    wanted -= usize::from(self.claim_one(worker, false, grip, claims));
                }
            }
        }
    }

    /// Claims this worker, if it sleeps or is about to; `by_name` if no other would do. Returns
    /// `false` if it is awake.
    ///
    /// Uncounts it if it slept. So the counts are right from this moment on, not only when the
    /// system runs the woken thread. A worker that was stopped before it slept uncounts itself.
    #[inline(never)]
    fn claim_one(&self, worker: usize, by_name: bool, grip: Grip, claims: &mut Claims) -> bool {
        let claim = if by_name {
            self.slots.claim_by_name(worker, grip)
        } else {
            self.slots.claim(worker, grip)
        };
        if claim.was_counted() {
            omittable!("sleep/no-uncount-by-waker", self.word.uncount());
        }
        if claim == Claim::Relieved {
            self.end_all_promises();
        }
        let is_claimed = claim != Claim::Awake;
        if is_claimed {
            claims.add(worker, claim);
        }
        is_claimed
    }

    /// Wakes a worker that the caller has claimed.
    fn unpark(&self, worker: usize, claim: Claim, reason: Reason) {
        let seat = &self.seats[worker];
        if !claim.slept() {
            return seat.meter.kept_awake.add(1);
        }
        seat.meter.count_wake(reason);
        self.observe(|observer| observer.wake(worker, reason));
        if claim == Claim::Held {
            self.placement.send_elsewhere(seat, self.up(), self.now());
        }
        if claim == Claim::Absent {
            return self.start_absent(worker, reason);
        }
        // WAKE: since the claim only this thread can wake the worker.
        self.slots.unpark(worker, claim);
    }

    /// Returns how many workers are awake or being woken; all of them if the word does not tell.
    fn up(&self) -> usize {
        let heads = self.word.heads();
        self.seats_in_use() - heads.map_or(0, |heads| heads.sleeping.min(self.seats_in_use()))
    }
}
