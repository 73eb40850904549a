//! Closures and futures that are awaited: on each protocol, and at each width.

#[path = "../common/mod.rs"]
mod common;

mod block_on;
mod cancel;
mod context;
mod futures;
mod idle;
mod isolation;
mod scoped;

use common::watchdog;
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Runs a test on pools of each protocol and of several widths.
#[track_caller]
fn on_every_pool(test: impl Fn(&ThreadPool) + Clone + Send + 'static) {
    for protocol in SleepProtocol::ALL {
        for width in [1, 2, 8] {
            let test = test.clone();
            watchdog(move || {
                let pool =
                    ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol).build();
                test(&pool.expect("a pool"));
            });
        }
    }
}

/// Something that happens once, and that one task waits for.
#[derive(Clone)]
struct Event(Arc<Mutex<(bool, Option<Waker>)>>);

impl Event {
    fn new() -> Self {
        Self(Arc::new(Mutex::new((false, None))))
    }

    fn happen(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Whether somebody waits for it.
    fn is_awaited(&self) -> bool {
        self.0.lock().unwrap().1.is_some()
    }

    /// Lets go of the waker, if somebody waits.
    fn forget_waker(&self) {
        drop(self.0.lock().unwrap().1.take());
    }
}

impl Future for Event {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Lets others have their turn, so many times.
async fn yield_times(mut times: usize) {
    poll_fn(move |context| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Counts how often one of them is dropped.
struct Token(Arc<AtomicUsize>);

impl Token {
    fn new() -> (Self, Arc<AtomicUsize>) {
        let drops = Arc::new(AtomicUsize::new(0));
        (Self(Arc::clone(&drops)), drops)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
