//! Test of the protocols' tables, for every word that a small pool can reach.
//!
//! A protocol is a table, so all of it can be tried. The explorer plays three workers and the
//! posters: each worker is somewhere on its way to sleep and back, and any of them may take its
//! next step. From every state that can be reached it takes every step, and checks what must hold.
//! The steps in between (fences, looks, slots) are not played here: the models test them.

use crate::defer::{Guarantor, is_clear, note_sentry, without};
use crate::{
    Announcement, Baton, Counters, Heads, Idleness, Jec, Posted, Protocol, Relay, Sleepy, Wake,
    WakeSize,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const WORKERS: usize = 3;

/// Room of the pool: fewer than there are workers.
const ROOM: usize = 2;

/// Limit for a counter of events, to keep the number of states finite.
const MOST_EVENTS: u64 = 8;

/// State of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Life {
    Active,
    Idle,
    /// With what it remembers, and whether anything was posted since.
    Sleepy {
        announced: u64,
        news: bool,
    },
    Asleep,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    word: u64,
    workers: [Life; WORKERS],
    /// Workers that were claimed, and are still counted as sleeping. They may run already.
    claimed: usize,
    /// The worker that is the sentry, or was and has yet to stand down.
    sentry: Option<usize>,
}

impl State {
    fn count(&self, is: impl Fn(Life) -> bool) -> usize {
        self.workers.iter().filter(|life| is(**life)).count()
    }

    fn asleep(&self) -> usize {
        self.count(|life| life == Life::Asleep)
    }

    fn searching(&self) -> usize {
        self.count(|life| matches!(life, Life::Idle | Life::Sleepy { .. }))
    }

    /// Returns the former sentry, which is up and has yet to stand down.
    fn relieved(&self) -> Option<usize> {
        self.sentry.filter(|worker| self.workers[*worker] != Life::Asleep)
    }

    fn with(&self, word: u64, worker: usize, life: Life) -> Self {
        let mut next = Self { word, ..self.clone() };
        next.workers[worker] = life;
        next
    }
}

/// Search through all states of a pool that sleeps by this protocol.
struct Explorer<'a> {
    protocol: &'a dyn Protocol,
    /// `true` if a post keeps sleepy workers from committing. If not, the last look comes later.
    posts_hold_back: bool,
    seen: HashSet<State>,
    todo: Vec<State>,
}

impl<'a> Explorer<'a> {
    fn explore(protocol: &'a dyn Protocol, posts_hold_back: bool) -> HashSet<State> {
        let mut explorer =
            Self { protocol, posts_hold_back, seen: HashSet::new(), todo: Vec::new() };
        explorer.reach(State {
            word: 0,
            workers: [Life::Active; WORKERS],
            claimed: 0,
            sentry: None,
        });
        while let Some(state) = explorer.todo.pop() {
            explorer.check(&state);
            (0..WORKERS).for_each(|worker| explorer.step(&state, worker));
            explorer.news(&state);
            if state.claimed > 0 {
                let word = protocol.uncount(state.word);
                explorer.reach(State { word, claimed: state.claimed - 1, ..state });
            }
        }
        explorer.seen
    }

    fn reach(&mut self, state: State) {
        let events = (state.word >> 16) & 0x7FFF_FFFF;
        if state.claimed <= WORKERS && events <= MOST_EVENTS && self.seen.insert(state.clone()) {
            self.todo.push(state);
        }
    }

    fn check(&self, state: &State) {
        if self.protocol.rules().counts_heads {
            let heads = Heads::of(state.word);
            let active = state.count(|life| life == Life::Active);
            let counted =
                Heads { inactive: WORKERS - active, sleeping: state.asleep() + state.claimed };
            assert_eq!(heads, counted, "{state:?}");
        }
        if state.asleep() > 0 {
            assert_ne!(state.word & crate::ATTENTION, 0, "a post would not look: {state:?}");
        }
        if state.workers == [Life::Active; WORKERS] && state.claimed == 0 {
            assert!(self.protocol.is_clear(state.word), "{state:?}");
        }
    }

    /// Takes every step that the worker can take next.
    fn step(&mut self, state: &State, worker: usize) {
        let (protocol, word) = (self.protocol, state.word);
        if state.relieved() == Some(worker) {
            // A former sentry first stands down.
            return self.reach(State {
                word: without(word, Guarantor::Sleeper),
                sentry: None,
                ..state.clone()
            });
        }
        match state.workers[worker] {
            Life::Active => {
                self.reach(state.with(protocol.start_looking(word), worker, Life::Idle));
            }
            Life::Idle => {
                self.stop(state, worker);
                if let Some((word, Announcement(announced))) = protocol.announce(word, worker) {
                    let undisturbed = protocol.commit(word, Announcement(announced));
                    assert!(
                        undisturbed.is_some(),
                        "nobody disturbs it, and it cannot sleep: {state:?}"
                    );
                    self.reach(state.with(word, worker, Life::Sleepy { announced, news: false }));
                }
            }
            Life::Sleepy { announced, news } => {
                let word = protocol.cancel(word, Announcement(announced));
                let awake = state.with(word, worker, Life::Idle);
                self.stop(&awake, worker);
                self.reach(awake);
                match protocol.commit(state.word, Announcement(announced)) {
                    Some(word) => {
                        assert!(!(news && self.posts_hold_back), "it sleeps on news: {state:?}");
                        self.reach(state.with(word, worker, Life::Asleep));
                    }
                    // A commit that fails has ended the announcement without a change of the word.
                    None => self.reach(state.with(state.word, worker, Life::Idle)),
                }
            }
            // Its last look found something, or a waker stopped it; or it was the sentry, and gets
            // up.
            Life::Asleep => {
                if protocol.rules().counts_heads {
                    self.reach(state.with(protocol.uncount(word), worker, Life::Idle));
                }
            }
        }
    }

    fn stop(&mut self, state: &State, worker: usize) {
        let (word, baton) = self.protocol.stop_looking(state.word);
        let stopped = state.with(word, worker, Life::Active);
        // Posts may have counted on it. (But a claimed worker that is still counted will search.)
        let counted_on = self.protocol.rules().counts_heads && stopped.claimed == 0;
        if counted_on && stopped.searching() == 0 && stopped.asleep() > 0 {
            assert_eq!(baton, Baton::Pass, "{stopped:?}");
        }
        self.reach(stopped);
    }

    /// Posts everything that can be posted, and wakes what that asks for.
    fn news(&mut self, state: &State) {
        let everybody_told = State {
            workers: state.workers.map(|life| match life {
                Life::Sleepy { announced, .. } => Life::Sleepy { announced, news: true },
                other => other,
            }),
            ..state.clone()
        };
        for posted in every_post() {
            if state.word & crate::ATTENTION == 0 {
                continue;
            }
            let (word, wake) = note_sentry(self.protocol.post(state.word, &posted));
            if let Wake::Any(wanted) = wake {
                let counted = state.asleep() + state.claimed;
                assert!(wanted <= counted, "it wakes more than there are: {state:?} {posted:?}");
            }
            let awaited = state.searching() + state.claimed;
            if state.asleep() > 0 && awaited == 0 && state.sentry.is_none() {
                assert!(!matches!(wake, Wake::Nobody | Wake::Any(0)), "lost: {state:?} {posted:?}");
            }
            if wake == Wake::Sentry {
                assert!(state.sentry.is_none(), "there is one: {state:?} {posted:?}");
            }
            self.wake(&State { word, ..everybody_told.clone() }, wake);
            if posted.jobs == 1 {
                let (word, wake) = note_sentry(self.protocol.baton(state.word, &posted));
                self.wake(&State { word, ..state.clone() }, wake);
            }
        }
        let (word, wake) = self.protocol.alert(state.word);
        assert!(wake == Wake::All || state.asleep() == 0, "not all are woken: {state:?}");
        // If the last look comes after the commit, it covers the sleepy workers.
        let late = self.protocol.rules().counts_heads;
        self.wake(&State { word, ..if late { state.clone() } else { everybody_told } }, wake);
    }

    /// Does this in every possible way.
    fn wake(&mut self, state: &State, wake: Wake) {
        let asleep: Vec<usize> =
            (0..WORKERS).filter(|worker| state.workers[*worker] == Life::Asleep).collect();
        let wanted = match wake {
            Wake::Nobody => 0,
            Wake::Any(wanted) => wanted.min(asleep.len()),
            Wake::Only(_) => unreachable!("no post concerns one worker"),
            Wake::All => asleep.len(),
            Wake::Sentry if asleep.is_empty() => {
                let word = without(state.word, Guarantor::Sleeper);
                return self.wake(&State { word, ..state.clone() }, Wake::Any(1));
            }
            Wake::Sentry => {
                for worker in asleep {
                    self.reach(State { sentry: Some(worker), ..state.clone() });
                }
                return;
            }
        };
        for chosen in 0..1_usize << asleep.len() {
            if chosen.count_ones() as usize != wanted {
                continue;
            }
            let mut next = State { claimed: state.claimed + wanted, ..state.clone() };
            for (bit, worker) in asleep.iter().enumerate() {
                if chosen & 1 << bit != 0 {
                    next.workers[*worker] = Life::Idle;
                }
            }
            self.reach(next);
        }
    }
}

fn every_post() -> impl Iterator<Item = Posted> {
    (0..24).map(|kind| Posted {
        jobs: kind / 8 + 1,
        by_worker: kind & 1 != 0,
        queue_was_empty: kind & 2 != 0,
        workers: WORKERS,
        room: if kind & 4 != 0 { usize::MAX } else { ROOM },
    })
}

#[test]
fn counters_in_every_state() {
    for idleness in [Idleness::Counted, Idleness::LocalQueue, Idleness::KeepOneMore] {
        for wake in [WakeSize::Needed, WakeSize::PowerOfTwo] {
            let states = Explorer::explore(&Counters { idleness, wake }, false);
            assert!(states.len() > 100, "{}", states.len());
        }
    }
}

#[test]
fn jec_in_every_state() {
    for jec in [Jec::new(), Jec::of_every_post()] {
        let states = Explorer::explore(&jec, true);
        assert!(states.len() > 1_000, "{}", states.len());
    }
}

#[test]
fn relay_in_every_state() {
    let states = Explorer::explore(&Relay, false);
    assert!(states.len() > 1_000, "{}", states.len());
    assert!(states.iter().any(|state| state.sentry.is_some()));
}

#[test]
fn sleepy_in_every_state() {
    let states = Explorer::explore(&Sleepy, true);
    assert!(states.len() > 20, "{}", states.len());
}

#[derive(Debug)]
struct WakesNobody;

impl Protocol for WakesNobody {
    fn rules(&self) -> crate::Rules {
        crate::Rules::named("wakes-nobody")
    }

    fn post(&self, word: u64, _posted: &Posted) -> (u64, Wake) {
        (word, Wake::Nobody)
    }
}

#[test]
#[should_panic(expected = "lost")]
fn a_table_that_loses_jobs_is_noticed() {
    Explorer::explore(&WakesNobody, false);
}

#[test]
#[should_panic(expected = "it sleeps on news")]
fn a_table_that_does_not_hold_back_is_noticed() {
    Explorer::explore(&Counters::default(), true);
}

/// Draws the table for people: the outcome of each event for each word.
fn draw(protocol: &dyn Protocol, name: fn(u64) -> String) -> String {
    const COLUMNS: [&str; 7] =
        ["start", "stop", "announce", "commit", "post", "post of 3", "alert"];
    let mut rows: BTreeMap<String, [BTreeSet<String>; COLUMNS.len()]> = BTreeMap::new();
    let one_job =
        Posted { jobs: 1, by_worker: true, queue_was_empty: true, workers: WORKERS, room: ROOM };
    for State { word, workers, claimed, sentry } in Explorer::explore(protocol, false) {
        if claimed > 0 || sentry.is_some_and(|worker| workers[worker] != Life::Asleep) {
            continue;
        }
        let row = rows.entry(name(word)).or_default();
        for (worker, life) in workers.into_iter().enumerate() {
            match life {
                Life::Active => _ = row[0].insert(name(protocol.start_looking(word))),
                Life::Idle => {
                    let (word_then, baton) = protocol.stop_looking(word);
                    let baton = if baton == Baton::Pass { ", baton" } else { "" };
                    row[1].insert(name(word_then) + baton);
                    let announced = protocol.announce(word, worker);
                    row[2].insert(announced.map_or("not now".into(), |(word, _)| name(word)));
                }
                Life::Sleepy { announced, .. } => {
                    let committed = protocol.commit(word, Announcement(announced));
                    row[3].insert(committed.map_or("no: news".into(), name));
                }
                Life::Asleep => {}
            }
        }
        let outcome = |(word_then, wake): (u64, Wake)| match wake {
            Wake::Nobody | Wake::Any(0) if word_then == word => String::from("-"),
            Wake::Nobody | Wake::Any(0) => name(word_then),
            Wake::Any(wanted) => format!("{}, wakes {wanted}", name(word_then)),
            Wake::Only(_) | Wake::All => format!("{}, wakes all", name(word_then)),
            Wake::Sentry => format!("{}, posts it", name(word_then)),
        };
        row[4].insert(outcome(note_sentry(protocol.post(word, &one_job))));
        row[5].insert(outcome(note_sentry(protocol.post(word, &Posted { jobs: 3, ..one_job }))));
        row[6].insert(outcome(protocol.alert(word)));
    }
    let mut table =
        format!("| word | {} |\n|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len() + 1));
    for (word, cells) in rows {
        let cells = cells.map(|cell| match cell.len() {
            0 => String::from("-"),
            _ => cell.into_iter().collect::<Vec<_>>().join(" or "),
        });
        table += &format!("| {word} | {} |\n", cells.join(" | "));
    }
    table
}

/// Formats inactive and sleeping workers.
fn heads(word: u64) -> String {
    let Heads { inactive, sleeping } = Heads::of(word);
    format!("{inactive}/{sleeping}")
}

#[test]
fn the_readmes_show_the_tables() {
    let even_or_odd =
        |word| format!("{} {}", heads(word), if word & 1 << 16 == 0 { "odd" } else { "even" });
    let with_sentry = |word| heads(word) + if is_clear(word) { "" } else { " sentry" };
    for (readme, table) in [
        (include_str!("counters/README.md"), draw(&Counters::default(), heads)),
        (include_str!("jec/README.md"), draw(&Jec::new(), even_or_odd)),
        (include_str!("relay/README.md"), draw(&Relay, with_sentry)),
        (include_str!("sleepy/README.md"), draw(&Sleepy, |word| word.to_string())),
    ] {
        assert!(readme.contains(&table), "put this into the README:\n{table}");
    }
}
