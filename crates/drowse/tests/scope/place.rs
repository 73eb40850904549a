//! Where a scope's closure runs, and where its jobs do.

use crate::common::{occupy, pool, watchdog};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

#[test]
fn the_closure_of_a_scope_runs_on_a_worker() {
    watchdog(|| {
        let (pool, outside) = (pool(2), thread::current().id());
        for ran_on in [
            pool.scope(|_| thread::current().id()),
            pool.scope_fifo(|_| thread::current().id()),
            drowse::scope(|_| thread::current().id()),
            drowse::scope_fifo(|_| thread::current().id()),
        ] {
            assert_ne!(ran_on, outside);
        }
        pool.install(|| {
            let worker = thread::current().id();
            assert_eq!(drowse::scope(|_| thread::current().id()), worker);
            assert_eq!(drowse::scope_fifo(|_| thread::current().id()), worker);
        });
    });
}

#[test]
fn the_closure_of_an_in_place_scope_stays_where_it_is() {
    watchdog(|| {
        let (pool, here) = (pool(2), thread::current().id());
        // Not `Send`, so it could not go anywhere.
        let mine = Rc::new(thread::current().id());
        assert_eq!(drowse::in_place_scope(|_| *mine), here);
        assert_eq!(drowse::in_place_scope_fifo(|_| *mine), here);
        let stayed = pool.in_place_scope(|s| {
            s.spawn(|_| assert_eq!(drowse::current_num_threads(), 2));
            Rc::clone(&mine)
        });
        assert_eq!((*stayed, thread::current().id()), (here, here));
        let stayed = pool.in_place_scope_fifo(|s| {
            s.spawn_fifo(|_| assert_eq!(drowse::current_num_threads(), 2));
            Rc::clone(&mine)
        });
        assert_eq!(*stayed, here);
    });
}

#[test]
fn the_jobs_of_an_in_place_scope_run_in_its_pool() {
    watchdog(|| {
        let pool = pool(2);
        let (mut lifo, mut fifo) = ([None; 8], [None; 8]);
        pool.in_place_scope(|s| {
            for place in &mut lifo {
                s.spawn(|_| *place = pool.current_thread_index());
            }
        });
        pool.in_place_scope_fifo(|s| {
            for place in &mut fifo {
                s.spawn_fifo(|_| *place = pool.current_thread_index());
            }
        });
        assert!(lifo.iter().chain(&fifo).all(Option::is_some), "{lifo:?} {fifo:?}");
    });
}

#[test]
fn a_worker_may_open_an_in_place_scope_in_another_pool() {
    watchdog(|| {
        let (home, away) = (pool(2), pool(3));
        home.install(|| {
            let here = thread::current().id();
            let mut places = [None; 8];
            away.in_place_scope(|s| {
                assert_eq!(thread::current().id(), here);
                for place in &mut places {
                    s.spawn(|s| {
                        *place = away.current_thread_index();
                        s.spawn(|_| assert_eq!(drowse::current_num_threads(), 3));
                    });
                }
            });
            assert!(places.iter().all(Option::is_some), "{places:?}");
            assert_eq!(thread::current().id(), here);
        });
    });
}

#[test]
fn a_worker_that_waits_for_a_scope_in_another_pool_helps_its_own() {
    watchdog(|| {
        let (home, away) = (pool(1), pool(1));
        let (sender, receiver) = mpsc::channel();
        home.install(|| {
            away.in_place_scope(|s| {
                // The one worker at home is here, and waits for this job, which waits for one at
                // home.
                s.spawn(move |_| receiver.recv().unwrap());
                drowse::spawn(move || sender.send(()).unwrap());
            });
            assert_eq!(home.current_thread_has_pending_tasks(), Some(false));
        });
    });
}

#[test]
fn a_scope_opened_from_outside_does_not_need_its_opener() {
    watchdog(|| {
        // The caller of `in_place_scope` is blocked in the closure; the jobs run all the same.
        let pool = pool(1);
        let (sender, receiver) = mpsc::channel();
        pool.in_place_scope(|s| {
            s.spawn(move |_| sender.send(drowse::current_thread_index()).unwrap());
            assert_eq!(receiver.recv(), Ok(Some(0)), "while the scope is open");
        });
    });
}

#[test]
fn a_job_may_be_spawned_while_another_of_the_scope_runs() {
    watchdog(|| {
        let pool = pool(2);
        let (sender, receiver) = mpsc::channel();
        let log = Mutex::new(Vec::new());
        let note = |what| log.lock().unwrap().push(what);
        pool.scope(|s| {
            let note = &note;
            s.spawn(move |s| {
                s.spawn(move |_| {
                    note("inner");
                    sender.send(()).unwrap();
                });
                // Ends only once the inner job has run, on the other worker.
                receiver.recv().unwrap();
                note("outer");
            });
        });
        assert_eq!(log.into_inner().unwrap(), ["inner", "outer"]);
    });
}

#[test]
fn a_scope_in_a_busy_pool_gets_on_with_one_free_worker() {
    watchdog(|| {
        let pool = pool(4);
        let busy = occupy(&pool, 3);
        let mut done = [false; 100];
        pool.scope(|s| done.iter_mut().for_each(|flag| s.spawn(|_| *flag = true)));
        assert_eq!(done, [true; 100]);
        drop(busy);
    });
}
