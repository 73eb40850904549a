//! Calling off what has not begun.

use drowse_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use drowse_sync::{Arc, OnceLock, mutant};
use std::fmt;

/// Calls off the scopes that were told to [listen to it](crate::Scope::cancel_on), from anywhere:
/// another thread, a signal handler's thread, an outer scope.
///
/// A token is one flag that all its clones share. It is set once and stays so. Any number of scopes
/// may listen to it, one inside of the other if you like, and any code may ask it.
///
/// # Example
///
/// ```
/// use drowse::CancelToken;
/// use std::thread;
///
/// let token = CancelToken::new();
/// let other = token.clone();
/// thread::spawn(move || other.cancel()); // the user has pressed a key, say
/// drowse::scope(|s| {
///     s.cancel_on(&token);
///     for _ in 0..4 {
///         s.spawn(|s| {
///             while !s.is_cancelled() {
///                 std::hint::spin_loop(); // one more piece of a long computation
///             }
///         });
///     }
/// });
/// assert!(token.is_cancelled());
/// ```
#[derive(Clone)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody has cancelled.
    ///
    /// ```
    /// assert!(!drowse::CancelToken::new().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    /// Cancels every scope that listens to it, now or later. Returns at once.
    ///
    /// ```
    /// let token = drowse::CancelToken::new();
    /// token.cancel();
    /// drowse::scope(|s| {
    ///     s.cancel_on(&token);
    ///     s.spawn(|_| unreachable!("it is too late to begin"));
    /// });
    /// ```
    pub fn cancel(&self) {
        // ORDERING: release pairs with the acquire in `is_cancelled`.
        self.0.store(true, mutant::weaken("cancel/token-relaxed", Ordering::Release));
    }

    /// Whether it was cancelled. What was done before that, whoever did it, is visible then.
    ///
    /// ```
    /// let token = drowse::CancelToken::new();
    /// token.clone().cancel();
    /// assert!(token.is_cancelled());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        // ORDERING: acquire pairs with the release in `cancel`.
        self.0.load(mutant::weaken("cancel/ask-token-relaxed", Ordering::Acquire))
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("is_cancelled", &self.is_cancelled()).finish()
    }
}

/// Whether a scope was called off.
#[derive(Debug)]
pub(crate) struct Cancellation {
    /// [`CANCELLED`] and [`LISTENS`], or zero: nobody has said anything, and jobs need not ask.
    state: AtomicU32,
    /// What it listens to, if it does.
    token: OnceLock<CancelToken>,
}

/// The scope itself was cancelled. Never taken back.
const CANCELLED: u32 = 1;
/// There is a token to be asked, and it is in its place. Never taken back.
const LISTENS: u32 = 2;

impl Cancellation {
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(0), token: OnceLock::new() }
    }

    pub(crate) fn cancel(&self) {
        // ORDERING: release pairs with the acquire in `is_cancelled`.
        self.state.fetch_or(CANCELLED, mutant::weaken("cancel/scope-relaxed", Ordering::Release));
    }

    /// Listens to a token from now on. False if there is one already.
    pub(crate) fn listen(&self, token: &CancelToken) -> bool {
        let is_first = self.token.set(token.clone()).is_ok();
        if is_first {
            // ORDERING: release; whoever sees the bit in `is_cancelled` sees the token.
            self.state.fetch_or(LISTENS, mutant::weaken("cancel/listen-relaxed", Ordering::Release));
        }
        is_first
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        // ORDERING: acquire pairs with the releases in `cancel` and `listen`: who is told to stop
        // sees what was done before, for instance the result that has made the rest needless.
        let state = self.state.load(mutant::weaken("cancel/ask-scope-relaxed", Ordering::Acquire));
        state & CANCELLED != 0
            || (state & LISTENS != 0 && self.token.get().is_some_and(CancelToken::is_cancelled))
    }

    /// Whether a job that is about to begin must not. What every job asks.
    #[inline]
    pub(crate) fn forbids_to_begin(&self) -> bool {
        // ORDERING: relaxed; a job that begins a moment too late does no harm, and one that does
        // not begin looks at nothing.
        self.state.load(Ordering::Relaxed) != 0 && self.is_cancelled_cold()
    }

    #[cold]
    fn is_cancelled_cold(&self) -> bool {
        self.is_cancelled()
    }
}
