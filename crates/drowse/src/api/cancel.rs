//! Cancelling jobs that have not begun.

use drowse_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use drowse_sync::{Arc, OnceLock, mutant};
use std::fmt;

/// Flag that cancels the scopes that [listen to it](crate::Scope::cancel_on).
///
/// Any thread can set it: code outside the scope, a thread that handles signals, an outer scope.
/// All clones of a token share the flag. Once set, it stays set. Any number of scopes may listen to
/// a token, also nested ones, and any code may read it.
///
/// # Example
///
/// ```
/// use drowse::CancelToken;
/// use std::thread;
///
/// let token = CancelToken::new();
/// let other = token.clone();
/// thread::spawn(move || other.cancel()); // for example when the user has pressed a key
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
    /// Returns a token that is not cancelled.
    ///
    /// ```
    /// assert!(!drowse::CancelToken::new().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    /// Cancels every scope that listens to the token, now or later. Returns at once.
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

    /// Returns `true` if the token was cancelled.
    ///
    /// Everything that the cancelling thread did before is then visible.
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

/// Cancellation state of a scope.
#[derive(Debug)]
pub(crate) struct Cancellation {
    /// [`CANCELLED`] and [`LISTENS`], or zero: then jobs begin without further checks.
    state: AtomicU32,
    /// Token that the scope listens to, if any.
    token: OnceLock<CancelToken>,
}

/// Bit: the scope itself was cancelled. Never cleared.
const CANCELLED: u32 = 1;
/// Bit: `token` is set and must be read. Never cleared.
const LISTENS: u32 = 2;

impl Cancellation {
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(0), token: OnceLock::new() }
    }

    pub(crate) fn cancel(&self) {
        // ORDERING: release pairs with the acquire in `is_cancelled`.
        self.state.fetch_or(CANCELLED, mutant::weaken("cancel/scope-relaxed", Ordering::Release));
    }

    /// Listens to `token` from now on. Returns `false` if the scope listens to a token already.
    pub(crate) fn listen(&self, token: &CancelToken) -> bool {
        let is_first = self.token.set(token.clone()).is_ok();
        if is_first {
            // ORDERING: release pairs with the acquire in `is_cancelled`: a reader of the bit sees
            // the token.
            self.state
                .fetch_or(LISTENS, mutant::weaken("cancel/listen-relaxed", Ordering::Release));
        }
        is_first
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        // ORDERING: acquire pairs with the releases in `cancel` and `listen`: a job that is told to
        // stop sees what was done before, for instance the result that makes its own needless.
        let state = self.state.load(mutant::weaken("cancel/ask-scope-relaxed", Ordering::Acquire));
        state & CANCELLED != 0
            || (state & LISTENS != 0 && self.token.get().is_some_and(CancelToken::is_cancelled))
    }

    /// Returns `true` if a job that is about to begin must not. Called before each job.
    #[inline]
    pub(crate) fn forbids_to_begin(&self) -> bool {
        // ORDERING: relaxed; a job that begins a moment too late does no harm, and a job that does
        // not begin reads nothing.
        self.state.load(Ordering::Relaxed) != 0 && self.is_cancelled_cold()
    }

    #[cold]
    fn is_cancelled_cold(&self) -> bool {
        self.is_cancelled()
    }
}
