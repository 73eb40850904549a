//! `build_scoped`: a pool whose threads may borrow, and which is gone when the call returns.

use crate::common::{assert_works, caught, watchdog};
use drowse::ThreadPoolBuilder;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

#[test]
fn it_returns_what_its_closure_returns() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let builder = ThreadPoolBuilder::new().num_threads(width);
            let result = builder.build_scoped(
                |worker| worker.run(),
                |pool| {
                    assert_works(pool);
                    pool.install(drowse::current_num_threads)
                },
            );
            assert_eq!(result.unwrap(), width);
        }
    });
}

#[test]
fn each_thread_is_wrapped_once_and_has_ended_when_the_call_returns() {
    watchdog(|| {
        let (before, after) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let builder = ThreadPoolBuilder::new().num_threads(8);
        let wrapper = |worker: drowse::ThreadBuilder| {
            let index = worker.index();
            before.lock().unwrap().push(index);
            worker.run();
            after.lock().unwrap().push(index);
        };
        builder.build_scoped(wrapper, assert_works).unwrap();
        for list in [before, after] {
            let mut indices = list.into_inner().unwrap();
            indices.sort_unstable();
            assert_eq!(indices, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    });
}

thread_local! {
    static LENT: Cell<Option<usize>> = const { Cell::new(None) };
}

#[test]
fn jobs_find_what_the_wrapper_prepared_for_their_thread() {
    watchdog(|| {
        let text = String::from("borrowed");
        let builder = ThreadPoolBuilder::new().num_threads(3);
        let wrapper = |worker: drowse::ThreadBuilder| {
            LENT.set(Some(text.len()));
            worker.run();
        };
        let found = builder.build_scoped(wrapper, |pool| pool.broadcast(|_| LENT.get())).unwrap();
        assert_eq!(found, [Some(8); 3]);
    });
}

#[test]
fn names_and_stacks_are_as_chosen() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new()
            .num_threads(2)
            .thread_name(|index| format!("dozer {index}"))
            .stack_size(32 << 20);
        let wrapper = |worker: drowse::ThreadBuilder| {
            assert_eq!(worker.stack_size(), Some(32 << 20));
            worker.run();
        };
        let names = builder.build_scoped(wrapper, |pool| {
            pool.broadcast(|_| {
                let big = std::hint::black_box([0_u8; 10 << 20]);
                thread::current().name().map(|name| format!("{name}, {}", big.len() >> 20))
            })
        });
        assert_eq!(
            names.unwrap(),
            ["dozer 0, 10", "dozer 1, 10"].map(|name| Some(name.to_owned()))
        );
    });
}

#[test]
fn what_was_spawned_has_run_when_the_call_returns() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let builder = ThreadPoolBuilder::new().num_threads(2);
        builder
            .build_scoped(
                |worker| worker.run(),
                |pool| {
                    for i in 0..1_000 {
                        let sender = sender.clone();
                        pool.spawn(move || sender.send(i).unwrap());
                    }
                },
            )
            .unwrap();
        assert_eq!(receiver.try_iter().sum::<i32>(), 499_500);
    });
}

#[test]
fn a_panic_of_the_closure_goes_on_once_the_threads_have_ended() {
    watchdog(|| {
        let ended = AtomicUsize::new(0);
        let payload = caught::<usize, _>(|| {
            let wrapper = |worker: drowse::ThreadBuilder| {
                worker.run();
                ended.fetch_add(1, Ordering::SeqCst);
            };
            let builder = ThreadPoolBuilder::new().num_threads(4);
            let result = builder.build_scoped(wrapper, |pool| {
                assert_works(pool);
                std::panic::panic_any(pool.current_num_threads());
            });
            unreachable!("{result:?}");
        });
        assert_eq!((payload, ended.into_inner()), (4, 4));
    });
}

#[test]
fn a_panic_of_a_wrapper_is_not_lost() {
    watchdog(|| {
        let ended = AtomicUsize::new(0);
        let message = caught::<&str, _>(|| {
            let wrapper = |worker: drowse::ThreadBuilder| {
                worker.run();
                ended.fetch_add(1, Ordering::SeqCst);
                panic!("after the run");
            };
            ThreadPoolBuilder::new().num_threads(2).build_scoped(wrapper, assert_works).unwrap();
        });
        assert!(message.contains("scoped thread panicked"), "{message}");
        assert_eq!(ended.into_inner(), 2);
    });
}

#[test]
fn scoped_pools_may_nest() {
    watchdog(|| {
        let widths = ThreadPoolBuilder::new().num_threads(2).build_scoped(
            |worker| worker.run(),
            |outer| {
                let builder = ThreadPoolBuilder::new().num_threads(3);
                let inner = |inner: &drowse::ThreadPool| {
                    outer.install(|| {
                        (drowse::current_num_threads(), inner.install(drowse::current_num_threads))
                    })
                };
                builder.build_scoped(|worker| worker.run(), inner).unwrap()
            },
        );
        assert_eq!(widths.unwrap(), (2, 3));
    });
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn if_threads_cannot_be_had_the_closure_is_not_called() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new().num_threads(2).stack_size(1 << 60);
        let result =
            builder.build_scoped(|worker| worker.run(), |_| unreachable!("there is no pool"));
        let said = result.unwrap_err().to_string();
        assert!(said.contains("thread could not be started"), "{said}");
    });
}
