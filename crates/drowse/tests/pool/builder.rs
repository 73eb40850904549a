//! `ThreadPoolBuilder`: how many threads, of which names, with which stacks.

use crate::common::{self, assert_works, fib, watchdog, watchdog_for_life};
use drowse::ThreadPoolBuilder;
use std::hint;
use std::sync::{Arc, Mutex};
use std::thread;

/// The names of a pool's threads, by index.
fn names(pool: &drowse::ThreadPool) -> Vec<Option<String>> {
    pool.broadcast(|_| thread::current().name().map(str::to_owned))
}

#[test]
fn a_pool_has_as_many_threads_as_asked_for() {
    watchdog(|| {
        for num_threads in [1, 2, 3, 8, 64] {
            let pool = ThreadPoolBuilder::new().num_threads(num_threads).build().unwrap();
            assert_eq!(pool.current_num_threads(), num_threads);
            assert_works(&pool);
        }
    });
}

#[test]
fn zero_threads_means_as_many_as_the_global_pool_has_by_default() {
    watchdog(|| {
        for builder in [
            ThreadPoolBuilder::new(),
            ThreadPoolBuilder::default(),
            ThreadPoolBuilder::new().num_threads(0),
            ThreadPoolBuilder::new().num_threads(5).num_threads(0),
        ] {
            let pool = builder.build().unwrap();
            assert_eq!(pool.current_num_threads(), drowse::current_num_threads());
            assert_works(&pool);
        }
    });
}

#[test]
fn threads_are_named_by_their_index() {
    watchdog(|| {
        let builder =
            ThreadPoolBuilder::new().num_threads(4).thread_name(|index| format!("dozer {index}"));
        let expected = (0..4).map(|index| Some(format!("dozer {index}")));
        assert!(names(&builder.build().unwrap()).into_iter().eq(expected));
    });
}

#[test]
fn names_are_asked_for_once_each_and_in_order() {
    watchdog(|| {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        let mut calls = 0;
        let builder = ThreadPoolBuilder::new().num_threads(3).thread_name(move |index| {
            list.lock().unwrap().push(index);
            calls += 1;
            format!("call {calls}")
        });
        let pool = builder.build().unwrap();
        assert_eq!(*asked.lock().unwrap(), [0, 1, 2]);
        let expected = ["call 1", "call 2", "call 3"].map(|name| Some(name.to_owned()));
        assert_eq!(names(&pool), expected);
    });
}

#[test]
fn a_thread_that_was_taken_over_keeps_its_name() {
    watchdog_for_life(|| {
        let own = thread::current().name().map(str::to_owned);
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
        assert_eq!(names(&pool)[0], own);
    });
}

/// Uses at least so many KiB of stack.
fn dive(kib: usize) -> usize {
    let frame = hint::black_box([1_u8; 1024]);
    if kib == 0 { 0 } else { dive(kib - 1) + usize::from(frame[kib % 1024]) }
}

#[test]
fn a_big_stack_holds_a_deep_recursion() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).stack_size(64 << 20).build().unwrap();
        // Many times what a thread has by default, on each of them, and in jobs of all kinds.
        assert_eq!(pool.broadcast(|_| dive(20 << 10)), [20 << 10; 2]);
        assert_eq!(pool.join(|| dive(20 << 10), || dive(20 << 10)), (20 << 10, 20 << 10));
        pool.scope(|s| s.spawn(|_| assert_eq!(dive(20 << 10), 20 << 10)));
    });
}

#[test]
fn a_small_stack_is_enough_for_the_pool_itself() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(4).stack_size(256 << 10).build().unwrap();
        assert_eq!(pool.install(|| fib(15)), 610);
        let mut done = vec![false; 10_000];
        pool.scope(|s| done.iter_mut().for_each(|flag| s.spawn(|_| *flag = true)));
        assert!(done.into_iter().all(|flag| flag));
    });
}

#[test]
fn the_last_word_on_an_option_counts() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(5)
            .thread_name(|_| "old".into())
            .num_threads(2)
            .thread_name(|_| "new".into())
            .build()
            .unwrap();
        assert_eq!(names(&pool), [Some("new".to_owned()), Some("new".to_owned())]);
    });
}

#[test]
fn a_builder_says_what_was_chosen() {
    let said = format!(
        "{:?}",
        ThreadPoolBuilder::new().num_threads(3).stack_size(7).start_handler(|_| ())
    );
    for part in
        ["ThreadPoolBuilder", "num_threads: 3", "stack_size: Some(7)", "start_handler: true"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(
        said.contains("panic_handler: false") && said.contains("use_current_thread: false"),
        "{said}"
    );
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn a_stack_that_cannot_be_had_is_an_error_that_says_what_to_do() {
    watchdog(|| {
        let error =
            ThreadPoolBuilder::new().num_threads(2).stack_size(1 << 60).build().unwrap_err();
        let said = error.to_string();
        for part in ["thread could not be started", "fewer threads", "smaller stacks"] {
            assert!(said.contains(part), "{part} in {said}");
        }
        let source = std::error::Error::source(&error).expect("the system's own error is kept");
        assert!(source.is::<std::io::Error>());
        assert!(said.contains(&source.to_string()), "{source} in {said}");
    });
}

#[test]
fn pools_do_not_mind_each_other() {
    watchdog(|| {
        let pools: Vec<_> = (1..=8).map(common::pool).collect();
        for pool in &pools {
            assert_works(pool);
        }
        let sum: usize = pools.iter().map(|pool| pool.install(drowse::current_num_threads)).sum();
        assert_eq!(sum, 36);
    });
}
