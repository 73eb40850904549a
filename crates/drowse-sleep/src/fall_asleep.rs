//! Path of a worker from searching to sleeping.
//!
//! 1. After each empty search the worker calls `no_work_found`. The first calls only pause.
//! 2. `announce`: the worker becomes *sleepy*. It will sleep if the next few searches find nothing.
//! 3. `lie_down`: prepares the slot, marks the latch, counts the worker as sleeping, and takes the
//!    *last look* at the latch and all queues. News makes the worker idle again.
//!    (`Rules::last_look` states if the count or the look comes first.)
//! 4. `park`: the worker blocks until a waker claims its slot.
//!
//! No news is lost, because the last look comes after a step that posters can see (the count, or in
//! `sleepy` the announcement), with a fence in between. The last look finds the jobs posted before
//! the fence, and the poster of a later job sees the worker.

use crate::policy::ROUNDS_UNTIL_SLEEPY;
use crate::word::Event;
use crate::{Announcement, Baton, LastLook, LatchWord, Restart, Sleep};
use drowse_sync::{faulty, full_fence, heavy_fence, hint, look, omittable};
use std::time::Duration;

/// Progress of an inactive worker on its way to sleep.
#[derive(Debug)]
pub struct Idle {
    pub(crate) worker: usize,
    /// Empty searches so far.
    rounds: u32,
    /// Further empty searches, added while the worker [keeps watch](Sleep::keeps_watch).
    pub(crate) watched: u32,
    /// `Some` while the worker is sleepy.
    pub(crate) announcement: Option<Announcement>,
    /// `true` if the worker was woken and has found nothing since.
    woken: bool,
    /// `true` if the worker waits for a latch in the middle of a job.
    pub(crate) in_a_job: bool,
    /// `true` if the worker slept in its main loop for the idle timeout and got up because of that.
    pub(crate) bored: bool,
}

impl Idle {
    /// Returns the state of a worker that was just woken.
    pub(crate) fn of(worker: usize) -> Self {
        let announcement = None;
        Self {
            worker,
            rounds: 0,
            watched: 0,
            announcement,
            woken: true,
            in_a_job: false,
            bored: false,
        }
    }

    /// Returns `true` if the worker has slept for the idle timeout, so its thread may leave: see
    /// [`Sleep::with_absence`].
    pub fn is_bored(&self) -> bool {
        self.bored
    }

    /// Returns this state, marked as a wait in the middle of a job: the worker has not run out of
    /// work, and another thread works on what it waits for.
    #[must_use]
    pub fn in_a_job(self) -> Self {
        Self { in_a_job: true, ..self }
    }
}

/// Result of an attempt to fall asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bed {
    /// The worker is in its slot, counted as asleep, and may block.
    Is,
    /// There was news, or a waker claimed the slot first. The worker is idle.
    IsNot,
    /// The latch was set already, so it was not marked. The worker is idle.
    LatchIsSet,
}

/// Callbacks of the pool for a worker that falls asleep.
///
/// A closure can stand for a `Host`: it is [`work_visible`](Self::work_visible), and the other
/// methods do nothing.
pub trait Host {
    /// Returns `true` if there is a job, in any queue, that this worker could run.
    fn work_visible(&self) -> bool;

    /// Called when the worker is about to block.
    fn before_sleep(&self) {}

    /// Returns the time after which [`rest`](Self::rest) is called if the worker is still asleep.
    /// `None`: never.
    fn rests_after(&self) -> Option<Duration> {
        None
    }

    /// Puts away what the worker needs only while awake, such as spare memory. The worker counts as
    /// asleep meanwhile: it must not post, and a wake-up takes effect only when this returns.
    fn rest(&self) {}

    /// Called when the worker has been woken.
    fn after_sleep(&self) {}
}

impl<F: Fn() -> bool> Host for F {
    fn work_visible(&self) -> bool {
        self()
    }
}

impl Sleep {
    /// Begins a search: the worker found nothing in its own queue and will look elsewhere.
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

    /// Ends a search: the worker found a job, or its latch is set.
    ///
    /// `work_visible` returns `true` if any queue has a job for another worker: a post may have
    /// woken no worker because this one was searching.
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

    /// Returns `true` if the worker has only begun to search: it has done fewer empty searches than
    /// this pool's policy, and also the default policy, asks for before a worker becomes sleepy.
    pub fn has_just_begun(&self, idle: &Idle) -> bool {
        self.is_early(idle) && idle.rounds < ROUNDS_UNTIL_SLEEPY
    }

    fn is_early(&self, idle: &Idle) -> bool {
        idle.rounds < self.policy.rounds_until_sleepy
    }

    /// Handles an empty search: pauses, makes the worker sleepy, or puts it to sleep until it is
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
            // The protocol lets only one worker at a time be sleepy, and another one is. Pause,
            // whatever the policy, so that it can proceed.
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

    /// Returns `true` if enough other workers search, so that this one may become sleepy at once:
    /// see [`Rules::few_search`](crate::Rules).
    fn enough_search(&self) -> bool {
        self.rules.few_search
            && self.protocol.heads(self.word.peek()).is_some_and(|heads| {
                let others = heads.searching().saturating_sub(1);
                others >= 2 && 2 * others >= self.active(heads.inactive.min(self.seats_in_use()))
            })
    }

    /// Makes the worker sleepy. Returns `None` if the protocol does not allow that now.
    pub(crate) fn announce(&self, worker: usize) -> Option<Announcement> {
        let announcement =
            self.word.try_change(Event::Announce, |word| self.protocol.announce(word, worker))?;
        if self.rules.last_look == LastLook::BeforeCommit {
            // ORDERING: pairs with the fence before `post` and those in `post_injected`,
            // `post_broadcast` and `latch_set`. Either that thread sees us sleepy after its fence,
            // or the last look in `commit` sees its news after ours. Without a fence each could
            // miss the other.
            self.fence_against_posts("sleep/no-announce-fence", true);
        }
        self.observe(|observer| observer.sleepy(worker));
        Some(announcement)
    }

    /// Makes a sleepy worker idle.
    fn cancel(&self, announcement: Announcement) {
        let cancel = || {
            self.word.change(Event::Cancel, |word| (self.protocol.cancel(word, announcement), ()));
        };
        omittable!("sleep/stays-sleepy", cancel());
    }

    /// Takes a sleepy worker to sleep until it is woken, or back to idle.
    #[cold]
    fn fall_asleep(
        &self,
        idle: &mut Idle,
        announcement: Announcement,
        latch: &LatchWord,
        host: &dyn Host,
    ) {
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

    /// Takes all steps from sleepy to asleep, except for blocking. `enter` moves the prepared slot
    /// to a state in which the worker sleeps; it returns `false` if a waker claimed the slot first.
    pub(crate) fn lie_down(
        &self,
        worker: usize,
        announcement: Announcement,
        latch: &LatchWord,
        host: &dyn Host,
        enter: &dyn Fn() -> bool,
    ) -> Bed {
        omittable!("sleep/prepares-late", self.slots.prepare(worker));
        // WAKE: from here on the thread that sets the latch learns from `LatchWord::set` that it
        // must wake us. If the latch was set earlier, `tell_asleep` fails, and the worker's loop
        // probes the latch. (Without `tells_latch`, `latch_set` alerts all workers: either the last
        // look sees the latch set, or the alert has changed the word and `commit` fails.)
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

    /// Executes the last look and the protocol's step to sleep, in the order that
    /// [`Rules`](crate::Rules) states. Returns `false` if there is `news`; the worker is then not
    /// counted as sleeping.
    fn commit(&self, announcement: Announcement, news: &dyn Fn() -> bool) -> bool {
        let commit = || {
            let transition =
                |word| self.protocol.commit(word, announcement).map(|next| (next, next));
            self.word.try_change(Event::Commit, transition)
        };
        let news = || look!("sleep/no-last-look", news());
        match self.rules.last_look {
            LastLook::BeforeCommit => {
                // WAKE: the last look sees the news from before the announcement. Later news has
                // changed the word, so the step fails.
                if news() {
                    self.cancel(announcement);
                    return false;
                }
                commit().is_some()
            }
            LastLook::AfterCommit => {
                let Some(word) = commit() else { return false };
                // ORDERING: pairs with the fence before `post` and those in `post_injected` and
                // `post_broadcast`. Either the poster sees us counted, or our last look sees its
                // job. Without a fence each could miss the other.
                self.fence_against_posts("sleep/no-commit-fence", self.must_fence_posters(word));
                // WAKE: a later post sees us counted, finds our slot prepared and wakes us. The
                // last look sees an earlier job, unless another worker has taken it.
                let found = news();
                if found {
                    omittable!("sleep/stays-counted", self.uncount());
                }
                !found
            }
        }
    }

    /// Returns `true` if a worker that has just counted itself as sleeping needs the fence against
    /// workers that are in the middle of a post.
    ///
    /// It needs none in two cases:
    ///
    /// - No other worker is active. A worker that the word shows as inactive must change the word
    ///   (`stop_looking`) before it can post, and sees us counted then. The jobs that it pushed
    ///   before it became inactive are visible to us: its `start_looking` released them with the
    ///   word, and our `commit` acquired them.
    /// - Another worker searches. We may miss a job then. But the last worker to stop searching, to
    ///   sleep or to work, changes the word after us, executes the heavy fence (in `commit` or
    ///   `pass_the_baton`), and finds the job or wakes a worker.
    fn must_fence_posters(&self, word: u64) -> bool {
        let Some(heads) = self.protocol.heads(word) else { return true };
        let last_searcher = heads.searching() == 0;
        let last_searcher = faulty!(
            "sleep/only-the-first-fences",
            last_searcher,
            last_searcher && heads.sleeping == 1
        );
        last_searcher && self.active(heads.inactive) > faulty!("sleep/commit-miscounts", 0, 1)
    }

    fn active(&self, inactive: usize) -> usize {
        self.seats_in_use().saturating_sub(inactive)
    }

    /// Wakes a sleeper if there is a job. Called by the last worker to stop searching while others
    /// sleep: posts woke no worker because this one was searching.
    #[cold]
    fn pass_the_baton(&self, word: u64, work_visible: &dyn Fn() -> bool) {
        // The word already counts us as active.
        let ourselves = faulty!("sleep/baton-miscounts", 1, 2);
        let others_active =
            self.protocol.heads(word).is_none_or(|heads| self.active(heads.inactive) > ourselves);
        // A job that is visible without the fence saves the fence.
        let visible = work_visible() || {
            // ORDERING: pairs with the fence before `post` and that in `post_injected`. Either the
            // poster saw that we no longer search, and woke a worker, or we see its job now.
            // Without a fence each could miss the other.
            self.fence_against_posts("sleep/no-baton-fence", others_active);
            work_visible()
        };
        // WAKE: no worker searches, and no sleeper was woken for the posts that relied on our
        // search. If there is a job, one must be woken for it.
        if visible {
            self.wake_for_baton();
        }
    }

    /// Executes the sleeper's half of the fence pair; the poster executes its half between
    /// publishing jobs and reading the word. Posters outside the pool execute a full fence, which
    /// pairs with a full fence here. Workers execute a light fence only, which pairs with a heavy
    /// one.
    ///
    /// A worker reads the word not at every post, but at its next post after `alert_posters`.
    fn fence_against_posts(&self, name: &'static str, workers_may_post: bool) {
        // WAKE: from now on workers that post read the word.
        omittable!("sleep/no-alert", self.alert_posters());
        if workers_may_post {
            faulty!("sleep/heavy-is-full", heavy_fence(name), full_fence(name));
        } else {
            full_fence(name);
        }
    }

    /// Enters the slot, as the last step before the worker parks, `alone` or not. Returns `false`
    /// if a waker claimed the slot first.
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
        // After getting up by itself, as sentry or because it is bored, the worker searches only
        // once before it is sleepy again.
        idle.rounds = if by_itself { self.policy.rounds_until_sleepy } else { 0 };
        idle.watched = 0;
    }
}
