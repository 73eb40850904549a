//! Threads that were taken over by a pool.

use crate::common::child::{in_child, this_test};
use crate::common::{tasks, until};
use drowse::{SleepProtocol, ThreadPoolBuilder};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::task::Poll;
use std::thread;

/// Starts a thread of that name.
fn start<R: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.to_owned()).spawn(run).expect("a thread")
}

/// Waits until the thread of that name is blocked.
fn until_blocked(name: &str) {
    until("it is blocked", || tasks::named(name).iter().any(tasks::Task::is_asleep));
}

/// While a thread that was taken over shuts its pool down, and sleeps until a future has ended, a
/// thread outside waits for that future, and would be a guest.
#[test]
fn a_thread_that_shuts_its_pool_down_has_no_guest() {
    let ended = in_child(this_test!(), &[], || {
        for (number, protocol) in SleepProtocol::ALL.into_iter().enumerate() {
            for threads in [1, 2] {
                let (begin, begun) = channel();
                let (wait, waits) = channel();
                let is_over = Arc::new(AtomicBool::new(false));
                let over = Arc::clone(&is_over);
                let (shut_down, is_shut_down) = channel();
                let owner = format!("owner {number} {threads}");
                start(&owner, move || {
                    let builder = ThreadPoolBuilder::new().num_threads(threads).guests(true);
                    let pool =
                        builder.sleep_protocol(protocol).use_current_thread().build().unwrap();
                    let future = poll_fn(move |context| {
                        if is_over.load(Ordering::Acquire) {
                            return Poll::Ready(42);
                        }
                        wait.send(context.waker().clone()).unwrap();
                        Poll::Pending
                    });
                    begin.send(pool.spawn_future(future)).unwrap();
                    pool.shutdown();
                    shut_down.send(()).unwrap();
                    // With the thread, what its worker leaves would be lost.
                    loop {
                        thread::park();
                    }
                });
                let (handle, waker) = (begun.recv().unwrap(), waits.recv().unwrap());
                until_blocked(&owner);
                let outside = start("outside", move || handle.join().unwrap());
                until_blocked("outside");
                over.store(true, Ordering::Release);
                waker.wake();
                assert_eq!(outside.join().unwrap(), 42);
                is_shut_down.recv().unwrap();
            }
        }
    });
    ended.assert_done();
}
