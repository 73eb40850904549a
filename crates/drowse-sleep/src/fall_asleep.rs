//! How a worker falls asleep: it searches, announces, commits, looks again, parks.

use crate::policy::ROUNDS_UNTIL_SLEEPY;
use crate::word::Event;
use crate::{Announcement, Baton, LastLook, LatchWord, Restart, Sleep};
use drowse_sync::{faulty, full_fence, heavy_fence, hint, look, omittable};
use std::time::Duration;

/// How far an inactive worker has got on its way to sleep.
#[derive(Debug)]
pub struct Idle {
    pub(crate) worker: usize,
    /// Empty searches so far.
    rounds: u32,
    /// Empty searches on watch, after those.
    pub(crate) watched: u32,
    /// There while the worker is sleepy.
    pub(crate) announcement: Option<Announcement>,
    /// The worker was woken, and has found nothing since.
    woken: bool,
    /// It waits for something in the middle of a job.
    pub(crate) in_a_job: bool,
    /// It has slept for long, in its main loop, and got up because of that.
    pub(crate) bored: bool,
}

impl Idle {
    /// Of a worker that was woken.
    pub(crate) fn of(worker: usize) -> Self {
        let announcement = None;
        Self { worker, rounds: 0, watched: 0, announcement, woken: true, in_a_job: false, bored: false }
    }

    /// Whether the worker has slept for so long that its thread may leave: see
    /// [`Sleep::with_absence`].
    pub fn is_bored(&self) -> bool {
        self.bored
    }

    /// The worker has not run out of work: it waits in the middle of a job, and somebody is on it.
    #[must_use]
    pub fn in_a_job(self) -> Self {
        Self { in_a_job: true, ..self }
    }
}

/// What came of an attempt to fall asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bed {
    /// The worker is in its slot, counted as asleep, and may block.
    Is,
    /// There was news, or a waker was quicker. The worker is idle.
    IsNot,
    /// The latch is set, and was not told. The worker is idle.
    LatchIsSet,
}

/// The pool, as a worker's sleep sees it: what it must know of the pool, and what the pool wants to
/// know of it.
///
/// A closure that tells whether there is work will do where nobody wants to know anything.
pub trait Host {
    /// Whether there is a job, in any queue, that this worker could run.
    fn work_visible(&self) -> bool;

    /// The worker is about to block.
    fn before_sleep(&self) {}

    /// If the worker is still asleep after this time, it [rests](Self::rest). `None`: it need not.
    fn rests_after(&self) -> Option<Duration> {
        None
    }

    /// The worker has slept for that long, and may put away what it would need again if it had been
    /// woken by now. It counts as asleep meanwhile: it must not post, and whoever wakes it waits.
    fn rest(&self) {}

    /// The worker has been woken.
    fn after_sleep(&self) {}
}

impl<F: Fn() -> bool> Host for F {
    fn work_visible(&self) -> bool {
        self()
    }
}

impl Sleep {
    /// The worker found nothing in its own queue and begins to search elsewhere.
    pub fn start_looking(&self, worker: usize) -> Idle {
        self.not_stuck(worker);
        self.word.change(Event::StartLooking, |word| (self.protocol.start_looking(word), ()));
        self.observe(|observer| observer.idle(worker));
        Idle {
            worker,
            rounds: self.head_start(worker),
            watched: 0,
            announcement: None,
            woken: false,
            in_a_job: false,
            bored: false,
        }
    }

    /// The worker stops searching: it found a job, or its latch is set.
    ///
    /// `work_visible` tells whether there is a job, in any queue, for somebody else: a post may
    /// have counted on this worker.
    pub fn stop_looking(&self, idle: Idle, work_visible: impl Fn() -> bool) {
        if let Some(announcement) = idle.announcement {
            self.cancel(announcement);
        }
        let (word, baton) = self.word.change(Event::StopLooking, |word| {
            let (word, baton) = self.protocol.stop_looking(word);
            (word, (word, baton))
        });
        if baton == Baton::Pass {
            omittable!("sleep/no-baton", self.pass_the_baton(word, &work_visible));
        }
        self.observe(|observer| observer.active(idle.worker));
    }

    /// Whether the worker has only begun to search: it would not get sleepy yet, nor if it were as
    /// patient as workers are by default.
    pub fn has_just_begun(&self, idle: &Idle) -> bool {
        self.is_early(idle) && idle.rounds < ROUNDS_UNTIL_SLEEPY
    }

    fn is_early(&self, idle: &Idle) -> bool {
        idle.rounds < self.policy.rounds_until_sleepy
    }

    /// The worker searched everywhere and found nothing. Pauses, gets sleepy, or sleeps until
    /// woken.
    ///
    /// `latch` is what the worker waits for.
    pub fn no_work_found(&self, idle: &mut Idle, latch: &LatchWord, host: &dyn Host) {
        let sleepy_at = self.policy.rounds_until_sleepy;
        if self.is_early(idle) && !self.enough_search() {
            idle.rounds += 1;
            return self.policy.pause.pause();
        }
        idle.rounds = idle.rounds.max(sleepy_at);
        if idle.announcement.is_none() && self.keeps_watch(idle) {
            idle.watched += 1;
            return self.policy.pause.pause();
        }
        if idle.announcement.is_none() {
            idle.announcement = self.announce(idle.worker);
        }
        if idle.announcement.is_none() {
            // Another worker stands in the way, for a moment. Whatever the policy, let it get on.
            hint::spin_loop();
            return self.policy.pause.pause();
        }
        if idle.rounds < sleepy_at.saturating_add(self.policy.rounds_while_sleepy) {
            if idle.rounds > sleepy_at {
                self.policy.pause.pause();
            }
            idle.rounds += 1;
        } else if let Some(announcement) = idle.announcement.take() {
            self.fall_asleep(idle, announcement, latch, host);
        }
    }

    /// Whether this worker, which searches, need not: see [`Rules::few_search`](crate::Rules).
    fn enough_search(&self) -> bool {
        self.rules.few_search
            && self.protocol.heads(self.word.peek()).is_some_and(|heads| {
                let others = heads.searching().saturating_sub(1);
                others >= 2 && 2 * others >= self.active(heads.inactive.min(self.seats_in_use()))
            })
    }

    /// Idle to sleepy.
    pub(crate) fn announce(&self, worker: usize) -> Option<Announcement> {
        let announcement =
            self.word.try_change(Event::Announce, |word| self.protocol.announce(word, worker))?;
        if self.rules.last_look == LastLook::BeforeCommit {
            // ORDERING: pairs with the fence of whoever has news. Either it sees us sleepy after
            // its fence, or we see its news after ours.
            self.fence_against_posts("sleep/no-announce-fence", true);
        }
        self.observe(|observer| observer.sleepy(worker));
        Some(announcement)
    }

    /// Sleepy to idle.
    fn cancel(&self, announcement: Announcement) {
        let cancel = || {
            self.word.change(Event::Cancel, |word| (self.protocol.cancel(word, announcement), ()));
        };
        omittable!("sleep/stays-sleepy", cancel());
    }

    /// Sleepy to asleep, until somebody wakes the worker; or back to idle.
    #[cold]
    fn fall_asleep(&self, idle: &mut Idle, announcement: Announcement, latch: &LatchWord, host: &dyn Host) {
        let worker = idle.worker;
        self.placement.settle(worker);
        match self.lie_down(worker, announcement, latch, host, &|| self.slots.enter(worker)) {
            Bed::LatchIsSet => return,
            Bed::IsNot => idle.rounds = self.round_after_news(),
            Bed::Is => self.park(idle, host),
        }
        if self.rules.tells_latch {
            latch.tell_awake();
        }
    }

    /// All that it takes to go from sleepy to asleep, but the sleep. `enter` is the step into the
    /// slot; false if a waker was quicker.
    pub(crate) fn lie_down(
        &self,
        worker: usize,
        announcement: Announcement,
        latch: &LatchWord,
        host: &dyn Host,
        enter: &dyn Fn() -> bool,
    ) -> Bed {
        omittable!("sleep/prepares-late", self.slots.prepare(worker));
        // WAKE: from here on a setter of the latch wakes us, and the worker's loop probes the latch
        // if we come too late for that. (Where the latch is not told, the last look and the word
        // see to it.)
        if self.rules.tells_latch && !latch.tell_asleep() {
            omittable!("sleep/no-leave-when-set", self.slots.leave(worker));
            self.cancel(announcement);
            return Bed::LatchIsSet;
        }
        let news = || look!("sleep/latch-overlooked", latch.probe()) || host.work_visible();
        if !self.commit(announcement, &news) {
            omittable!("sleep/no-leave-after-news", self.slots.leave(worker));
            return Bed::IsNot;
        }
        faulty!("sleep/prepares-late", (), self.slots.prepare(worker));
        if self.enter_slot(worker, false, enter) {
            return Bed::Is;
        }
        omittable!("sleep/no-uncount-when-stopped", self.uncount());
        Bed::IsNot
    }

    fn round_after_news(&self) -> u32 {
        match self.rules.after_news {
            Restart::BeforeSleepy => self.policy.rounds_until_sleepy,
            Restart::FirstRound => 0,
        }
    }

    /// The protocol's step to sleep, and the last look, in the order that its rules say. False if
    /// there is `news`: then the worker is counted no more.
    fn commit(&self, announcement: Announcement, news: &dyn Fn() -> bool) -> bool {
        let commit = || {
            let transition = |word| self.protocol.commit(word, announcement).map(|next| (next, next));
            self.word.try_change(Event::Commit, transition)
        };
        let news = || look!("sleep/no-last-look", news());
        match self.rules.last_look {
            LastLook::BeforeCommit => {
                // WAKE: news older than the announcement is in sight now; younger news has changed
                // the word, and the step fails.
                if news() {
                    self.cancel(announcement);
                    return false;
                }
                commit().is_some()
            }
            LastLook::AfterCommit => {
                let Some(word) = commit() else { return false };
                // ORDERING: pairs with the fence of a post. Either that post sees us counted, or we
                // see its job.
                self.fence_against_posts("sleep/no-commit-fence", self.must_fence_posters(word));
                // WAKE: whoever posts from now on sees us counted and finds our slot prepared. What
                // was posted before is in sight, unless somebody has taken it.
                let found = news();
                if found {
                    omittable!("sleep/stays-counted", self.uncount());
                }
                !found
            }
        }
    }

    /// Whether a worker that has just counted itself as sleeping must reckon with workers that are
    /// in the middle of a post.
    ///
    /// Not if none is active: a worker that the counts show inactive must change them before it can
    /// post, and will see us there; what it pushed before it became inactive we have acquired with
    /// them. Nor while another worker searches: we may miss a job then, but the last one to stop
    /// searching, be it to sleep or to work, changes the counts after us, executes the heavy fence,
    /// and finds the job or wakes somebody.
    fn must_fence_posters(&self, word: u64) -> bool {
        let Some(heads) = self.protocol.heads(word) else { return true };
        let last_searcher = heads.searching() == 0;
        let last_searcher =
            faulty!("sleep/only-the-first-fences", last_searcher, last_searcher && heads.sleeping == 1);
        last_searcher && self.active(heads.inactive) > faulty!("sleep/commit-miscounts", 0, 1)
    }

    fn active(&self, inactive: usize) -> usize {
        self.seats_in_use().saturating_sub(inactive)
    }

    /// The last one to stop searching while others sleep sees to what posts have left to it.
    #[cold]
    fn pass_the_baton(&self, word: u64, work_visible: &dyn Fn() -> bool) {
        // We are active ourselves by now.
        let ourselves = faulty!("sleep/baton-miscounts", 1, 2);
        let others_active =
            self.protocol.heads(word).is_none_or(|heads| self.active(heads.inactive) > ourselves);
        // What can be seen without a fence needs none.
        let visible = work_visible() || {
            // ORDERING: pairs with the fence of a post. Either that post saw us gone from the idle,
            // and woke somebody, or we see its job now.
            self.fence_against_posts("sleep/no-baton-fence", others_active);
            work_visible()
        };
        // WAKE: the others sleep and nobody searches. If there is work, one of them must wake for
        // it.
        if visible {
            self.wake_for_baton();
        }
    }

    /// The other half of the fences that posts execute between publishing their jobs and reading
    /// the word. A post from outside has executed a full fence, and a full one of ours will do. A
    /// worker has executed a light one, which takes a heavy one.
    ///
    /// Workers do not read the word with each post, but with the next one after they were alerted.
    fn fence_against_posts(&self, name: &'static str, workers_may_post: bool) {
        // WAKE: from now on workers that post look for us.
        omittable!("sleep/no-alert", self.alert_posters());
        if workers_may_post {
            faulty!("sleep/heavy-is-full", heavy_fence(name), full_fence(name));
        } else {
            full_fence(name);
        }
    }

    /// The last step before the worker parks, `alone` or not. False if a waker was quicker.
    pub(crate) fn enter_slot(&self, worker: usize, alone: bool, enter: &dyn Fn() -> bool) -> bool {
        match &self.detector {
            None => enter(),
            Some(detector) => detector.fall_asleep(worker, alone, enter),
        }
    }

    /// Blocks a worker that has entered its slot.
    fn park(&self, idle: &mut Idle, host: &dyn Host) {
        let meter = &self.meters[idle.worker];
        if idle.woken {
            meter.fruitless.add_mine(1);
            self.woken_for_nothing();
        }
        self.not_stuck(idle.worker);
        self.observe(|observer| observer.asleep(idle.worker));
        host.before_sleep();
        let since = self.clock.elapsed();
        if meter.sleeps.get() == 0 {
            self.room.report();
        }
        meter.park(since);
        let by_itself = self.park_somehow(idle, host);
        let now = self.clock.elapsed();
        self.placement.arrive(idle.worker, now, meter);
        meter.unpark(since, now, idle.in_a_job);
        host.after_sleep();
        self.observe(|observer| observer.awake(idle.worker));
        idle.woken = true;
        // One look shows whether it was right to get up.
        idle.rounds = if by_itself { self.policy.rounds_until_sleepy } else { 0 };
        idle.watched = 0;
    }
}
