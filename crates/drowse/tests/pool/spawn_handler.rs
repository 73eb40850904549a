//! `spawn_handler`: the user starts the threads, or says why not.

use crate::common::{assert_works, caught, pool, watchdog};
use drowse::{ThreadBuilder, ThreadPoolBuilder};
use std::error::Error;
use std::io;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

#[test]
fn it_is_told_what_the_builder_knows_of_each_thread() {
    watchdog(|| {
        let mut told = Vec::new();
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .thread_name(|index| format!("dozer {index}"))
            .stack_size(1 << 20)
            .spawn_handler(|worker| {
                told.push((worker.index(), worker.name().map(str::to_owned), worker.stack_size()));
                thread::spawn(|| worker.run());
                Ok(())
            })
            .build()
            .unwrap();
        assert_works(&pool);
        let expected = (0..3).map(|index| (index, Some(format!("dozer {index}")), Some(1 << 20)));
        assert!(told.into_iter().eq(expected));
    });
}

#[test]
fn what_was_not_chosen_it_is_not_told() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
            assert_eq!((worker.name(), worker.stack_size()), (None, None));
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        });
        assert_works(&builder.build().unwrap());
    });
}

#[test]
fn options_may_be_chosen_before_and_after_it() {
    watchdog(|| {
        let (sender, exits) = mpsc::channel();
        let sender = Mutex::new(sender);
        let pool = ThreadPoolBuilder::new()
            .exit_handler(move |index| sender.lock().unwrap().send(index).unwrap())
            .spawn_handler(|worker| {
                assert_eq!(worker.name(), Some("late"));
                thread::Builder::new().name("mine".into()).spawn(|| worker.run()).map(drop)
            })
            .thread_name(|_| "late".into())
            .num_threads(2)
            .build()
            .unwrap();
        let names = pool.broadcast(|_| thread::current().name().map(str::to_owned));
        assert_eq!(names, [Some("mine".to_owned()), Some("mine".to_owned())]);
        drop(pool);
        assert_eq!(exits.iter().count(), 2);
    });
}

#[test]
fn threads_may_be_waited_for() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let mut threads = Vec::new();
            let builder = ThreadPoolBuilder::new().num_threads(width).spawn_handler(|worker| {
                threads.push(thread::spawn(move || {
                    let index = worker.index();
                    worker.run();
                    assert_eq!(drowse::current_thread_index(), None, "no worker any more");
                    index
                }));
                Ok(())
            });
            let pool = builder.build().unwrap();
            assert_works(&pool);
            drop(pool);
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            assert!(ended.eq(0..width));
        }
    });
}

#[test]
fn threads_may_borrow_from_whoever_waits_for_them() {
    watchdog(|| {
        let text = String::from("borrowed");
        let lengths = Mutex::new(Vec::new());
        thread::scope(|threads| {
            let builder = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
                threads.spawn(|| {
                    lengths.lock().unwrap().push(text.len());
                    worker.run();
                });
                Ok(())
            });
            assert_works(&builder.build().unwrap());
        });
        assert_eq!(lengths.into_inner().unwrap(), [8, 8]);
    });
}

#[test]
fn threads_may_come_later() {
    watchdog(|| {
        let mut workers: Vec<ThreadBuilder> = Vec::new();
        let builder = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
            workers.push(worker);
            Ok(())
        });
        let (pool, (sender, receiver)) = (builder.build().unwrap(), mpsc::channel());
        for i in 0..10 {
            let sender = sender.clone();
            pool.spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        assert!(receiver.try_recv().is_err(), "nobody is there yet");
        // One is enough to get on.
        thread::spawn({
            let worker = workers.remove(0);
            || worker.run()
        });
        assert_eq!(receiver.iter().sum::<i32>(), 45);
        let late = workers.remove(0);
        thread::spawn(|| late.run());
        assert_works(&pool);
    });
}

/// Starts threads, but refuses one of them. Returns the error of the build and the threads that
/// were started.
fn refuse(
    index: usize,
    use_current_thread: bool,
) -> (drowse::ThreadPoolBuildError, Vec<JoinHandle<()>>) {
    let mut threads = Vec::new();
    let builder = ThreadPoolBuilder::new().num_threads(4);
    let builder = if use_current_thread { builder.use_current_thread() } else { builder };
    let result = builder
        .spawn_handler(|worker| {
            if worker.index() == index {
                return Err(io::Error::other("not this one"));
            }
            threads.push(thread::spawn(|| worker.run()));
            Ok(())
        })
        .build();
    (result.unwrap_err(), threads)
}

#[test]
fn its_error_is_that_of_the_build_and_the_other_threads_end() {
    watchdog(|| {
        for index in 0..4 {
            let (error, threads) = refuse(index, false);
            assert!(error.to_string().contains("not this one"), "{error}");
            let source: &io::Error = error.source().unwrap().downcast_ref().unwrap();
            assert_eq!(source.to_string(), "not this one");
            assert_eq!(threads.len(), index);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

#[test]
fn its_error_also_lets_go_of_the_current_thread() {
    watchdog(|| {
        for index in 1..4 {
            let (error, threads) = refuse(index, true);
            assert!(error.to_string().contains("not this one"), "{error}");
            assert_eq!(drowse::current_thread_index(), None);
            assert_eq!(threads.len(), index - 1);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

#[test]
fn its_panic_is_that_of_the_build_and_the_other_threads_end() {
    watchdog(|| {
        let threads = Arc::new(Mutex::new(Vec::new()));
        let builder = ThreadPoolBuilder::new().num_threads(4).spawn_handler(|worker| {
            if worker.index() == 2 {
                std::panic::panic_any(worker.index());
            }
            threads.lock().unwrap().push(thread::spawn(|| worker.run()));
            Ok(())
        });
        assert_eq!(caught::<usize, _>(|| builder.build()), 2);
        let threads = std::mem::take(&mut *threads.lock().unwrap());
        assert_eq!(threads.len(), 2);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_worker_cannot_be_another_worker_too() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let builder = ThreadPoolBuilder::new().num_threads(1).spawn_handler(move |worker| {
            sender.send(worker).unwrap();
            Ok(())
        });
        let (inner, outer) = (builder.build().unwrap(), pool(1));
        let worker = receiver.recv().unwrap();
        let message = outer.install(|| caught::<&str, _>(|| worker.run()));
        assert!(message.contains("worker of one pool at a time"), "{message}");
        assert_works(&outer);
        drop(inner);
    });
}

#[test]
fn a_thread_builder_says_what_it_is() {
    watchdog(|| {
        let mut said = Vec::new();
        let builder = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "dozer".into());
        let builder = builder.spawn_handler(|worker| {
            said.push(format!("{worker:?}"));
            Ok(())
        });
        drop(builder.build().unwrap());
        assert_eq!(
            said,
            [r#"ThreadBuilder { index: 0, name: Some("dozer"), stack_size: None, .. }"#]
        );
    });
}
