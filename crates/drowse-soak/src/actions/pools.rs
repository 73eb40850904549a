//! Pools that come and go in the middle of everything.

use super::{Action, action};
use crate::place::Home;
use crate::plan::{PoolPlan, STACK};
use crate::turn::{Job, Turn};
use crate::verdict::fail;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub(super) const ACTIONS: &[Action] = &[
    action("pool_dropped_at_work", 1, dropped_at_work).of_jobs(2).when(is_rare),
    action("pool_shut_down", 1, shut_down).of_jobs(2).when(|turn| may_block(turn) && is_rare(turn)),
    // The caller blocks until the threads have ended.
    action("pool_scoped", 1, scoped).of_jobs(2).when(|turn| may_block(turn) && is_rare(turn)),
    action("pool_of_current_thread", 1, of_current_thread)
        .of_jobs(2)
        .when(|turn| may_block(turn) && is_rare(turn)),
];

/// Not at the leaves, of which there are most: threads are dear.
fn is_rare(turn: &Turn) -> bool {
    !turn.is_locked() && turn.budget() >= 30 && turn.budget() % 4 == 0
}

fn may_block(turn: &Turn) -> bool {
    turn.home == Home::Outside || turn.world.plan.upward
}

fn plan(turn: &mut Turn) -> PoolPlan {
    PoolPlan::random(&mut turn.dice, &[1, 2, 3, 8])
}

/// It runs what was spawned into it before it was dropped.
fn dropped_at_work(turn: &mut Turn) {
    let plan = plan(turn);
    let pool = plan.build(turn.world, "passing".into());
    let number = turn.some(20).max(2);
    let mut jobs = turn.jobs(number, Home::Passing);
    let waited = jobs.pop().expect("two at least");
    for job in jobs {
        pool.spawn(|| job.go());
    }
    if turn.dice.one_in(2) {
        let token = waited.token();
        turn.demand("the result", pool.install(|| waited.run()), token);
    } else {
        pool.spawn(|| waited.go());
    }
}

/// When it is shut down, all of its jobs have ended.
fn shut_down(turn: &mut Turn) {
    let plan = plan(turn);
    let pool = plan.build(turn.world, "passing".into());
    let number = turn.some(20);
    let jobs = turn.jobs(number, Home::Passing);
    let pages: Vec<_> = jobs.iter().map(Job::page).collect();
    for job in jobs {
        pool.spawn(|| job.go());
    }
    if turn.dice.one_in(3) {
        let time = Duration::from_micros(turn.dice.below(500) as u64);
        if pool.shutdown_timeout(time).is_err() {
            return;
        }
    } else {
        pool.shutdown();
    }
    // Those that these have made may be with other pools.
    for page in pages {
        turn.demand("a job that is left", turn.world.book.first_open_of(page..page + 1), None);
    }
}

fn scoped(turn: &mut Turn) {
    let plan = plan(turn).with_all_threads();
    let [a, b] = turn.these(Home::Passing);
    let (tokens, ended) = ((a.token(), b.token()), AtomicUsize::new(0));
    let run = |worker: drowse::ThreadBuilder| {
        worker.run();
        ended.fetch_add(1, Ordering::Relaxed);
    };
    match plan.builder(turn.world).build_scoped(run, |pool| pool.join(|| a.run(), || b.run())) {
        Ok(got) => turn.demand("the result", got, tokens),
        Err(error) => fail(&format!("no pool: {error}")),
    }
    turn.demand("the number of threads that have ended", ended.into_inner(), plan.width);
}

/// On a thread of its own, which the pool takes over for the rest of its life.
fn of_current_thread(turn: &mut Turn) {
    // What is left in its own queue is nobody else's, if there is nobody else; and if a spare is in
    // the middle of something, there may be more to come.
    let (plan, world) = (plan(turn).without_others(), turn.world);
    let [a, b] = turn.these(Home::TakenOver);
    let tokens = (a.token(), b.token());
    let body = move || {
        let pool =
            plan.builder(world).use_current_thread().build().map_err(|error| error.to_string())?;
        let got = drowse::join(|| a.run(), || b.run());
        while drowse::yield_now() == Some(drowse::Yield::Executed) {}
        drop(pool);
        Ok::<_, String>(got)
    };
    let thread = thread::Builder::new().name("taken over".into()).stack_size(STACK);
    match thread.spawn(body).map(thread::JoinHandle::join) {
        Ok(Ok(Ok(got))) => turn.demand("the result", got, tokens),
        other => fail(&format!("no thread, no pool or no result: {other:?}")),
    }
}
