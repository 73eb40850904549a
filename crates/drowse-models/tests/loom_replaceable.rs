//! What many use and few replace: nobody has it when it is taken away.
#![cfg(drowse_loom)]

use drowse_models::every_interleaving;
use drowse_sync::{Arc, Lifetime, Replaceable, hint, thread};

struct Value {
    lifetime: Lifetime,
    number: u32,
}

impl Value {
    fn new(number: u32) -> Self {
        Self { lifetime: Lifetime::new(), number }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.lifetime.over();
    }
}

fn use_it(shared: &Replaceable<Value>) -> Option<u32> {
    shared.get().map(|value| {
        value.lifetime.used();
        value.number
    })
}

/// Boxed values that move are dropped where they are taken.
fn take(shared: &Replaceable<Value>) -> Option<u32> {
    shared.take(hint::spin_loop).map(|value| value.number)
}

#[test]
fn who_takes_it_away_waits_for_those_who_use_it() {
    every_interleaving(|| {
        let shared = Arc::new(Replaceable::new());
        shared.set(Value::new(1)).ok().unwrap();
        let user = thread::spawn({
            let shared = Arc::clone(&shared);
            move || use_it(&shared)
        });
        assert_eq!(take(&shared), Some(1));
        assert!(matches!(user.join().unwrap(), None | Some(1)));
        assert_eq!(use_it(&shared), None);
    });
}

/// The user may have looked which count it takes before the first value went.
#[test]
fn a_user_that_was_slow_is_waited_for_by_the_next_one() {
    every_interleaving(|| {
        let shared = Arc::new(Replaceable::new());
        shared.set(Value::new(1)).ok().unwrap();
        let user = thread::spawn({
            let shared = Arc::clone(&shared);
            move || use_it(&shared)
        });
        assert_eq!(take(&shared), Some(1));
        shared.set(Value::new(2)).ok().unwrap();
        assert_eq!(take(&shared), Some(2));
        assert!(user.join().unwrap().is_none_or(|number| number <= 2));
    });
}
