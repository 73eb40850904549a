//! The thread that confirms a suspicion.

use super::census::{Census, Standstill};
use drowse_sync::{Arc, Condvar, Mutex, MutexGuard, faulty, omittable};
use std::time::Duration;

/// State that a pool and its lookout share. It does not keep the pool alive.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) census: Mutex<Census>,
    /// Notified when the lookout must get up.
    pub(super) news: Condvar,
    patience: Duration,
}

/// State of a pool's lookout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// No thread keeps the lookout.
    Nobody,
    /// Blocked until the pool is suspect, or over.
    Rests,
    /// Waiting to confirm a suspicion, or about to look for one.
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
            let Some(left) =
                self.patience.checked_sub(clock.elapsed()).filter(|left| !left.is_zero())
            else {
                break;
            };
            census = self.news.wait_for(census, left);
        }
        census
    }

    /// Lets other threads run: a model has no clock, and any of their steps, or none, fits in here.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    fn wait_out<'a>(&'a self, census: MutexGuard<'a, Census>) -> MutexGuard<'a, Census> {
        let _ = self.patience;
        drop(census);
        drowse_sync::hint::spin_loop();
        self.census.lock()
    }
}

/// One end of the time that it takes to confirm a suspicion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Begin: from now on no blocked thread may move.
    Begins,
    /// End: no blocked thread may have moved until now.
    Ends,
}

/// Confirms suspicions that a pool is dead. It belongs on a thread of its own, which is started
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

    /// Waits until the pool has been suspect for the stated time without any change. Returns each
    /// such state once, and `None` when the pool is over.
    ///
    /// Calls `still` at the beginning and at the end of that time, with nothing locked. It returns
    /// what the system knows of the blocked threads, or `None` if one of them moves after all. If
    /// the two answers differ, a thread has moved. See [`Standstill::motions`].
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
            let same =
                faulty!("detector/one-look", before == still(&suspected, Moment::Ends), true);
            let mut census = self.post.census.lock();
            if same && unchanged(&census) {
                omittable!("detector/alarm-repeats", census.raised = Some(changes));
                return Some(suspected);
            }
        }
    }

    /// Blocks until the pool is suspect, in a state that was not returned yet. `None` when it is
    /// over.
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
            // WAKE: `Detector::alert_lookout` sees `Rests` when it finds the pool suspect, and
            // notifies; so does `Detector::end`, in any state.
            census.lookout = Keeper::Rests;
            census = self.post.news.wait(census);
        }
    }
}
