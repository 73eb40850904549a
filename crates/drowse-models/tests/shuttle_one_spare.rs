//! Places of the real pool where there is one spare, under random schedules: what is left in a
//! place is run, though the spare comes too early, or leaves.
#![cfg(drowse_shuttle)]

use drowse::{BroadcastContext, ThreadPool, ThreadPoolBuilder, Waiting};
use drowse_models::{Choose, Gate, for_each_protocol, random_schedules};
use drowse_sync::{Arc, Mutex};
use std::task::{Poll, Waker};

fn with_pool(choose: Choose, workers: usize, waiting: Waiting, f: impl FnOnce(&ThreadPool)) {
    let builder = ThreadPoolBuilder::new().num_threads(workers).sleep_protocol(choose());
    let pool = builder.max_spare_threads(1).waiting(waiting).build().unwrap();
    f(&pool);
    pool.shutdown();
}

/// A signal that a job waits for in a way that lets its worker run other jobs.
struct Signal(Mutex<(bool, Option<Waker>)>);

impl Signal {
    fn new() -> Self {
        Self(Mutex::new((false, None)))
    }

    fn give(&self) {
        let mut state = self.0.lock();
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits for it on a worker.
    fn wait(&self) {
        drowse::block_on(std::future::poll_fn(|context| {
            let mut state = self.0.lock();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        }));
    }
}

/// Two workers, with one spare. One waits by `wait` for a broadcast to its own place, which gives
/// the signal and opens the gate. The other one does something `beside` it.
fn wait_for_a_letter(
    choose: Choose,
    waiting: Waiting,
    wait: fn(&Signal, &Gate),
    beside: fn(&Gate),
) {
    random_schedules(6_000, move || {
        with_pool(choose, 2, waiting, |pool| {
            let (signal, gates) = (Arc::new(Signal::new()), Arc::new([Gate::new(), Gate::new()]));
            let one = || {
                let (index, its_signal, its_gates) =
                    (drowse::current_thread_index(), Arc::clone(&signal), Arc::clone(&gates));
                // It may be without a place, if it has let another job have its turn.
                let letter = move |context: BroadcastContext<'_>| {
                    if index.is_none_or(|index| index == context.index()) {
                        its_signal.give();
                        its_gates.iter().for_each(Gate::open);
                    }
                };
                // From outside, so that it does not descend from what this job waits for.
                shuttle::thread::scope(|s| _ = s.spawn(|| pool.spawn_broadcast(letter)));
                wait(&signal, &gates[0]);
            };
            pool.join(one, || beside(&gates[1]));
        });
    });
}

fn block_for_a_moment(_: &Gate) {
    drowse::blocking(drowse_sync::hint::spin_loop);
}

/// The spare may become idle after it was looked for, and before the place is given up.
fn a_place_is_given_up_while_a_spare_becomes_idle(choose: Choose) {
    wait_for_a_letter(
        choose,
        Waiting::Help,
        |_, gate| drowse::blocking(|| gate.pass()),
        block_for_a_moment,
    );
}

/// The spare may become idle when the worker that must not run the letter sleeps.
fn a_place_is_lent_when_a_spare_becomes_idle(choose: Choose) {
    wait_for_a_letter(choose, Waiting::Isolate, |signal, _| signal.wait(), block_for_a_moment);
}

/// The spare may take the place for a moment, because it is free, and then be called to the other
/// one, which it does not leave before the letter was run.
fn a_place_is_retaken_that_the_spare_had_for_a_moment(choose: Choose) {
    let wait = |signal: &Signal, _: &Gate| drowse::blocking(|| signal.wait());
    let block_twice = |gate: &Gate| {
        block_for_a_moment(gate);
        drowse::blocking(|| gate.pass());
    };
    wait_for_a_letter(choose, Waiting::Help, wait, block_twice);
}

/// The one spare blocks in the only place, and leaves it to the worker that waits.
fn a_place_that_the_spare_leaves_is_retaken(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 1, Waiting::Help, |pool| {
            let (gate, done) = (Arc::new(Gate::new()), Arc::new(Signal::new()));
            pool.install(|| {
                let (opener, its_gate, its_done) =
                    (Arc::clone(&gate), Arc::clone(&gate), Arc::clone(&done));
                let child = move || {
                    drowse::blocking(|| its_gate.pass());
                    its_done.give();
                };
                drowse::blocking(|| {
                    shuttle::thread::scope(|s| {
                        s.spawn(|| {
                            pool.spawn(child);
                            pool.spawn_broadcast(move |_| opener.open());
                        });
                    });
                    done.wait();
                });
            });
        });
    });
}

for_each_protocol!(
    a_place_is_given_up_while_a_spare_becomes_idle,
    a_place_is_lent_when_a_spare_becomes_idle,
    a_place_is_retaken_that_the_spare_had_for_a_moment,
    a_place_that_the_spare_leaves_is_retaken,
);
