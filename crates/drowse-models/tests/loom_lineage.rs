//! What a worker shows others of the job that it is in the middle of.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Steal};
use drowse::model::{Descent, Lineage};
use drowse_models::with_preemptions;
use drowse_sync::{Arc, thread, without_light_fences};
use std::ptr::NonNull;

const FIRST: Descent = (1, 10, 100);
const SECOND: Descent = (2, 20, 200);

/// Somebody looks while the worker works. (It is the worker that begins: loom overlooks what comes
/// between two steps of a thread that loads a word and then stores to it.)
fn look_while(work: fn(&Lineage)) {
    with_preemptions(2, move || {
        let lineage = Arc::new(Lineage::new());
        let other = thread::spawn({
            let lineage = Arc::clone(&lineage);
            move || {
                if let Some(descent) = lineage.read().and_then(|seen| lineage.if_still(seen)) {
                    assert!([FIRST, SECOND].contains(&descent), "{descent:?} is a mixture");
                }
            }
        });
        work(&lineage);
        other.join().unwrap();
        assert!(lineage.read().is_none());
    });
}

#[test]
fn nobody_sees_a_mixture_of_two_jobs() {
    look_while(|lineage| {
        [FIRST, SECOND].into_iter().for_each(|descent| lineage.run_stolen(descent, || ()))
    });
}

/// The outer one goes on when the inner one has ended.
#[test]
fn nobody_sees_a_mixture_of_a_job_and_one_inside() {
    look_while(|lineage| lineage.run_stolen(FIRST, || lineage.run_stolen(SECOND, || ())));
}

/// The two jobs push to the same position, and whoever looks for the descendants of the first one
/// may find that of the second.
#[test]
fn what_another_job_has_pushed_is_not_taken_for_a_descendant() {
    with_preemptions(2, || {
        without_light_fences();
        let (owner, stealer) = deque::cold::<Descent>(2);
        let (first, second) = ((1, 10, owner.position()), (2, 20, owner.position()));
        let lineage = Arc::new(Lineage::new());
        let thief = thread::spawn({
            let lineage = Arc::clone(&lineage);
            move || {
                let seen = lineage.read()?;
                let Steal::Success((item, position)) = stealer.steal_by_force_since(seen.since())
                else {
                    return None;
                };
                assert!(position >= seen.since());
                // SAFETY: the item is on the stack of whoever waits for this thread.
                let pushed_in = unsafe { *item.as_ref() };
                if let Some(descent) = lineage.if_still(seen) {
                    assert_eq!(descent, pushed_in);
                }
                Some(())
            }
        });
        lineage.run_stolen(first, || ());
        lineage.run_stolen(second, || {
            owner.push(NonNull::from(&second));
            _ = owner.pop_since(second.2);
        });
        thief.join().unwrap();
    });
}
