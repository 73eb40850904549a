//! What goes wrong is told in the words that programs may look for. True of rayon-core itself too.

mod common;

use common::{in_child, watchdog};
use rayon_core::{ThreadBuilder, ThreadPoolBuilder};
use std::error::Error;
use std::io;

const TWICE: &str = "The global thread pool has already been initialized.";

#[test]
fn the_global_pool_is_built_once() {
    in_child("the_global_pool_is_built_once", &[], || {
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
        let error = ThreadPoolBuilder::new().num_threads(3).build_global().unwrap_err();
        assert_eq!(error.to_string(), TWICE);
        assert!(error.source().is_none());
        assert_eq!(rayon_core::current_num_threads(), 2);
    });
}

#[test]
fn using_the_global_pool_builds_it() {
    in_child("using_the_global_pool_builds_it", &[("RAYON_NUM_THREADS", "2")], || {
        assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
        let error = ThreadPoolBuilder::new().build_global().unwrap_err();
        assert_eq!(error.to_string(), TWICE);
    });
}

#[test]
fn a_thread_works_for_one_pool() {
    watchdog(|| {
        let _first = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
        let error =
            ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap_err();
        assert_eq!(error.to_string(), "The current thread is already part of another thread pool.");
        assert!(error.source().is_none());
    });
}

#[test]
fn what_stops_a_thread_is_passed_on() {
    watchdog(|| {
        let refuse = |_: ThreadBuilder| Err(io::Error::other("no more threads today"));
        let error =
            ThreadPoolBuilder::new().num_threads(2).spawn_handler(refuse).build().unwrap_err();
        // drowse has advice besides.
        assert!(error.to_string().contains("no more threads today"));
        let source = error.source().expect("the handler's own").downcast_ref::<io::Error>();
        assert_eq!(source.map(ToString::to_string).as_deref(), Some("no more threads today"));
    });
}
