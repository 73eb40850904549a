//! A scope that is called off: whoever is told so sees what was done before.
#![cfg(drowse_loom)]

use drowse::CancelToken;
use drowse::model::Cancellation;
use drowse_models::{Parcel, every_interleaving};
use drowse_sync::{Arc, thread};

struct Shared {
    scope: Cancellation,
    token: CancelToken,
    parcel: Parcel,
}

/// One thread finds something and calls the scope off; another asks.
fn found(before: fn(&Shared), call_off: fn(&Shared)) {
    every_interleaving(move || {
        let shared = Arc::new(Shared {
            scope: Cancellation::new(),
            token: CancelToken::new(),
            parcel: Parcel::empty(),
        });
        before(&shared);
        let finder = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.parcel.put(42);
                call_off(&shared);
            }
        });
        let is_off = shared.scope.is_cancelled();
        if is_off {
            assert_eq!(shared.parcel.take(), 42);
            assert!(shared.scope.forbids_to_begin(), "it is never taken back");
        }
        finder.join().unwrap();
        assert!(shared.scope.forbids_to_begin());
        if !is_off {
            assert_eq!(shared.parcel.take(), 42);
        }
    });
}

#[test]
fn who_is_told_by_the_scope_sees_what_was_done_before() {
    found(|_| (), |shared| shared.scope.cancel());
}

#[test]
fn who_is_told_by_a_token_sees_what_was_done_before() {
    found(|shared| shared.scope.listen(&shared.token), |shared| shared.token.cancel());
}

#[test]
fn a_scope_that_comes_to_listen_hears_of_what_has_been() {
    found(|shared| shared.token.cancel(), |shared| shared.scope.listen(&shared.token));
}
