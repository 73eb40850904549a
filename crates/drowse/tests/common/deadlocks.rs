//! Pools that come to a standstill, and those who get them going again.

use drowse::{Blocked, Deadlock, ThreadPool, ThreadPoolBuilder, mark_blocked, mark_unblocked};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// How long a pool of these tests must stand still. As short as can be where each worker is really
/// stuck, or does not block; longer than the system leaves a thread without a processor, elsewhere.
pub(crate) const SOON: Duration = Duration::from_millis(1);

/// A pool, and where its alarms are heard, soon.
#[track_caller]
pub(crate) fn with_alarm(builder: ThreadPoolBuilder) -> (ThreadPool, Receiver<Deadlock>) {
    listen(builder.deadlock_after(SOON))
}

/// A pool, and where its alarms are heard.
#[track_caller]
pub(crate) fn listen(builder: ThreadPoolBuilder) -> (ThreadPool, Receiver<Deadlock>) {
    let (sender, alarms) = mpsc::channel();
    let sender = Mutex::new(sender);
    let alarm = move |deadlock: &Deadlock| {
        // Nobody listens any more if the test has failed.
        let _ = sender.lock().expect("nobody panics with it").send(deadlock.clone());
    };
    (builder.deadlock_handler(alarm).build().expect("a pool"), alarms)
}

/// The workers that are blocked, and the lines they are blocked at.
pub(crate) fn blocked(deadlock: &Deadlock) -> (Vec<usize>, Vec<u32>) {
    deadlock.blocked.iter().map(|worker| (worker.index, worker.at.line())).unzip()
}

/// A blocked worker's mark, and what it waits for: enough for another thread to unblock it.
pub(crate) struct Stuck {
    mark: Blocked,
    answer: Sender<u32>,
}

/// Blocks the worker that calls this until somebody who listens at the other end of `stuck` rescues
/// it. Returns 42.
#[track_caller]
pub(crate) fn block(stuck: &Sender<Stuck>) -> u32 {
    let (answer, question) = mpsc::channel();
    stuck.send(Stuck { mark: mark_blocked(), answer }).expect("somebody hears of it");
    question.recv().expect("somebody answers")
}

/// Gets all of them going: all are unmarked before any is unblocked, since one that goes on might
/// find another job, and block in that.
pub(crate) fn rescue(stuck: impl IntoIterator<Item = Stuck>) {
    let (marks, answers): (Vec<_>, Vec<_>) =
        stuck.into_iter().map(|stuck| (stuck.mark, stuck.answer)).unzip();
    marks.into_iter().for_each(mark_unblocked);
    answers.into_iter().for_each(|answer| answer.send(42).expect("it waits for it"));
}

/// A join whose second half blocks until the first has rescued it. For pools in which it can be
/// stolen.
pub(crate) fn one_rescues_the_other() -> u32 {
    let (stuck, all_stuck) = mpsc::channel();
    drowse::join(move || rescue(all_stuck.recv()), move || block(&stuck)).1
}
