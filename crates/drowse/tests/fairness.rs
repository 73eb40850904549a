//! What comes from outside does not starve behind local work that never ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

mod common;

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
