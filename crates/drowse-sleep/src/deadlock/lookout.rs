//! The thread that hears a suspicion out.

use super::census::{Census, Standstill};
use drowse_sync::{Arc, Condvar, Mutex, MutexGuard, faulty, omittable};
use std::time::Duration;

/// What a pool and its lookout share. It does not keep the pool alive.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) census: Mutex<Census>,
    /// Notified when the lookout must get up.
    pub(super) news: Condvar,
    patience: Duration,
}

/// What the lookout of a pool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// There is none.
    Nobody,
    /// It blocks until the pool is suspect, or over.
    Rests,
    /// It hears a suspicion out, or is about to look for one.
    Up,
}

impl Post {
    pub(super) fn new(census: Census, patience: Duration) -> Self {
        Self { census: Mutex::new(census), news: Condvar::new(), patience }
    }

    /// Lets the stated time pass, or less if the pool ends.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    fn wait_out<'a>(&'a self, mut census: MutexGuard<'a, Census>) -> MutexGuard<'a, Census> {
        let clock = drowse_sync::Stopwatch::start();
        while !census.is_over {
            let Some(left) = self.patience.checked_sub(clock.elapsed()).filter(|left| !left.is_zero()) else {
                break;
            };
            census = self.news.wait_for(census, left);
        }
        census
    }

    /// A model knows no time: what happens meanwhile is all that others do here, or nothing.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    fn wait_out<'a>(&'a self, census: MutexGuard<'a, Census>) -> MutexGuard<'a, Census> {
        let _ = self.patience;
        drop(census);
        drowse_sync::hint::spin_loop();
        self.census.lock()
    }
}

/// One end of the time for which a suspicion is heard out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// From now on nobody may move.
    Begins,
    /// Until now nobody has.
    Ends,
}

/// Hears out suspicions that a pool is dead. To be kept by a thread of its own, which is started
/// when it is first needed, and ends with the pool; it does not keep the pool alive.
///
/// ```
/// use drowse_sleep::{Mark, Policy, Sleep, SleepProtocol};
/// use std::sync::mpsc::channel;
/// use std::thread;
/// use std::time::Duration;
///
/// let (alarm, alarms) = channel();
/// let sleep = Sleep::new(1, SleepProtocol::default(), Policy::default());
/// let sleep = sleep.with_deadlock_detection(Duration::from_millis(1), move |lookout| {
///     let alarm = alarm.clone();
///     thread::spawn(move || {
///         while let Some(standstill) = lookout.next_alarm(|_, _| Some(())) {
///             alarm.send(standstill).unwrap();
///         }
///     });
///     true
/// });
/// let mark = Mark::here(Some("the only key"));
/// sleep.mark_blocked(0, mark);
/// assert_eq!(alarms.recv().unwrap().workers.len(), 1);
/// sleep.mark_unblocked(0, &mark);
/// ```
#[derive(Debug)]
pub struct Lookout {
    post: Arc<Post>,
}

impl Lookout {
    pub(super) fn new(post: Arc<Post>) -> Self {
        Self { post }
    }

    /// Waits until the pool has been suspect for the stated time without any change. Each such
    /// state is told once. `None` when the pool is over.
    ///
    /// `still` is asked at the beginning and at the end of that time, with nothing locked: what the
    /// system knows of those who are blocked, or `None` if one of them moves after all. If the two
    /// answers differ, somebody has moved. See [`Standstill::motions`].
    pub fn next_alarm<E: PartialEq>(
        &self,
        still: impl Fn(&Standstill, Moment) -> Option<E>,
    ) -> Option<Standstill> {
        loop {
            let (suspected, changes) = self.rest()?;
            let unchanged = |census: &Census| {
                faulty!("detector/changes-ignored", census.changes == changes, census.is_suspect())
            };
            let before = still(&suspected, Moment::Begins);
            let census = self.post.wait_out(self.post.census.lock());
            if before.is_none() || !unchanged(&census) {
                continue;
            }
            drop(census);
            let same = faulty!("detector/one-look", before == still(&suspected, Moment::Ends), true);
            let mut census = self.post.census.lock();
            if same && unchanged(&census) {
                omittable!("detector/alarm-repeats", census.raised = Some(changes));
                return Some(suspected);
            }
        }
    }

    /// Blocks until the pool is suspect, in a state that was not told yet. `None` when it is over.
    fn rest(&self) -> Option<(Standstill, u64)> {
        let mut census = self.post.census.lock();
        loop {
            if census.is_over || census.nobody_is_left() {
                census.lookout = Keeper::Nobody;
                return None;
            }
            if census.is_suspect() && census.raised != Some(census.changes) {
                census.lookout = Keeper::Up;
                return Some((census.standstill(), census.changes));
            }
            // WAKE: whoever makes the pool suspect finds that we rest, and notifies us; so does
            // whoever ends it.
            census.lookout = Keeper::Rests;
            census = self.post.news.wait(census);
        }
    }
}
