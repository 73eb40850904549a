//! Path of a worker from searching to sleeping.
//!
//! 1. After each empty search the worker calls `no_work_found`. It only pauses until the worker has
//!    made `rounds_until_sleepy` searches; fewer if it has never slept or enough others search,
//!    more while it keeps watch.
//! 2. `announce`: the worker becomes *sleepy*, and searches `rounds_while_sleepy` more times: once,
//!    by default.
//! 3. `lie_down`: prepares the slot, marks the latch, counts the worker as sleeping, and takes the
//!    *last look* at the latch and all queues. If it finds news, the worker is not counted any
//!    more, and searches on. (`Rules::counts_heads` states if the count or the look comes first.)
//! 4. `park`: the worker blocks until a waker claims its slot, or until it gets up by itself, as
//!    sentry or after the idle timeout.
//!
//! No news is lost, because the last look comes after a step that posters can see (the count, or in
//! `sleepy` the announcement), with a fence in between. The last look finds the jobs posted before
//! the fence, and the poster of a later job sees the worker. There is one exception: a worker that
//! falls asleep while another one searches may miss the job of a third worker that misses it.
//! `must_fence_posters` argues that a searching worker finds the job.

use crate::policy::ROUNDS_UNTIL_SLEEPY;
use crate::{Announcement, Baton, LatchWord, Sleep};
use drowse_sync::{faulty, full_fence, heavy_fence, hint, look, omittable};
use std::time::Duration;

/// State of a worker from `start_looking` to `stop_looking`.
#[derive(Debug)]
pub struct Idle {
    pub(crate) worker: usize,
    /// Empty searches so far.
    rounds: u32,
    /// Further empty searches, added while the worker [keeps watch](Sleep::keeps_watch).
    pub(crate) watched: u32,
    /// `Some` while the worker is sleepy.
    pub(crate) announcement: Option<Announcement>,
    /// `true` if the worker has slept, however it got up, and has found nothing since.
    woken: bool,
    /// `true` if the worker waits for a latch in the middle of a job.
    pub(crate) in_a_job: bool,
    /// `true` if the worker slept in its main loop for the idle timeout and got up because of that.
    pub(crate) bored: bool,
}

impl Idle {
    /// Returns the state of a worker that has done this many `rounds`, and was `woken` before.
    pub(crate) fn new(worker: usize, rounds: u32, woken: bool) -> Self {
        let announcement = None;
        Self { worker, rounds, watched: 0, announcement, woken, in_a_job: false, bored: false }
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
pub(crate) enum SleepAttempt {
    /// The worker is in its slot, counted as asleep, and may block.
    Committed,
    /// There was news, or a waker claimed the slot first. The worker is idle.
    Aborted,
    /// The latch was set already, so it was not marked. The worker is idle.
    LatchSet,
}

/// Last step of a worker on its way to sleep, from a prepared slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastStep {
    /// It parks.
    Park,
    /// It parks, and is not counted as sleeping: it sleeps alone.
    ParkAlone,
    /// It is a guest, and vacates the seat.
    Vacate,
    /// Its thread ends.
    Depart,
}

/// Callbacks of the pool for a worker that falls asleep.
///
/// A closure can stand for a `Host`: it is [`work_visible`](Self::work_visible), and the other
/// methods do nothing.
pub trait Host {
    /// Returns `true` if the worker must not block: a queue holds a job that it could run, or
    /// there is something that it alone can do.
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
        self.word.start_looking();
        self.observe(|observer| observer.idle(worker));
        Idle::new(worker, self.head_start(worker), false)
    }

    /// Ends a search, whatever its result: the worker is active from now on.
    ///
    /// `work_visible` returns `true` if any queue has a job for another worker: a post may have
    /// woken no worker because this one was searching.
    pub fn stop_looking(&self, idle: Idle, work_visible: impl Fn() -> bool) {
        if let Some(announcement) = idle.announcement {
            self.cancel(announcement);
        }
        let (word, baton) = self.word.stop_looking();
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
        self.word.rules.few_search
            && self.word.heads().is_some_and(|heads| {
                let others = heads.searching().saturating_sub(1);
                others >= 2 && 2 * others >= self.active(heads.inactive.min(self.seats_in_use()))
            })
    }

    /// Makes the worker sleepy. Returns `None` if the protocol does not allow that now.
    #[cold]
    #[inline(never)]
    pub(crate) fn announce(&self, worker: usize) -> Option<Announcement> {
        let announcement = self.word.announce(worker)?;
        if !self.word.rules.counts_heads {
            // ORDERING: a heavy fence; pairs with the fence of a push (light in `Private::push`, or
            // full) and with the full fences in `post_injected`, `post_broadcast` and
            // `latch_set_cold`. Either that thread reads the word after its fence and finds this
            // worker sleepy, or the last look in `commit` sees its news. Without a fence each could
            // miss the other.
            self.fence_against_posts("sleep/no-announce-fence", true);
        }
        self.observe(|observer| observer.sleepy(worker));
        Some(announcement)
    }

    /// Makes a sleepy worker idle.
    fn cancel(&self, announcement: Announcement) {
        omittable!("sleep/stays-sleepy", self.word.cancel(announcement));
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
        self.placement.settle(&self.seats[worker]);
        match self.lie_down(worker, announcement, latch, host, LastStep::Park) {
            SleepAttempt::LatchSet => return,
            SleepAttempt::Aborted => idle.rounds = self.round_after_news(),
            SleepAttempt::Committed => self.park(idle, host),
        }
        if self.word.rules.counts_heads {
            latch.tell_awake();
        }
    }

    /// Takes all steps from sleepy to asleep, except for blocking.
    pub(crate) fn lie_down(
        &self,
        worker: usize,
        announcement: Announcement,
        latch: &LatchWord,
        host: &dyn Host,
        step: LastStep,
    ) -> SleepAttempt {
        omittable!("sleep/prepares-late", self.slots.prepare(worker));
        // WAKE: from here on the thread that sets the latch learns from `LatchWord::set` that it
        // must wake this worker, by `Sleep::wake`. If the latch was set earlier, `tell_asleep`
        // fails, and the worker's loop probes the latch. (Without `counts_heads`, `latch_set_cold`
        // alerts all workers. An alert before the announcement: the last look sees the latch set.
        // Between announcement and `commit`: it changes the word, and `commit` fails. After
        // `commit`: it claims the slot.)
        if self.word.rules.counts_heads && !latch.tell_asleep() {
            omittable!("sleep/no-leave-when-set", self.slots.leave(worker));
            self.cancel(announcement);
            return SleepAttempt::LatchSet;
        }
        if !self.commit(announcement, latch, host) {
            omittable!("sleep/no-leave-after-news", self.slots.leave(worker));
            return SleepAttempt::Aborted;
        }
        faulty!("sleep/prepares-late", (), self.slots.prepare(worker));
        if self.enter_slot(worker, step) {
            return SleepAttempt::Committed;
        }
        omittable!("sleep/no-uncount-when-stopped", self.word.uncount());
        SleepAttempt::Aborted
    }

    fn round_after_news(&self) -> u32 {
        if self.word.rules.counts_heads { self.policy.rounds_until_sleepy } else { 0 }
    }

    /// Executes the last look and the protocol's step to sleep, in the order that
    /// [`Rules`](crate::Rules) states. Returns `false` if there is news; the worker is then not
    /// counted as sleeping.
    fn commit(&self, announcement: Announcement, latch: &LatchWord, host: &dyn Host) -> bool {
        if !self.word.rules.counts_heads {
            // WAKE: the last look sees the news from before the announcement. After that,
            // `Protocol::post` and `Protocol::alert` change the word: before this step, and it
            // fails; or after it, and then `Sleep::claim` finds the slot prepared.
            if has_news(latch, host) {
                self.cancel(announcement);
                return false;
            }
            return self.word.commit(announcement).is_some();
        }
        let Some(word) = self.word.commit(announcement) else { return false };
        // ORDERING: pairs with the full fences in `post_injected` and `post_broadcast` and with the
        // fence of a push: light in `Private::push`, if this one is heavy, or full. Either the
        // poster sees this worker counted (for a broadcast, its slot prepared), or the last look
        // sees the job. Without a fence each could miss the other.
        self.fence_against_posts("sleep/no-commit-fence", self.must_fence_posters(word));
        // WAKE: a post that comes later counts this worker among the sleepers, and `Protocol::post`
        // decides if one of them is woken; `Sleep::claim` finds its slot prepared. The last look
        // sees a job that was posted earlier, except in the case that `must_fence_posters` argues,
        // and unless another worker has taken it.
        let found = has_news(latch, host);
        if found {
            omittable!("sleep/stays-counted", self.word.uncount());
        }
        !found
    }

    /// Returns `true` if S, a worker that has just counted itself as sleeping, must execute a heavy
    /// fence because of a worker P that may be in the middle of a push. `word` is the word after
    /// S's change. In two cases a full fence is enough.
    ///
    /// **The word shows no worker that is active or searches.** So P is counted as sleeping. Before
    /// it pushes again it changes the word (`stop_looking`; a guest in its seat: `take_seat`),
    /// after S. From then on P finds S counted whenever it reads the word. And its next push does
    /// read the word: on its own way to sleep P has lowered the limit of its deque
    /// (`alert_posters`), and a push that finds it lowered calls `post`. What P pushed before it
    /// began to search is visible to S: P's `start_looking` released it, and S's `commit` has
    /// acquired it.
    ///
    /// **The word shows another worker V that searches.** A full fence does not pair with P's light
    /// one: S may miss a job J of P, and P may miss S. But V ends its search by a later change of
    /// the word, and so does each worker that begins to search meanwhile. (As long as some worker
    /// searches, it is going to find J.) Let L be the last of them: after its change the word shows
    /// no worker that searches.
    ///
    /// - L commits to sleep. It executes the heavy fence, as P is active. (If P has begun to search
    ///   since, it has released J.) If L's last look finds news, L searches on, and takes the place
    ///   of V in the argument. If not, P's push finds its limit lowered, and `post` reads a word in
    ///   which S and L are counted as sleeping.
    /// - L stops searching while S is asleep: `pass_the_baton`. If its first look sees no job, L
    ///   executes the fence and looks again. Either it sees J, or P's push finds its limit lowered,
    ///   and `post` reads a word in which S is asleep and L does not search.
    /// - L sees a job there, J or another one, and `Protocol::baton` decides. It names a sleeper,
    ///   which L claims, and which counts as searching from then on; or it relies on a worker that
    ///   has begun to search since, or on the sentry, which searches when it gets up or is claimed.
    ///   Each of these takes the place of V in the argument.
    /// - `Word::rely` may also make L wake no worker, because of a guarantor D. D looks for jobs in
    ///   `resume_wakes`, or after its nap, after a change of the word that acquires L's. L has
    ///   executed the fence before: if the word shows that wakes are deferred, `pass_the_baton`
    ///   takes no look without it. So D sees J, or P has seen S.
    fn must_fence_posters(&self, word: u64) -> bool {
        let Some(heads) = self.word.heads_in(word) else { return true };
        let may_be_last = faulty!("sleep/only-the-first-fences", true, heads.sleeping == 1);
        let is_last_searcher = heads.searching() == 0 && may_be_last;
        // S itself is among the inactive.
        is_last_searcher && self.active(heads.inactive) > faulty!("sleep/commit-miscounts", 0, 1)
    }

    fn active(&self, inactive: usize) -> usize {
        self.seats_in_use().saturating_sub(inactive)
    }

    /// Looks for jobs, and wakes a sleeper for them if `Protocol::baton` says so. Called by the
    /// last worker to stop searching while others sleep: posts may have woken no worker because
    /// this one was searching.
    #[cold]
    fn pass_the_baton(&self, word: u64, work_visible: &dyn Fn() -> bool) {
        // The word already counts us as active.
        let ourselves = faulty!("sleep/baton-miscounts", 1, 2);
        let others_active =
            self.word.heads_in(word).is_none_or(|heads| self.active(heads.inactive) > ourselves);
        // If a job is visible already, `wake_for_baton` is due in any case, and the worker that it
        // wakes looks for other jobs: see `must_fence_posters`. But if the wake is deferred, the
        // guarantor looks only for what this worker has seen. (`Word::rely` reads the word again. A
        // deferral cannot have begun meanwhile: `with_offer` refuses while a worker is active, and
        // this one is.)
        let is_deferred =
            faulty!("sleep/baton-trusts-deferral", self.word.is_deferred(word), false);
        let visible = (!is_deferred && work_visible()) || {
            // ORDERING: pairs with the fence of a push (light in `Private::push`, or full) and with
            // the full one in `post_injected`. Either the poster sees that this worker no longer
            // searches, and `Protocol::post` does not rely on it; or this look sees the job.
            // Without a fence each could miss the other. (A full one is enough if no other worker
            // is active, as in the first case of `must_fence_posters`.)
            self.fence_against_posts("sleep/no-baton-fence", others_active);
            work_visible()
        };
        // WAKE: no sleeper was woken for posts that relied on this worker's search, and no other
        // worker searches.
        if visible {
            self.wake_for_baton();
        }
    }

    /// Executes the fence between a change of the word and a look at the queues. Its counterpart is
    /// the poster's, between publishing a job and reading the word or the limit:
    ///
    /// - `post_injected`, `post_broadcast` and pushes of owners without light fences execute a full
    ///   fence. A full one here is enough.
    /// - Pushes of owners with light fences (`Private::push`) execute a light one. It takes a heavy
    ///   one here if such a push may be under way: `workers_may_post`.
    ///
    /// A push calls `Sleep::post`, which reads the word, only if it finds its limit lowered. So the
    /// limits are lowered first.
    #[inline(never)]
    fn fence_against_posts(&self, name: &'static str, workers_may_post: bool) {
        // WAKE: from now on pushes call `Sleep::post`.
        omittable!("sleep/no-alert", self.alert_posters());
        if workers_may_post {
            faulty!("sleep/heavy-is-full", heavy_fence(name), full_fence(name));
        } else {
            full_fence(name);
        }
    }

    /// Takes the last step. Returns `false` if a waker claimed the slot first.
    pub(crate) fn enter_slot(&self, worker: usize, step: LastStep) -> bool {
        let enter = || self.take_step(worker, step);
        match &self.detector {
            None => enter(),
            Some(detector) => detector.fall_asleep(worker, step == LastStep::ParkAlone, enter),
        }
    }

    #[inline(never)]
    fn take_step(&self, worker: usize, step: LastStep) -> bool {
        match step {
            LastStep::Park => self.slots.enter(worker),
            LastStep::ParkAlone => self.slots.enter_alone(worker),
            LastStep::Vacate => {
                // Before another thread can have the seat.
                self.seats[worker].meter.vacate(self.now());
                self.slots.vacate(worker)
            }
            LastStep::Depart => self.slots.depart(worker),
        }
    }

    /// Blocks a worker that has entered its slot.
    fn park(&self, idle: &mut Idle, host: &dyn Host) {
        let seat = &self.seats[idle.worker];
        let meter = &seat.meter;
        if idle.woken {
            meter.fruitless.add_mine(1);
            self.room.woken_for_nothing();
        }
        self.not_stuck(idle.worker);
        self.observe(|observer| observer.asleep(idle.worker));
        host.before_sleep();
        let since = self.now();
        if meter.sleeps.get() == 0 {
            self.room.report(true);
        }
        meter.park(since);
        let by_itself = self.park_in_mode(idle, host);
        let now = self.now();
        self.placement.arrive(seat, now);
        meter.unpark(since, now, idle.in_a_job);
        host.after_sleep();
        self.observe(|observer| observer.awake(idle.worker));
        idle.woken = true;
        // After getting up by itself, the worker searches only once: then a sentry gets sleepy
        // again, and a bored worker stops searching.
        idle.rounds = if by_itself { self.policy.rounds_until_sleepy } else { 0 };
        idle.watched = 0;
    }
}

/// Takes the last look.
#[inline(never)]
fn has_news(latch: &LatchWord, host: &dyn Host) -> bool {
    look!(
        "sleep/no-last-look",
        look!("sleep/latch-overlooked", latch.probe()) || host.work_visible()
    )
}
