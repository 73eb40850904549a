//! Futures, handles that are awaited, and those that are called off.

use super::handle::{expect, spawn_handles};
use super::{Action, action};
use crate::turn::Turn;
use crate::verdict::fail;
use std::future::poll_fn;
use std::task::Poll;

pub(super) const ACTIONS: &[Action] = &[
    action("spawn_future", 2, joined),
    action("await_handles", 2, awaited),
    action("await_in_a_future", 1, awaited_there).when(may_wait),
    action("cancel_handles", 2, cancelled).of_jobs(2),
    action("scope_futures", 2, scoped),
];

/// Where nothing is isolated. (There, one that waits for the future may not run what was spawned
/// before it, and it is for its user to see to it that somebody does.)
fn may_wait(turn: &Turn) -> bool {
    !turn.world.plan.isolates
}

/// Lets others go first, so many times.
async fn yield_times(mut times: usize) {
    poll_fn(|context| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Several, waited for in some order.
fn joined(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(6));
    let jobs = turn.jobs(number, place.home);
    let mut tasks: Vec<_> = jobs
        .into_iter()
        .map(|job| {
            let (token, times) = (job.token(), turn.dice.below(3));
            let future = async move {
                yield_times(times).await;
                job.run()
            };
            (token, place.spawn_future(future))
        })
        .collect();
    while !tasks.is_empty() {
        let (token, task) = tasks.swap_remove(turn.dice.below(tasks.len()));
        expect(turn, token, task.join());
    }
}

/// Several, awaited here.
fn awaited(turn: &mut Turn) {
    let place = turn.place();
    let handles = spawn_handles(turn, place);
    drowse::block_on(async {
        for (token, handle) in handles {
            expect(turn, token, handle.await);
        }
    });
}

/// Several, awaited by another.
fn awaited_there(turn: &mut Turn) {
    let place = turn.place();
    let handles = spawn_handles(turn, place);
    let all = place.spawn_future(async {
        let mut results = Vec::new();
        for (token, handle) in handles {
            results.push((token, handle.await));
        }
        results
    });
    let Ok(results) = all.join() else { fail("a future has a panic, and nobody panicked") };
    for (token, result) in results {
        expect(turn, token, result);
    }
}

/// Some of them are called off. Those run, or are dropped, and their handles know.
fn cancelled(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(8).max(2));
    let handles: Vec<_> = turn
        .jobs(number, place.home)
        .into_iter()
        .map(|job| {
            let (token, spared, is_future) =
                (job.token(), turn.dice.one_in(2), turn.dice.one_in(2));
            let job = if spared { job.may_be_spared() } else { job };
            let handle = match is_future {
                true => place.spawn_future(async { job.run() }),
                false => place.spawn_handle(|| job.run()),
            };
            if spared {
                handle.cancel();
            }
            (token, spared, handle)
        })
        .collect();
    for (token, spared, handle) in handles {
        match handle.join() {
            Ok(got) => turn.demand("the result", got, token),
            Err(payload) if spared && payload.is_cancelled() => (),
            Err(_) => fail("a handle has a panic, and nobody panicked, nor called it off"),
        }
    }
}

/// Those of a scope, whose handles are dropped or awaited.
fn scoped(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(8));
    let jobs: Vec<_> = turn
        .jobs(number, place.home)
        .into_iter()
        .map(|job| (job, turn.dice.below(3), turn.dice.one_in(2)))
        .collect();
    place.scope(|s| {
        for (job, times, is_awaited) in jobs {
            let task = s.spawn_future(async move {
                yield_times(times).await;
                job.go();
            });
            if is_awaited {
                drop(s.spawn_future(async { _ = task.await }));
            }
        }
    });
}
