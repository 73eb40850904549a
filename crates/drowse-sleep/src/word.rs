//! The one word in which a protocol keeps its state, and the one place that changes it.

use crate::defer;
use crate::{ATTENTION, Announcement, Baton, Heads, Posted, Protocol, Rules, Wake};
use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::{CachePadded, faulty, mutant};

/// The protocol's word, with the protocol. It starts at zero.
///
/// # Notes on memory ordering
///
/// All changes are read-modify-writes, so they form one sequence. Changes that tell others
/// something acquire and release: a thread that sees one also sees what was written before it and
/// before all earlier ones. So `Sleep::claim` finds the slots that counted workers had prepared,
/// `must_fence_posters` need not fence against jobs pushed before their worker began to search, and
/// `Word::end_deferral` finds the jobs of posts that relied on a guarantor. For an *unchanged* word
/// the fences take care of this: see [`Sleep::post`](crate::Sleep::post).
#[derive(Debug)]
pub(crate) struct Word {
    word: CachePadded<AtomicU64>,
    protocol: Box<dyn Protocol>,
    pub(crate) rules: Rules,
}

/// Names of a change's faults, for models.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    /// The fault of storing the change without a look at the word.
    overwrites: &'static str,
    /// The fault of a relaxed change; `None` if it is relaxed anyway, because no thread learns
    /// anything from it but the value. (It does not end the release sequence of earlier changes.)
    relaxed: Option<&'static str>,
}

impl Event {
    /// Returns a change by which others learn something.
    pub(crate) const fn told(overwrites: &'static str, relaxed: &'static str) -> Self {
        Self { overwrites, relaxed: Some(relaxed) }
    }

    /// Returns a change from which no thread learns anything.
    pub(crate) const fn quiet(overwrites: &'static str) -> Self {
        Self { overwrites, relaxed: None }
    }

    /// Returns the ordering of the change: `ordering` if others learn from it.
    #[inline(always)]
    fn ordering(self, ordering: Ordering) -> Ordering {
        // ORDERING: relaxed, see the field; else `ordering`, from `load` or `replace`.
        self.relaxed.map_or(Ordering::Relaxed, |fault| mutant::weaken(fault, ordering))
    }
}

impl Word {
    pub(crate) fn new(protocol: Box<dyn Protocol>) -> Self {
        let word = CachePadded::new(AtomicU64::new(0));
        Self { word, rules: protocol.rules(), protocol }
    }

    /// Returns `true` if a post has anything to do. The whole hot path: one load, test and branch.
    #[inline(always)]
    pub(crate) fn wants_attention(&self) -> bool {
        // ORDERING: relaxed; the poster's fence comes before it (see `Sleep::post`). If the answer
        // is yes, `change` loads again and acquires.
        self.word.load(Ordering::Relaxed) & ATTENTION != 0
    }

    /// Returns the word at about this moment, for a guess.
    pub(crate) fn peek(&self) -> u64 {
        // ORDERING: relaxed; callers only guess by it (how long to search, which processor to
        // avoid). `Sleep::resume_deferred_wakes` argues its own read.
        self.word.load(Ordering::Relaxed)
    }

    /// Returns the counts of `word`, a value of this word, if it has them.
    pub(crate) fn heads_in(&self, word: u64) -> Option<Heads> {
        self.rules.counts_heads.then(|| Heads::of(word))
    }

    /// Returns the counts at about this moment, if the word has them.
    pub(crate) fn heads(&self) -> Option<Heads> {
        self.heads_in(self.peek())
    }

    /// Returns `true` if the word is as it should be when no worker searches or sleeps. For tests.
    pub(crate) fn is_clear(&self) -> bool {
        let word = self.peek();
        self.protocol.is_clear(word) && (!self.rules.defers || defer::is_clear(word))
    }

    /// Changes a worker from active to idle.
    #[inline(never)]
    pub(crate) fn start_looking(&self) {
        self.change(Event::told("word/start-overwrites", "word/start-relaxed"), |word| {
            (self.protocol.start_looking(word), ())
        });
    }

    /// Changes a worker from idle to active. Returns the new word as well.
    #[inline(never)]
    pub(crate) fn stop_looking(&self) -> (u64, Baton) {
        self.change(Event::quiet("word/stop-overwrites"), |word| {
            let (word, baton) = self.stopped(word);
            (word, (word, baton))
        })
    }

    /// Changes a worker from asleep to active, because a guest takes its seat.
    pub(crate) fn sit(&self) {
        // One step: no thread may take this worker for one that searches.
        let sit = |word| (self.stopped(self.protocol.uncount(word)).0, ());
        self.change(Event::quiet("word/sit-overwrites"), sit);
    }

    fn stopped(&self, word: u64) -> (u64, Baton) {
        let (word, baton) = self.protocol.stop_looking(word);
        (if self.rules.defers { defer::count_find(word) } else { word }, baton)
    }

    /// Changes a worker from idle to sleepy. Returns `None` if the protocol does not allow that
    /// now.
    #[inline(never)]
    pub(crate) fn announce(&self, worker: usize) -> Option<Announcement> {
        self.try_change(Event::quiet("word/announce-overwrites"), |word| {
            self.protocol.announce(word, worker)
        })
    }

    /// Changes a worker from sleepy to idle.
    #[inline(never)]
    pub(crate) fn cancel(&self, announcement: Announcement) {
        self.change(Event::quiet("word/cancel-overwrites"), |word| {
            (self.protocol.cancel(word, announcement), ())
        });
    }

    /// Changes a worker from sleepy to asleep. Returns the new word; `None` if there was news.
    #[inline(never)]
    pub(crate) fn commit(&self, announcement: Announcement) -> Option<u64> {
        self.try_change(Event::told("word/commit-overwrites", "word/commit-relaxed"), |word| {
            self.protocol.commit(word, announcement).map(|next| (next, next))
        })
    }

    /// Takes a worker off the count of the sleeping: it was woken, or has committed and did not
    /// sleep.
    #[inline(never)]
    pub(crate) fn uncount(&self) {
        // A waker that claims a sleeper by its latch need not have seen the sleeper's `commit`: the
        // first word that it loads may be older, and the exchange fails then.
        let seen = self.change(Event::quiet("word/uncount-overwrites"), |word| {
            (self.protocol.uncount(word), word)
        });
        debug_assert!(self.heads_in(seen).is_none_or(|heads| heads.sleeping > 0), "{seen:#x}");
    }

    /// Decides which workers to wake for a post.
    #[inline(never)]
    pub(crate) fn post(&self, posted: &Posted) -> Wake {
        self.change(Event::told("word/post-overwrites", "word/post-relaxed"), |word| {
            defer::note_sentry(self.protocol.post(word, posted))
        })
    }

    /// Decides which workers to wake in place of posts.
    #[inline(never)]
    pub(crate) fn baton(&self, posted: &Posted) -> Wake {
        self.change(Event::told("word/baton-overwrites", "word/baton-relaxed"), |word| {
            defer::note_sentry(self.protocol.baton(word, posted))
        })
    }

    /// Decides which workers to wake for an event that may concern all.
    #[inline(never)]
    pub(crate) fn alert(&self) -> Wake {
        self.change(Event::told("word/alert-overwrites", "word/alert-relaxed"), |word| {
            self.protocol.alert(word)
        })
    }

    /// Changes the word by the protocol's transition, in one step. Returns the decision.
    pub(crate) fn change<D>(&self, event: Event, transition: impl Fn(u64) -> (u64, D)) -> D {
        loop {
            let seen = self.load(event);
            let (next, decision) = transition(seen);
            if self.replace(event, seen, next) {
                return decision;
            }
        }
    }

    /// Changes the word as [`change`](Self::change) does; `None` if the transition is not possible.
    pub(crate) fn try_change<D>(
        &self,
        event: Event,
        transition: impl Fn(u64) -> Option<(u64, D)>,
    ) -> Option<D> {
        loop {
            let seen = self.load(event);
            let (next, decision) = transition(seen)?;
            if self.replace(event, seen, next) {
                return Some(decision);
            }
        }
    }

    /// Sets these bits, in one step, and returns the word before.
    pub(crate) fn add_bits(&self, bits: u64) -> u64 {
        // ORDERING: see the notes on the type; the release shows the job to `end_deferral`.
        self.word.fetch_or(bits, mutant::weaken("defer/rely-relaxed", Ordering::AcqRel))
    }

    #[inline(always)]
    fn load(&self, event: Event) -> u64 {
        // ORDERING: acquire pairs with the release in `replace`, for a transition that changes
        // nothing. A second safeguard there: a post that sees a sleeper counted, but not its slot,
        // has executed its fence before the sleeper did, and the sleeper's last look
        // (`Sleep::commit`) shows it the job.
        self.word.load(event.ordering(Ordering::Acquire))
    }

    /// Returns `false` if another thread has changed the word since it was `seen`.
    #[inline(always)]
    fn replace(&self, event: Event, seen: u64, next: u64) -> bool {
        if next == seen {
            return true;
        }
        // ORDERING: see the notes on the type. On failure the word is loaded again.
        let ordering = event.ordering(Ordering::AcqRel);
        let replaced =
            || self.word.compare_exchange(seen, next, ordering, Ordering::Relaxed).is_ok();
        // ORDERING: of the fault, as strong as a store can be.
        faulty!(event.overwrites, replaced(), {
            self.word.store(next, Ordering::Release);
            true
        })
    }
}
