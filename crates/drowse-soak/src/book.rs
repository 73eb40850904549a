//! The book: a page for each job that there may be in a round.
//!
//! Which job has which page is decided by the seed alone, so a page's number means the same job
//! each time. Nobody counts in a word that all share: that would put a full fence around each job,
//! and hide where drowse lacks one.

use crate::actions;
use crate::verdict::fail;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The job exists.
const MADE: u32 = 1;
/// How often it ran, in two bits.
const RAN: u32 = 1 << 1;
/// How often it was dropped, in two bits.
const DROPPED: u32 = 1 << 3;
/// It may be dropped without having run.
const MAY_BE_SPARED: u32 = 1 << 5;
/// Its panic must reach the pool's handler.
const LOUD: u32 = 1 << 6;
/// How often the handler heard of it, in two bits.
const HEARD: u32 = 1 << 7;
/// The action that it went on with, plus 1, in eight bits.
const KIND: u32 = 1 << 16;
/// The action that made it, plus 1, in eight bits.
const MAKER: u32 = 1 << 24;

/// A job's number.
pub(crate) type Page = u32;

#[derive(Debug)]
pub(crate) struct Book {
    pages: Box<[AtomicU32]>,
    /// Whether pages are read and then written, without a locked instruction, and so without a
    /// fence. What happens twice at the very same time is then not seen.
    lean: bool,
}

impl Book {
    pub(crate) fn new(pages: usize, lean: bool) -> Self {
        Self { pages: (0..pages).map(|_| AtomicU32::new(0)).collect(), lean }
    }

    fn add(&self, page: Page, what: u32) -> u32 {
        let word = &self.pages[page as usize];
        if self.lean {
            let before = word.load(Ordering::Relaxed);
            word.store(before.wrapping_add(what), Ordering::Relaxed);
            before
        } else {
            word.fetch_add(what, Ordering::Relaxed)
        }
    }

    /// There is a job, made by this action.
    pub(crate) fn made(&self, page: Page, maker: usize) {
        let before = self.add(page, MADE + MAKER * (maker as u32 + 1));
        if before != 0 {
            self.fail(page, before, "is made, but exists");
        }
    }

    /// The job may be dropped without having run.
    pub(crate) fn may_be_spared(&self, page: Page) {
        self.add(page, MAY_BE_SPARED);
    }

    /// The job's panic must reach the pool's handler.
    pub(crate) fn is_loud(&self, page: Page) {
        self.add(page, LOUD);
    }

    /// The job begins.
    pub(crate) fn ran(&self, page: Page) {
        let before = self.add(page, RAN);
        if before & MADE == 0 || times(before, RAN) > 0 || times(before, DROPPED) > 0 {
            self.fail(page, before, "begins");
        }
    }

    /// The job, or the thread outside that has this page, goes on with this action.
    pub(crate) fn goes_on_with(&self, page: Page, kind: usize) {
        self.add(page, KIND * (kind as u32 + 1));
    }

    /// The job is dropped, with what it captured.
    pub(crate) fn dropped(&self, page: Page) {
        let before = self.add(page, DROPPED);
        let may_end = times(before, RAN) == 1 || before & MAY_BE_SPARED != 0;
        if before & MADE == 0 || !may_end || times(before, DROPPED) > 0 {
            self.fail(page, before, "is dropped");
        }
    }

    /// A pool's handler was given the job's panic.
    pub(crate) fn heard(&self, page: Page) {
        let before = self.add(page, HEARD);
        if before & LOUD == 0 || times(before, HEARD) > 0 {
            self.fail(page, before, "has panicked, says a pool");
        }
    }

    /// The first job of all that has not ended yet, and what is known of it.
    pub(crate) fn first_open(&self) -> Option<String> {
        self.first_open_of(0..self.pages.len() as Page)
    }

    /// The same, of these jobs.
    pub(crate) fn first_open_of(&self, pages: Range<Page>) -> Option<String> {
        let is_open = |word: u32| {
            word & MADE != 0
                && (times(word, DROPPED) == 0 || word & LOUD != 0 && times(word, HEARD) == 0)
        };
        let mut words = pages.map(|page| (page, self.pages[page as usize].load(Ordering::Relaxed)));
        words.find(|(_, word)| is_open(*word)).map(|(page, word)| tell(page, word))
    }

    /// A number that changes whenever a job begins or ends.
    pub(crate) fn progress(&self) -> u64 {
        self.pages.iter().map(|word| u64::from(word.load(Ordering::Relaxed) & 0xffff)).sum()
    }

    /// How many jobs there were; and how often each action was done.
    pub(crate) fn counts(&self) -> (usize, Vec<usize>) {
        let (mut jobs, mut kinds) = (0, vec![0; actions::all().count()]);
        for word in self.pages.iter().map(|word| word.load(Ordering::Relaxed)) {
            jobs += (word & MADE) as usize;
            if let Some(kind) = byte(word, KIND) {
                kinds[kind] += 1;
            }
        }
        (jobs, kinds)
    }

    fn fail(&self, page: Page, before: u32, what: &str) -> ! {
        fail(&format!("{}; and now it {what}", tell(page, before)))
    }
}

/// The two bits that count this.
fn times(word: u32, what: u32) -> u32 {
    (word / what) & 3
}

/// The action in this byte.
fn byte(word: u32, what: u32) -> Option<usize> {
    ((word / what) & 0xff).checked_sub(1).map(|index| index as usize)
}

fn tell(page: Page, word: u32) -> String {
    let name = |what| byte(word, what).map_or("nobody", actions::name);
    format!(
        "job {page}, made by {}: ran {} times{}, went on with {}, was dropped {} times{}",
        name(MAKER),
        times(word, RAN),
        if word & MAY_BE_SPARED != 0 { " (need not)" } else { "" },
        name(KIND),
        times(word, DROPPED),
        if word & LOUD != 0 { ", panics" } else { "" },
    )
}
