//! Jobs, and what they go on with.

use crate::actions;
use crate::book::Page;
use crate::dice::Dice;
use crate::place::{Home, Place};
use crate::verdict::{demand, fail};
use crate::world::{Bomb, World};
use std::cell::RefCell;
use std::hint;
use std::ops::Range;
use std::panic::{panic_any, resume_unwind};

/// What a job returns, and nobody else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(u64);

/// A job that is to be run somewhere, once, by whatever the action under test does with it. It
/// notes itself when it is made, when it runs and when it is dropped.
#[derive(Debug)]
pub(crate) struct Job {
    world: &'static World,
    page: Page,
    /// The pages of the jobs that it may make in turn.
    pages: Range<Page>,
    dice: Dice,
    /// Where it must run.
    home: Home,
    /// It was made in isolation.
    isolated: bool,
    /// It was made by one who holds a lock.
    locked: bool,
    panics: bool,
}

/// A job that runs, or a thread outside, on its way through an action.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) world: &'static World,
    pub(crate) dice: Dice,
    /// Where we are.
    pub(crate) home: Home,
    pages: Range<Page>,
    /// What is made from now on is made in isolation.
    isolated: bool,
    /// And while a lock is held that others of the pool wait for.
    locked: bool,
    kind: usize,
}

impl Job {
    pub(crate) fn token(&self) -> Token {
        Token(self.world.plan.seed ^ u64::from(self.page + 1) << 32)
    }

    pub(crate) fn page(&self) -> Page {
        self.page
    }

    /// It is to run there.
    pub(crate) fn at(mut self, home: Home) -> Self {
        self.home = home;
        self
    }

    /// It panics at its end, and somebody waits for it.
    pub(crate) fn panicking(mut self) -> Self {
        self.panics = true;
        self
    }

    /// It panics at its end, and nobody waits for it, but for the pool's handler.
    pub(crate) fn loud(self) -> Self {
        self.world.book.is_loud(self.page);
        self.panicking()
    }

    /// It may be dropped without having run: who makes it has a way to cancel it.
    pub(crate) fn may_be_spared(self) -> Self {
        self.world.book.may_be_spared(self.page);
        self
    }

    /// Runs it, for those whom the result does not interest.
    pub(crate) fn go(self) {
        self.run();
    }

    pub(crate) fn run(mut self) -> Token {
        self.world.book.ran(self.page);
        let region = Region::enter(self.page);
        // In a pool that isolates, whatever waits is isolated.
        let _region = if self.home.isolates(self.world) {
            Region::of(self.page..self.pages.end)
        } else {
            region
        };
        let mut dice = self.dice.split();
        let way_to_panic = dice.below(4);
        let turn = Turn {
            world: self.world,
            dice,
            home: self.home,
            pages: self.pages.clone(),
            isolated: self.isolated,
            locked: self.locked,
            kind: 0,
        };
        turn.act(|kind| self.world.book.goes_on_with(self.page, kind));
        self.home.hold(self.world, || ());
        match self.panics {
            false => self.token(),
            // With the hook, and without.
            true if way_to_panic == 0 => panic_any(Bomb(self.page)),
            true => resume_unwind(Box::new(Bomb(self.page))),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.world.book.dropped(self.page);
    }
}

impl Turn {
    /// A thread outside that may make the jobs of these pages.
    pub(crate) fn outside(world: &'static World, dice: Dice, pages: Range<Page>) -> Self {
        Self { world, dice, home: Home::Outside, pages, isolated: false, locked: false, kind: 0 }
    }

    /// Does something, and notes it before it does.
    pub(crate) fn act(mut self, note: impl FnOnce(usize)) {
        self.busy();
        if let Some(kind) = actions::pick(&mut self) {
            self.kind = kind;
            note(kind);
            actions::run(kind, &mut self);
        }
    }

    /// Calls `f` in isolation. Until then nothing but what is made in it runs on this thread.
    pub(crate) fn isolated(&mut self, f: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.isolated, true);
        let _region = Region::of(self.pages.clone());
        drowse::isolate(|| f(self));
        self.isolated = before;
    }

    /// Calls `f` in isolation, with the lock of the pool that we are in, which others may be
    /// waiting for.
    pub(crate) fn locked(&mut self, f: impl FnOnce(&mut Self)) {
        let Home::Pool(pool) = self.home else { return f(self) };
        self.isolated(|turn| {
            let lock = turn.world.lock(pool);
            let blocks = turn.dice.one_in(2);
            let held = if blocks { drowse::blocking(|| lock.lock()) } else { lock.lock() };
            let before = std::mem::replace(&mut turn.locked, true);
            f(turn);
            turn.locked = before;
            drop(held);
        });
    }

    /// Whether somebody who has made this job holds a lock.
    pub(crate) fn is_locked(&self) -> bool {
        self.locked
    }

    /// Whether what is made now is made in isolation.
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated
    }

    /// How many jobs it may still make.
    pub(crate) fn budget(&self) -> usize {
        self.pages.len()
    }

    /// A number of jobs to make: at least one, at most so many.
    pub(crate) fn some(&mut self, most: usize) -> usize {
        1 + self.dice.below(most.min(self.budget()))
    }

    /// So many jobs, which are to run there. They share what is left to be made.
    pub(crate) fn jobs(&mut self, number: usize, home: Home) -> Vec<Job> {
        let all = self.pages.clone();
        self.pages = all.end..all.end;
        let shares = shares(all, number, &mut self.dice);
        shares.into_iter().map(|pages| self.job_of(pages, home)).collect()
    }

    /// As [`jobs`](Self::jobs), for as many as there are names.
    pub(crate) fn these<const N: usize>(&mut self, home: Home) -> [Job; N] {
        self.jobs(N, home).try_into().expect("as many as were asked for")
    }

    fn job_of(&mut self, pages: Range<Page>, home: Home) -> Job {
        let (page, pages) = (pages.start, pages.start + 1..pages.end);
        self.world.book.made(page, self.kind);
        Job {
            world: self.world,
            page,
            pages,
            dice: self.dice.split(),
            home,
            isolated: self.isolated,
            locked: self.locked,
            panics: false,
        }
    }

    /// Where to go with the next job: here, or to another pool that may be waited for.
    pub(crate) fn place(&mut self) -> Place {
        if self.locked {
            return self.here();
        }
        Place::random(self.world, self.home, &mut self.dice)
    }

    /// Any of the pools that last, by its methods.
    pub(crate) fn pool(&mut self) -> Place {
        Place::there(self.world, self.dice.below(self.world.plan.pools.len()))
    }

    /// The current pool.
    pub(crate) fn here(&self) -> Place {
        Place::here(self.home)
    }

    /// Is what it should be.
    pub(crate) fn demand<T: PartialEq + std::fmt::Debug>(&self, what: &str, is: T, should: T) {
        demand!(is == should, "{} of {} is {is:?}, not {should:?}", what, actions::name(self.kind));
    }

    /// Keeps a processor busy: mostly for a moment, now and then for longer.
    fn busy(&mut self) {
        let hints = match self.dice.below(64) {
            0 => self.dice.below(4_000),
            1..24 => self.dice.below(60),
            _ => 0,
        };
        self.home.hold(self.world, || (0..hints).for_each(|_| hint::spin_loop()));
    }
}

thread_local! {
    /// The jobs that may run on this thread now.
    static REGION: RefCell<Option<Range<Page>>> = const { RefCell::new(None) };
}

/// Until it is dropped, only these jobs run on this thread. Holds what it was before.
struct Region(Option<Range<Page>>);

impl Region {
    fn of(pages: Range<Page>) -> Self {
        Self(REGION.replace(Some(pages)))
    }

    /// A job begins: it must be one of those that may run here.
    fn enter(page: Page) -> Self {
        let region = REGION.with_borrow(Clone::clone);
        if let Some(region) = region.as_ref().filter(|region| !region.contains(&page)) {
            fail(&format!("job {page} runs in the middle of others that are isolated, {region:?}"));
        }
        Self(region)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        REGION.set(self.0.take());
    }
}

/// The pages in so many parts, none of them empty.
fn shares(mut pages: Range<Page>, number: usize, dice: &mut Dice) -> Vec<Range<Page>> {
    let share = |to_come: usize| {
        // Each needs a page; what is beyond that is anybody's.
        let free = pages.len() - to_come;
        let more = if to_come == 1 { free } else { dice.below(2 * free / to_come + 1).min(free) };
        let share = pages.start..pages.start + 1 + more as Page;
        pages.start = share.end;
        share
    };
    (1..=number).rev().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_share_all_pages_and_none_twice() {
        for seed in 0..1_000 {
            let dice = &mut Dice::new(seed);
            let number = 1 + dice.below(40);
            let pages = 7..7 + (number + dice.below(100)) as Page;
            let shares = shares(pages.clone(), number, dice);
            assert_eq!(shares.len(), number);
            assert!(shares.iter().all(|share| !share.is_empty()));
            assert_eq!(shares.into_iter().flatten().collect::<Vec<_>>(), pages.collect::<Vec<_>>());
        }
    }
}
