//! News for everyone, and pools in which everyone sleeps.

use crate::common::{fib, occupy, sleeping, until, until_all_sleep};
use crate::subject::{Subject, WIDTHS, rounds};
use std::sync::Barrier;
use std::sync::mpsc;

pub(crate) fn a_broadcast_wakes_everyone(subject: Subject) {
    for width in WIDTHS {
        // Nobody can answer for another.
        let (pool, everyone) = (subject.pool(width), Barrier::new(width));
        for _ in 0..rounds(width, 200) {
            until_all_sleep(&pool);
            let leaders = pool.broadcast(|_| everyone.wait().is_leader());
            assert_eq!(leaders.into_iter().filter(|&leader| leader).count(), 1);
        }
    }
}

pub(crate) fn a_broadcast_finds_everyone_at_any_moment(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 600) {
            // From outside, or from a worker.
            let answers = match round % 2 {
                0 => pool.broadcast(|context| context.index()),
                _ => pool.install(|| drowse::broadcast(|context| context.index())),
            };
            assert!(answers.into_iter().eq(0..width));
        }
    }
}

pub(crate) fn a_broadcast_reaches_the_busy_and_the_sleeping(subject: Subject) {
    for width in [2, 8, 64] {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 100) {
            let busy = occupy(&pool, width / 2);
            until("the other half sleeps", || sleeping(&pool) == width - width / 2);
            let (sender, receiver) = mpsc::channel();
            pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
            // Those that slept answer at once, the busy ones when they can.
            let mut answers: Vec<_> = receiver.iter().take(width - width / 2).collect();
            drop(busy);
            answers.extend(receiver);
            answers.sort_unstable();
            assert!(answers.into_iter().eq(0..width));
        }
    }
}

pub(crate) fn with_everyone_asleep_every_call_is_served(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 40) {
            until_all_sleep(&pool);
            assert_eq!(pool.install(|| fib(5)), 5);

            until_all_sleep(&pool);
            assert_eq!(pool.join(|| 1, || 2), (1, 2));

            for spawn in [drowse::ThreadPool::spawn, drowse::ThreadPool::spawn_fifo] {
                until_all_sleep(&pool);
                let (sender, receiver) = mpsc::channel();
                spawn(&pool, Box::new(move || sender.send(7).unwrap()) as Box<dyn FnOnce() + Send>);
                assert_eq!(receiver.recv(), Ok(7));
            }

            let (mut inside, mut in_place) = (0, 0);
            until_all_sleep(&pool);
            pool.scope(|s| s.spawn(|s| s.spawn(|_| inside = 1)));
            until_all_sleep(&pool);
            pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| in_place = 1));
            assert_eq!((inside, in_place), (1, 1));

            until_all_sleep(&pool);
            assert!(pool.broadcast(|context| context.index()).into_iter().eq(0..width));

            until_all_sleep(&pool);
            let (sender, receiver) = mpsc::channel();
            pool.spawn_broadcast(move |_| sender.send(()).unwrap());
            assert_eq!(receiver.iter().count(), width);
        }
    }
}
