//! Cancelling scopes.

use super::base::AsBase;
use super::{Scope, ScopeFifo};
use crate::CancelToken;

impl Scope<'_> {
    /// Cancels the scope: its closures that have not begun are dropped, and do not run.
    ///
    /// That goes for closures that wait in a queue, and for those that are spawned into the scope
    /// from now on. What they captured is dropped with them.
    ///
    /// Closures that run already go on; they can call [`is_cancelled`](Self::is_cancelled). The
    /// scope still waits for them, and until all others are dropped, each on the worker that would
    /// have run it. Then [`scope()`](crate::scope()) returns the result of its closure, or panics
    /// if a closure in it has panicked. A panic in the drop of what a closure captured counts as a
    /// panic of the closure.
    ///
    /// Any thread that has the scope may call this: its closure, a spawned one, or what they call.
    /// It returns at once, and may be called again. Code without access to the scope can cancel it
    /// by a token: see [`cancel_on`](Self::cancel_on).
    ///
    /// # Nested scopes
    ///
    /// A scope that was opened by a job of this one is not cancelled with it, since its owner may
    /// rely on its jobs. But its jobs can ask the outer scope, and it can listen to the same token.
    /// Jobs spawned elsewhere, and the halves of a [`join`](crate::join), are not affected.
    ///
    /// # Example
    ///
    /// The first of many searches that finds a match ends the others:
    ///
    /// ```
    /// use std::sync::OnceLock;
    ///
    /// let numbers: Vec<u32> = (0..10_000).collect();
    /// let found = OnceLock::new();
    /// drowse::scope(|s| {
    ///     for part in numbers.chunks(100) {
    ///         let found = &found;
    ///         s.spawn(move |s| {
    ///             for number in part {
    ///                 if s.is_cancelled() {
    ///                     return;
    ///                 }
    ///                 if number * number % 1_009 == 5 {
    ///                     found.get_or_init(|| *number);
    ///                     s.cancel(); // searches that have not begun never will
    ///                 }
    ///             }
    ///         });
    ///     }
    /// });
    /// let number = found.into_inner().unwrap();
    /// assert_eq!(number * number % 1_009, 5);
    /// ```
    pub fn cancel(&self) {
        self.base().cancellation.cancel();
    }

    /// Returns `true` if this scope was [cancelled](Self::cancel), or its [token](Self::cancel_on).
    ///
    /// Everything that the cancelling thread did before is then visible.
    ///
    /// ```
    /// drowse::scope(|s| {
    ///     assert!(!s.is_cancelled());
    ///     s.cancel();
    ///     assert!(s.is_cancelled());
    ///     s.spawn(|_| unreachable!());
    /// });
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.base().cancellation.is_cancelled()
    }

    /// Cancels this scope as soon as the token is cancelled.
    ///
    /// For code without access to the scope, and to cancel several scopes together.
    ///
    /// # Panics
    ///
    /// If the scope listens to a token already. Many scopes can listen to one token.
    ///
    /// # Example
    ///
    /// An inner scope that is cancelled together with the outer one:
    ///
    /// ```
    /// let token = drowse::CancelToken::new();
    /// drowse::scope(|outer| {
    ///     outer.cancel_on(&token);
    ///     drowse::scope(|inner| {
    ///         inner.cancel_on(&token);
    ///         token.cancel();
    ///         inner.spawn(|_| unreachable!());
    ///     });
    ///     assert!(outer.is_cancelled());
    /// });
    /// ```
    #[track_caller]
    pub fn cancel_on(&self, token: &CancelToken) {
        listen(self, token);
    }
}

impl ScopeFifo<'_> {
    /// Cancels the scope. See [`Scope::cancel`].
    ///
    /// ```
    /// drowse::scope_fifo(|s| {
    ///     s.cancel();
    ///     s.spawn_fifo(|_| unreachable!());
    /// });
    /// ```
    pub fn cancel(&self) {
        self.base().cancellation.cancel();
    }

    /// Returns `true` if the scope was cancelled. See [`Scope::is_cancelled`].
    ///
    /// ```
    /// drowse::scope_fifo(|s| assert!(!s.is_cancelled()));
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.base().cancellation.is_cancelled()
    }

    /// Cancels this scope as soon as the token is cancelled. See [`Scope::cancel_on`].
    ///
    /// # Panics
    ///
    /// If the scope listens to a token already.
    ///
    /// ```
    /// let token = drowse::CancelToken::new();
    /// drowse::scope_fifo(|s| {
    ///     s.cancel_on(&token);
    ///     token.cancel();
    ///     assert!(s.is_cancelled());
    /// });
    /// ```
    #[track_caller]
    pub fn cancel_on(&self, token: &CancelToken) {
        listen(self, token);
    }
}

#[track_caller]
fn listen<'scope>(scope: &impl AsBase<'scope>, token: &CancelToken) {
    let listens = scope.base().cancellation.listen(token);
    assert!(listens, "a scope listens to one token: share it, or cancel the scope itself");
}
