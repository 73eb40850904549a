//! How sleepers are woken: news, a decision, a claim, a wake-up.

use crate::slots::{Claim, Grip};
use crate::word::Event;
use crate::{Posted, PostedTo, Reason, Sleep, Wake};
use drowse_sync::{faulty, full_fence, full_fence_after_rmw, omittable};

/// What becomes of whoever wakes a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waker {
    /// A worker that has more to do: its processor is not free.
    GoesOn,
    /// Anybody else: perhaps it sleeps next, and its processor is the best place for the one it
    /// wakes.
    MayStop,
}

impl Sleep {
    /// New work for anyone: `jobs` jobs were published by a worker that is active: not between
    /// [`start_looking`](Self::start_looking) and [`stop_looking`](Self::stop_looking). Wakes whom
    /// the protocol wants to wake.
    ///
    /// `queue` is where they are; it is asked only when somebody sleeps.
    ///
    /// When nobody sleeps or is sleepy, this is one load and one branch, whatever the protocol. The
    /// caller must have executed a [light fence](drowse_sync::light_fence) since it published the
    /// jobs, or a full one if it does not hold [`LightFences`](drowse_sync::LightFences).
    #[inline(always)]
    pub fn post(&self, jobs: usize, queue: &impl PostedTo) {
        // ORDERING: the caller's fence pairs with that of a worker that falls asleep, or passes the
        // baton.
        if self.word.wants_attention() {
            self.post_cold(jobs, true, queue);
        }
    }

    /// As [`post`](Self::post), for jobs that a thread which is not a worker put into the injector,
    /// by a read-modify-write, and has touched nothing else since.
    pub fn post_injected(&self, jobs: usize, queue: &impl PostedTo) {
        // ORDERING: pairs with the fence of a worker that falls asleep, or passes the baton.
        full_fence_after_rmw("sleep/no-post-fence");
        if self.word.wants_attention() {
            self.post_cold(jobs, false, queue);
        }
    }

    /// Whether a post would have anything to do.
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

    /// The latch of worker `owner` was set: `slept` is what
    /// [`LatchWord::set`](crate::LatchWord::set) said.
    ///
    /// `waker` tells what becomes of the calling thread; it is asked only if somebody may have to
    /// be woken.
    #[inline]
    pub fn latch_set(&self, owner: usize, slept: bool, reason: Reason, waker: impl FnOnce() -> Waker) {
        if slept || !self.rules.tells_latch {
            self.latch_set_cold(owner, slept, reason, waker());
        }
    }

    #[cold]
    fn latch_set_cold(&self, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        if slept {
            // WAKE: the owner is asleep, or about to be, on that very latch; or it has noticed.
            self.wake(reason, waker, &|| Wake::Only(owner));
        } else {
            // ORDERING: the latch was set before; pairs with the fence of a worker that announces.
            full_fence("sleep/no-latch-fence");
            self.alert(reason);
        }
    }

    /// Each worker was left a job that nobody else may run.
    pub fn post_broadcast(&self) {
        // ORDERING: pairs with the fence of a worker that falls asleep: we see that it does, or it
        // sees its job.
        full_fence("sleep/no-broadcast-fence");
        self.alert(Reason::Broadcast);
    }

    /// News for everybody. The caller has executed a full fence since.
    fn alert(&self, reason: Reason) {
        let change = || self.word.change(Event::Alert, |word| self.protocol.alert(word));
        self.wake(reason, Waker::MayStop, &change);
    }

    /// The baton: one sleeper takes the place of the last searcher.
    pub(crate) fn wake_for_baton(&self) {
        self.wake_in_place_of_posts(Reason::Baton, Waker::GoesOn);
    }

    /// Somebody sees that there is more to do than those do who are up, and that no post will wake
    /// anybody for it.
    pub(crate) fn wake_in_place_of_posts(&self, reason: Reason, waker: Waker) {
        let posted = self.posted(self.baton_jobs(), true, false);
        let decide = || self.word.change(Event::Baton, |word| self.protocol.baton(word, &posted));
        self.wake(reason, waker, &decide);
    }

    /// Wakes whom `decide` says.
    pub(crate) fn wake(&self, reason: Reason, waker: Waker, decide: &dyn Fn() -> Wake) {
        self.wake_preferring(None, reason, waker, decide);
    }

    /// Wakes whom `decide` says; if it leaves the choice, rather this one than others.
    ///
    /// All of them are claimed and uncounted before the first one is unparked: it must not take
    /// itself for the last who searches while others are on their way. Where there is a census, the
    /// decision, the claims and the census are one step: nobody finds the pool dead in between, and
    /// the first one may run and block before the others are unparked.
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
        // Most wakes are of one worker, and need no memory.
        let (mut first, mut others) = (None, Vec::new());
        let mut keep = |claimed| match first {
            None => first = Some(claimed),
            Some(_) => others.push(claimed),
        };
        match &self.detector {
            None => self.claim(decide(), preferred, grip, &mut |worker, claim| keep((worker, claim))),
            Some(detector) => {
                let early = faulty!("sleep/decides-unlocked", None, Some(decide()));
                detector.wake(&mut |awake| {
                    self.claim(early.unwrap_or_else(&decide), preferred, grip, &mut |worker, claim| {
                        omittable!("detector/wake-one-by-one", awake(worker, claim));
                        keep((worker, claim));
                    });
                });
            }
        }
        for (worker, claim) in first.into_iter().chain(others.iter().copied()) {
            faulty!("detector/wake-one-by-one", (), self.count_awake(worker, claim));
            self.unpark(worker, claim, reason);
        }
    }

    /// If a sentry will do, makes somebody that, and wakes nobody. If there is nobody to make it
    /// of, those who are counted as sleeping are about to, or were claimed by others: wakes one.
    fn or_place_sentry(&self, wake: Wake) -> Wake {
        if wake != Wake::Sentry {
            return wake;
        }
        if self.place_sentry() {
            return Wake::Nobody;
        }
        // WAKE: posts that relied on the flag did so before this; who sleeps by then is in its
        // slot.
        self.stand_down();
        omittable!("sentry/nobody-instead", return Wake::Any(1));
        Wake::Nobody
    }

    /// The fault: the census is told of one worker at a time.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    fn count_awake(&self, worker: usize, claim: Claim) {
        if let Some(detector) = &self.detector {
            detector.wake(&mut |awake| awake(worker, claim));
        }
    }

    /// Takes those out of their slots who are to be woken, and who sleep or are about to.
    ///
    /// Those who slept are uncounted: so the counts are true from this moment on, not from the
    /// moment at which the system gets round to running them. One that was stopped before uncounts
    /// itself.
    #[inline(never)]
    fn claim(&self, wake: Wake, preferred: Option<usize>, grip: Grip, claimed: &mut dyn FnMut(usize, Claim)) {
        let (candidates, mut wanted) = match wake {
            Wake::Nobody | Wake::Sentry => (0..0, 0),
            Wake::Any(wanted) => (0..self.seats_in_use(), wanted),
            Wake::Only(worker) => (worker..worker + 1, 1),
            Wake::All => (0..self.seats_in_use(), usize::MAX),
        };
        // Whoever can choose takes those first that have a thread.
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

    /// Wakes a worker that was claimed.
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
        // WAKE: the worker is ours since the claim; nobody else will wake it.
        self.slots.unpark(worker, claim);
    }

    /// How many workers are up, those on their way included; all of them if the word does not tell.
    fn up(&self) -> usize {
        let heads = self.protocol.heads(self.word.peek());
        self.seats_in_use() - heads.map_or(0, |heads| heads.sleeping.min(self.seats_in_use()))
    }

    /// A worker that has committed sleeps no more, or never did.
    pub(crate) fn uncount(&self) {
        self.word.change(Event::Uncount, |word| (self.protocol.uncount(word), ()));
    }
}
