//! Placeholders: a job that a worker takes before its turn is run once.
#![cfg(drowse_loom)]

use drowse::model::Placeholder;
use drowse_models::every_interleaving;
use drowse_sync::thread;

/// A thief has stolen the placeholder while the worker takes the job out of it.
#[test]
fn a_job_that_is_taken_before_its_turn_is_run_once() {
    every_interleaving(|| {
        let (placeholder, stolen) = Placeholder::new();
        let thief = thread::spawn(move || stolen.execute());
        placeholder.run_early();
        thief.join().unwrap();
        assert_eq!(placeholder.runs(), 1);
    });
}
