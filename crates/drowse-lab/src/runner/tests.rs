//! How rounds are filled.

use super::*;
use crate::plan::Selection;
use crate::schema::Figures;

fn plan() -> Plan {
    let selection = Selection {
        workloads: vec!["fib".into(), "ticks".into()],
        contenders: vec!["drowse".into(), "rayon".into()],
        threads: vec![2],
    };
    Plan::quick(&selection, 2)
}

/// Cells that have had a process each, which took so many seconds.
fn tallies(costs: [u64; 4]) -> Vec<Tally> {
    let tally = |seconds| {
        let mut tally = Tally::default();
        tally.add(Answer::Figures(Figures::default(), false), Duration::from_secs(seconds));
        tally
    };
    costs.into_iter().map(tally).collect()
}

#[test]
fn the_first_round_has_every_cell() {
    let fresh: Vec<_> = (0..4).map(|_| Tally::default()).collect();
    assert_eq!(affordable(&plan(), &fresh, Some(Duration::ZERO), Duration::ZERO), [0, 1, 2, 3]);
}

#[test]
fn later_ones_keep_to_the_time_that_is_left() {
    let seconds = |left| {
        affordable(&plan(), &tallies([3, 3, 1, 1]), Some(Duration::from_secs(left)), Duration::ZERO)
    };
    assert_eq!(seconds(8), [2, 3, 0, 1]);
    assert_eq!(seconds(7), [2, 3], "both contenders of the cheaper workload");
    assert!(seconds(1).is_empty());
    assert_eq!(affordable(&plan(), &tallies([3, 3, 1, 1]), None, Duration::ZERO), [0, 1, 2, 3]);
}

#[test]
fn rounds_are_shortened_rather_than_cut() {
    let milliseconds = Duration::from_millis;
    let tallies = tallies([2, 2, 1, 1]);
    let (time, left) = (milliseconds(800), |seconds| Some(Duration::from_secs(seconds)));
    assert_eq!(shortened(time, &tallies, None, 2), time);
    assert_eq!(shortened(time, &tallies, left(13), 2), time, "twice six seconds fit");
    let shorter = shortened(time, &tallies, left(10), 2);
    assert!((milliseconds(400)..milliseconds(700)).contains(&shorter), "{shorter:?}");
    assert_eq!(
        affordable(&plan(), &tallies, left(5), time - shorter).len(),
        4,
        "the next round is whole"
    );
    assert_eq!(shortened(time, &tallies, left(1), 2), LEAST_TIME);
    let fresh: Vec<_> = (0..4).map(|_| Tally::default()).collect();
    assert_eq!(shortened(time, &fresh, left(1), 2), time, "nothing is known yet");
}

#[test]
fn who_cannot_is_not_asked_again() {
    let mut tallies = tallies([1; 4]);
    tallies[1] = Tally::default();
    tallies[1].add(Answer::Cannot("too small".to_owned()), Duration::from_secs(1));
    assert_eq!(affordable(&plan(), &tallies, None, Duration::ZERO), [0, 2, 3]);
    assert_eq!(
        affordable(&plan(), &tallies, Some(Duration::from_secs(60)), Duration::ZERO),
        [0, 2, 3]
    );
}

#[test]
fn each_round_has_an_order_of_its_own() {
    let order = |round| {
        let mut indices: Vec<_> = (0..20).collect();
        shuffle(&mut indices, round);
        indices
    };
    assert_ne!(order(0), order(1));
    assert_eq!(order(1), order(1));
    let mut sorted = order(2);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..20).collect::<Vec<_>>());
}

#[test]
fn who_is_known_to_be_unable_is_not_asked_at_all() {
    let mut plan = plan();
    plan.places[2].contender = "serial".to_owned();
    plan.places[3].contender = "chili".to_owned();
    let known: Vec<_> = plan.places.iter().map(process::cannot).collect();
    assert_eq!((&known[0], &known[1]), (&None, &None));
    assert_eq!(known[2].as_deref(), Some("there is no pool to give a job to"));
    assert_eq!(known[3].as_deref(), Some("it takes no jobs that nobody waits for"));
    let tallies: Vec<_> = known.into_iter().map(Tally::without).collect();
    assert_eq!(affordable(&plan, &tallies, None, Duration::ZERO), [0, 1], "and not counted");
    assert_eq!(expected(&plan, &tallies, 0, 2), 2 * plan.rounds);
}
