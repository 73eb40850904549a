//! Tests of adopted threads.

use super::WorkerThread;
use crate::ThreadPoolBuilder;
use drowse_sync::LightFences;
use std::sync::mpsc::{Sender, channel};
use std::{cell::OnceCell, thread};

fn is_light() -> bool {
    WorkerThread::with_current(|worker| worker.expect("it was adopted").deque.is_light())
}

/// Joins when its thread ends, and sends if the worker had light fences before and after that.
struct JoinsLate(Sender<[bool; 2]>);

impl Drop for JoinsLate {
    fn drop(&mut self) {
        let before = is_light();
        assert_eq!(drowse_join(), 3);
        self.0.send([before, is_light()]).unwrap();
    }
}

fn drowse_join() -> u32 {
    let (one, two) = crate::join(|| 1, || 2);
    one + two
}

thread_local! {
    static LATE: OnceCell<JoinsLate> = const { OnceCell::new() };
}

/// Thread-locals that are older than the pool are dropped when heavy fences no longer include the
/// thread.
#[test]
fn an_adopted_thread_that_ends_uses_no_light_fences() {
    let (tell, told) = channel();
    let adopted = thread::spawn(move || {
        LATE.with(|late| _ = late.set(JoinsLate(tell)));
        // Wait until the system is ready for light fences.
        let fences = LightFences::at_any_cost();
        let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        let pool = builder.build().unwrap();
        // More than once, as they may have to be paid for.
        let warm_up = || WorkerThread::with_current(|worker| worker.unwrap().deque.warm_up());
        (0..1_000).take_while(|_| !is_light()).for_each(|_| warm_up());
        assert!(fences.is_some() || !is_light());
        pool
    });
    drop(adopted.join().unwrap());
    let late = told.recv().unwrap();
    assert!(late == [false; 2] || !cfg!(target_os = "linux"), "{late:?}");
}
