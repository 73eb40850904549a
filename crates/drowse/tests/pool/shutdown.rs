//! `shutdown`: the end of a pool, with somebody who waits for it.

use crate::common::{
    caught, occupy, pool, sleeping, until, until_all_sleep, watchdog, watchdog_for_life,
};
use drowse::{SleepProtocol, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn what_was_spawned_has_run_and_every_exit_handler_too() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (ran, exits) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let seen = Arc::clone(&exits);
            let pool = ThreadPoolBuilder::new()
                .num_threads(4)
                .sleep_protocol(protocol)
                .exit_handler(move |_| _ = seen.fetch_add(1, Ordering::Relaxed))
                .build()
                .unwrap();
            for _ in 0..100 {
                let ran = Arc::clone(&ran);
                pool.spawn(move || {
                    drowse::spawn(move || _ = ran.fetch_add(1, Ordering::Relaxed));
                });
            }
            pool.shutdown();
            assert_eq!(ran.load(Ordering::Relaxed), 100, "{protocol:?}");
            assert_eq!(exits.load(Ordering::Relaxed), 4, "{protocol:?}");
        }
    });
}

#[test]
fn thread_locals_are_dropped_before_it_returns() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            // Takes its time: who does not join would be back before.
            thread::park_timeout(Duration::from_millis(5));
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    thread_local!(static GONE: std::cell::RefCell<Option<Gone>> = const { std::cell::RefCell::new(None) });
    watchdog(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let pool = pool(3);
        pool.broadcast(|_| GONE.set(Some(Gone(Arc::clone(&gone)))));
        pool.shutdown();
        assert_eq!(gone.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn a_limit_that_suffices_is_no_error() {
    watchdog(|| {
        let pool = pool(2);
        assert_eq!(pool.install(|| 42), 42);
        pool.shutdown_timeout(Duration::from_secs(3600)).unwrap();
    });
}

#[test]
fn who_is_busy_is_reported_and_goes_on() {
    watchdog(|| {
        let (sender, exits) = mpsc::channel();
        let sender = Mutex::new(sender);
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .thread_name(|index| format!("dozer {index}"))
            .exit_handler(move |index| sender.lock().unwrap().send(index).unwrap())
            .build()
            .unwrap();
        let busy = occupy(&pool, 3);
        let report = pool.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
        let indices: Vec<_> = report.threads().iter().map(|thread| thread.index.unwrap()).collect();
        assert_eq!(indices, [0, 1, 2]);
        assert_eq!(report.threads()[1].name.as_deref(), Some("dozer 1"));
        let said = report.to_string();
        assert!(said.contains("worker 2 \"dozer 2\""), "{said}");
        drop(busy);
        assert_eq!(exits.iter().count(), 3, "and they end by themselves");
    });
}

#[test]
fn who_sleeps_is_not_busy() {
    watchdog(|| {
        let one_of_three = pool(3);
        let busy = occupy(&one_of_three, 1);
        until("the others sleep", || sleeping(&one_of_three) == 2);
        let report = one_of_three.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
        assert_eq!(report.threads().len(), 1, "{report}");
        drop(busy);

        let with_a_future = pool(2);
        let handle = with_a_future.spawn_future(std::future::pending::<()>());
        until_all_sleep(&with_a_future);
        let report = with_a_future.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
        assert!(
            report.threads().is_empty() && report.to_string().contains("a future in it waits"),
            "{report}"
        );
        handle.cancel();
    });
}

#[test]
fn one_of_the_pools_own_jobs_is_told_that_it_would_wait_for_itself() {
    watchdog(|| {
        let outer = pool(2);
        let message = outer.install(|| {
            let pool = Arc::new(Mutex::new(Some(pool(2))));
            let inner = Arc::clone(&pool);
            let (sender, receiver) = mpsc::channel();
            pool.lock().unwrap().as_ref().unwrap().spawn(move || {
                let pool = inner.lock().unwrap().take().unwrap();
                sender.send(caught::<&str, _>(|| pool.shutdown())).unwrap();
            });
            receiver.recv().unwrap()
        });
        assert!(message.contains("wait for itself"), "{message}");
    });
}

#[test]
fn a_worker_of_another_pool_may_wait() {
    watchdog(|| {
        let ran = AtomicBool::new(false);
        pool(1).install(|| {
            let other = pool(2);
            other.install(|| ran.store(true, Ordering::Relaxed));
            other.shutdown();
        });
        assert!(ran.into_inner());
    });
}

#[test]
fn threads_of_a_spawn_handler_have_returned_from_run() {
    watchdog(|| {
        let (mut threads, running) = (Vec::new(), Arc::new(AtomicUsize::new(3)));
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .exit_handler({
                let running = Arc::clone(&running);
                move |_| _ = running.fetch_sub(1, Ordering::Relaxed)
            })
            .spawn_handler(|worker| {
                threads.push(thread::spawn(|| worker.run()));
                Ok(())
            })
            .build()
            .unwrap();
        assert_eq!(pool.install(|| 42), 42);
        pool.shutdown();
        assert_eq!(running.load(Ordering::Relaxed), 0);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Threads that have left are not joined before the last one leaves.
#[test]
fn a_thread_that_has_left_is_not_busy() {
    watchdog(|| {
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(released);
        let exit = move |index| {
            if index == 1 {
                let _ = released.lock().unwrap().recv();
            }
        };
        let pool = ThreadPoolBuilder::new().num_threads(3).exit_handler(exit).build().unwrap();
        let busy = pool.shutdown_timeout(Duration::from_secs(1)).unwrap_err();
        let indices: Vec<_> = busy.threads().iter().map(|thread| thread.index).collect();
        assert_eq!(indices, [Some(1)]);
        drop(release);
    });
}

#[test]
fn a_worker_that_never_ran_is_not_waited_for() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
            if worker.index() == 0 {
                thread::spawn(|| worker.run());
            }
            Ok(())
        });
        let pool = builder.build().unwrap();
        assert_eq!(pool.install(|| 42), 42);
        pool.shutdown();
    });
}

#[test]
fn a_thread_that_was_taken_over_helps() {
    for limit in [None, Some(Duration::from_secs(3600))] {
        watchdog_for_life(move || {
            let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
            let pool = builder.build().unwrap();
            let (sender, receiver) = mpsc::channel();
            // One job is for this thread, and no other can run it.
            pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
            match limit {
                None => pool.shutdown(),
                Some(limit) => pool.shutdown_timeout(limit).unwrap(),
            }
            let mut indices: Vec<_> = receiver.iter().collect();
            indices.sort_unstable();
            assert_eq!(indices, [0, 1]);
        });
    }
}

#[test]
fn a_thread_that_was_taken_over_does_not_wait_for_its_own_job() {
    watchdog_for_life(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let pool = Arc::new(Mutex::new(Some(pool)));
        let inner = Arc::clone(&pool);
        pool.lock().unwrap().as_ref().unwrap().spawn(move || {
            let pool = inner.lock().unwrap().take().unwrap();
            sender.send(caught::<&str, _>(|| pool.shutdown())).unwrap();
        });
        drowse::yield_now();
        assert!(receiver.recv().unwrap().contains("wait for itself"));
    });
}
