//! What the types can do besides their methods: cross threads, outlive panics, be shown.

use crate::common::{pool, watchdog};
use drowse::{
    Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder, Yield,
};
use std::error::Error;
use std::fmt::Debug;
use std::panic::{self, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::thread;

/// The name of a type that can do all of that.
fn shared<T: Send + Sync + Debug>() -> &'static str {
    std::any::type_name::<T>()
}

fn sent<T: Send + Debug>() -> &'static str {
    std::any::type_name::<T>()
}

fn survives<T: UnwindSafe + RefUnwindSafe>() -> &'static str {
    std::any::type_name::<T>()
}

#[test]
fn what_can_be_shared_or_sent() {
    let names = [
        shared::<ThreadPool>(),
        shared::<ThreadPoolBuildError>(),
        shared::<Yield>(),
        shared::<Scope<'static>>(),
        shared::<ScopeFifo<'static>>(),
        sent::<ThreadBuilder>(),
        survives::<ThreadPool>(),
    ];
    assert!(names.iter().all(|name| name.starts_with("drowse::")), "{names:?}");
}

#[test]
fn a_pool_can_be_shared_among_threads_and_ends_with_the_last() {
    watchdog(|| {
        let pool = Arc::new(pool(2));
        let threads: Vec<_> = (0..4)
            .map(|i| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || pool.install(|| i * i))
            })
            .collect();
        drop(pool);
        let squares: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(squares, [0, 1, 4, 9]);
    });
}

#[test]
fn panics_can_be_caught_round_a_pool_without_further_ado() {
    watchdog(|| {
        let pool = pool(1);
        assert!(
            panic::catch_unwind(|| pool.install(|| panic::resume_unwind(Box::new(1)))).is_err()
        );
        assert_eq!(panic::catch_unwind(|| pool.install(|| 42)).unwrap(), 42);
    });
}

#[test]
fn a_build_error_is_an_error_like_others() {
    watchdog(|| {
        let build = || -> Result<ThreadPool, Box<dyn Error + Send + Sync>> {
            let builder = ThreadPoolBuilder::new().num_threads(1);
            Ok(builder.spawn_handler(|_| Err(std::io::Error::other("refused"))).build()?)
        };
        let error = build().unwrap_err();
        assert!(error.is::<ThreadPoolBuildError>());
        assert!(error.to_string().contains("refused") && format!("{error:?}").contains("refused"));
    });
}
