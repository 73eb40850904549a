//! `build_global`: the global pool as the program wants it, once. Each test is a process of its
//! own.

use crate::common::child::{in_child, this_test};
use crate::common::fib;
use drowse::ThreadPoolBuilder;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

#[test]
fn it_makes_the_global_pool_what_was_asked_for() {
    let ended = in_child(this_test!(), &[], || {
        let builder =
            ThreadPoolBuilder::new().num_threads(5).thread_name(|index| format!("global {index}"));
        builder.build_global().unwrap();
        assert_eq!(drowse::current_num_threads(), 5);
        let names = drowse::broadcast(|_| thread::current().name().map(str::to_owned));
        assert!(names.into_iter().eq((0..5).map(|index| Some(format!("global {index}")))));
        assert_eq!(fib(15), 610);
        let mut scoped = 0;
        drowse::scope(|s| s.spawn(|_| scoped = 1));
        assert_eq!(scoped, 1);
        assert_eq!(drowse::current_thread_index(), None);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn it_works_once() {
    let ended = in_child(this_test!(), &[], || {
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
        let mut started = 0;
        let again = ThreadPoolBuilder::new().num_threads(7).spawn_handler(|_| {
            started += 1;
            Ok(())
        });
        let said = again.build_global().unwrap_err().to_string();
        assert!(said.contains("already been initialized"), "{said}");
        assert_eq!(started, 0, "not even tried");
        assert_eq!(drowse::current_num_threads(), 2);
        assert_eq!(fib(15), 610);
    });
    ended.assert_done();
}

#[test]
fn it_comes_too_late_once_the_global_pool_was_used() {
    let ended = in_child(this_test!(), &[], || {
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
        let before = drowse::current_num_threads();
        let said = ThreadPoolBuilder::new()
            .num_threads(before + 1)
            .build_global()
            .unwrap_err()
            .to_string();
        assert!(said.contains("already been initialized"), "{said}");
        assert_eq!(drowse::current_num_threads(), before);
    });
    ended.assert_done();
}

#[test]
fn a_pool_of_ones_own_is_not_the_global_one() {
    let ended = in_child(this_test!(), &[], || {
        let own = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(own.install(|| fib(10)), 55);
        ThreadPoolBuilder::new().num_threads(4).build_global().unwrap();
        assert_eq!(
            (own.install(drowse::current_num_threads), drowse::current_num_threads()),
            (3, 4)
        );
    });
    ended.assert_done();
}

#[test]
fn all_its_threads_run_when_it_returns() {
    let ended = in_child(this_test!(), &[], || {
        let mut threads = Vec::new();
        let builder = ThreadPoolBuilder::new().num_threads(4).spawn_handler(|worker| {
            let thread = thread::Builder::new().name(format!("mine {}", worker.index()));
            threads.push(thread.spawn(|| worker.run())?);
            Ok(())
        });
        builder.build_global().unwrap();
        assert!(threads.len() == 4 && threads.iter().all(|thread| !thread.is_finished()));
        let names = drowse::broadcast(|_| thread::current().name().map(str::to_owned));
        assert!(names.into_iter().eq((0..4).map(|index| Some(format!("mine {index}")))));
    });
    ended.assert_done();
}

#[test]
fn the_calling_thread_may_be_one_of_its_workers() {
    let ended = in_child(this_test!(), &[], || {
        ThreadPoolBuilder::new().num_threads(2).use_current_thread().build_global().unwrap();
        assert_eq!(drowse::current_thread_index(), Some(0));
        assert_eq!((drowse::current_num_threads(), fib(15)), (2, 610));
        let elsewhere = thread::spawn(|| (drowse::current_num_threads(), drowse::join(|| 1, || 2)));
        assert_eq!(elsewhere.join().unwrap(), (2, (1, 2)));
    });
    ended.assert_done();
}

#[test]
fn its_panic_handler_hears_of_global_spawns() {
    let ended = in_child(this_test!(), &[], || {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let builder =
            builder.panic_handler(move |payload| sender.lock().unwrap().send(payload).unwrap());
        builder.build_global().unwrap();
        drowse::spawn(|| panic!("bad dream"));
        assert_eq!(receiver.recv().unwrap().downcast_ref(), Some(&"bad dream"));
        assert_eq!(fib(10), 55);
    });
    ended.assert_done();
}

#[test]
fn if_it_fails_the_error_says_why_and_work_runs_all_the_same() {
    let ended = in_child(this_test!(), &[], || {
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let builder = builder.spawn_handler(|_| Err(io::Error::other("no threads today")));
        let said = builder.build_global().unwrap_err().to_string();
        assert!(said.contains("no threads today"), "{said}");
        assert_eq!(fib(10), 55);
    });
    ended.assert_done();
}

#[test]
fn if_it_fails_one_may_try_again() {
    let ended = in_child(this_test!(), &[], || {
        let builder = ThreadPoolBuilder::new().num_threads(7);
        builder
            .spawn_handler(|_| Err(io::Error::other("no threads today")))
            .build_global()
            .unwrap_err();
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
        assert_eq!(drowse::current_num_threads(), 2);
        assert_eq!(fib(10), 55);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

/// The message of a panic.
fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).expect("a message")
}

#[test]
fn a_closure_that_names_threads_cannot_use_the_pool_that_it_helps_to_build() {
    let ended = in_child(this_test!(), &[], || {
        let built = std::panic::catch_unwind(|| {
            let name = |_| drowse::join(|| "a", || "b").0.to_owned();
            ThreadPoolBuilder::new().num_threads(2).thread_name(name).build_global()
        });
        let payload = built.expect_err("the name cannot be found");
        let said = message(&*payload);
        assert!(said.contains("is being built by this very thread"), "{said}");
        assert_eq!(fib(15), 610, "the next one may try");
    });
    ended.assert_done();
}

#[test]
fn a_spawn_handler_cannot_use_or_build_the_pool_that_it_helps_to_build() {
    let ended = in_child(this_test!(), &[], || {
        let spawn = |worker: drowse::ThreadBuilder| {
            let error = ThreadPoolBuilder::new().build_global().expect_err("it is being built");
            assert!(error.to_string().contains("is being built by this very thread"), "{error}");
            let used = std::panic::catch_unwind(|| drowse::scope(|_| ()));
            assert!(message(&*used.expect_err("it is being built")).contains("spawn handler"));
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        };
        ThreadPoolBuilder::new().num_threads(2).spawn_handler(spawn).build_global().unwrap();
        assert_eq!(fib(15), 610);
    });
    ended.assert_done();
}

#[test]
fn a_start_handler_can_use_the_pool_that_it_helps_to_start() {
    let ended = in_child(this_test!(), &[], || {
        let (sender, sums) = mpsc::channel();
        let sender = Mutex::new(sender);
        let start = move |_| sender.lock().unwrap().send(fib(10)).unwrap();
        ThreadPoolBuilder::new().num_threads(2).start_handler(start).build_global().unwrap();
        assert_eq!((sums.recv(), sums.recv()), (Ok(55), Ok(55)));
    });
    ended.assert_done();
}
