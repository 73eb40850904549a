//! What comes from outside does not starve behind local work that never ends.

use crate::common;
use drowse::SleepProtocol;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

/// Spawns itself again until it is told to stop.
fn perpetual(stop: Arc<AtomicBool>, ended: mpsc::Sender<()>) {
    if stop.load(Ordering::Acquire) {
        ended.send(()).unwrap();
    } else {
        drowse::spawn(move || perpetual(stop, ended));
    }
}

#[test]
fn an_injected_job_is_served_though_the_worker_never_runs_out_of_its_own() {
    common::watchdog(|| {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, ended) = mpsc::channel();
        pool.spawn({
            let stop = Arc::clone(&stop);
            move || perpetual(stop, sender)
        });
        // Only this one, from outside, ends the other.
        pool.install(|| stop.store(true, Ordering::Release));
        assert_eq!(ended.recv(), Ok(()));
    });
}

#[test]
fn a_broadcast_is_served_though_no_worker_ever_runs_out_of_its_own() {
    common::watchdog(|| {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, ended) = mpsc::channel();
        let perpetual_everywhere = {
            let stop = Arc::clone(&stop);
            move |_: drowse::BroadcastContext<'_>| perpetual(Arc::clone(&stop), sender.clone())
        };
        pool.spawn_broadcast(perpetual_everywhere);
        // Only what each worker is left by name ends the other jobs.
        assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
        // Beside a flood of such letters, what comes from outside gets in as well.
        pool.spawn_broadcast({
            let stop = Arc::clone(&stop);
            move |_| letters_for_ever(Arc::clone(&stop))
        });
        pool.install(|| stop.store(true, Ordering::Release));
        assert_eq!((ended.recv(), ended.recv()), (Ok(()), Ok(())));
    });
}

/// Leaves its worker, and all others, another letter of this kind until it is told to stop.
fn letters_for_ever(stop: Arc<AtomicBool>) {
    if !stop.load(Ordering::Acquire) && drowse::current_thread_index() == Some(0) {
        drowse::spawn_broadcast(move |_| letters_for_ever(Arc::clone(&stop)));
    }
}

#[test]
fn a_broadcast_is_served_though_a_join_never_gets_to_its_second_half() {
    common::watchdog(|| {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, ended) = mpsc::channel();
        let (started, starts) = mpsc::channel();
        let first = {
            let stop = Arc::clone(&stop);
            move || {
                drowse::spawn(move || perpetual(stop, sender));
                started.send(()).unwrap();
            }
        };
        // The first half leaves a job on top of the second that comes back forever.
        pool.spawn(move || _ = drowse::join(first, || ()));
        starts.recv().unwrap();
        pool.broadcast(|_| stop.store(true, Ordering::Release));
        assert_eq!(ended.recv(), Ok(()));
    });
}

/// Each of the workers is in the middle of a recursion that only a job from outside ends.
#[test]
fn who_insists_gets_a_turn_in_the_middle_of_joins() {
    for protocol in SleepProtocol::ALL {
        common::watchdog(move || {
            for threads in [2, 3] {
                let pool =
                    drowse::ThreadPoolBuilder::new().num_threads(threads).sleep_protocol(protocol);
                let pool = pool.build().unwrap();
                let (enough, turns) = (AtomicUsize::new(0), 6);
                let recursion = || {
                    while enough.load(Ordering::Acquire) < turns {
                        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
                    }
                };
                thread::scope(|s| {
                    (0..threads).for_each(|_| _ = s.spawn(|| pool.install(recursion)));
                    (0..turns).for_each(|_| {
                        s.spawn(|| pool.install(|| enough.fetch_add(1, Ordering::Release)));
                    });
                });
                assert_eq!(enough.into_inner(), turns);
            }
        });
    }
}

/// Whoever spawns while it holds a lock need not reckon with a job that wants it.
#[test]
fn nobody_gets_a_turn_where_a_job_is_spawned() {
    common::watchdog(|| {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let lock = Mutex::new(0);
        for _ in 0..20 {
            let (over, busy) = (AtomicBool::new(false), Barrier::new(3));
            let is_over = || over.load(Ordering::Acquire);
            let spawn = || {
                let guard = lock.lock().unwrap();
                busy.wait();
                while !is_over() {
                    drowse::spawn(|| ());
                }
                drop(guard);
            };
            let keep_busy = || {
                busy.wait();
                while !is_over() {
                    std::hint::spin_loop();
                }
            };
            thread::scope(|s| {
                s.spawn(|| pool.install(spawn));
                s.spawn(|| pool.install(keep_busy));
                busy.wait();
                s.spawn(|| pool.install(|| *lock.lock().unwrap() += 1));
                // Long enough for it to insist. Nothing depends on that.
                thread::park_timeout(Duration::from_millis(3));
                over.store(true, Ordering::Release);
            });
        }
        assert_eq!(lock.into_inner().unwrap(), 20);
    });
}
