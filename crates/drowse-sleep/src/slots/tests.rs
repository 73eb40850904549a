use super::{Claim, Grip, Slots};
use std::time::Duration;

#[test]
fn a_sentry_can_be_claimed_and_is_held_until_it_is_let_go() {
    let slots = Slots::new(1);
    slots.prepare(0);
    assert!(!slots.set_alarm(0), "it is not asleep yet");
    assert!(slots.enter(0));
    assert!(slots.set_alarm(0) && slots.is_asleep(0));
    assert!(slots.nap(0, Duration::from_micros(1)), "nobody has claimed it");
    let claim = slots.claim(0, Grip::LetGo);
    assert_eq!(claim, Claim::Relieved);
    assert!(
        !slots.nap(0, Duration::from_secs(60)) && !slots.get_up(0),
        "it is not the sentry any more"
    );
    assert!(slots.is_asleep(0), "held");
    slots.unpark(0, claim);
    assert!(!slots.is_asleep(0));
}

#[test]
fn a_sentry_gets_up_once() {
    let slots = Slots::new(1);
    slots.prepare(0);
    assert!(slots.enter(0) && slots.set_alarm(0));
    assert!(slots.get_up(0) && !slots.get_up(0));
    assert_eq!(slots.claim(0, Grip::LetGo), Claim::Awake);
}
