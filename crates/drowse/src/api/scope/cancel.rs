//! Scopes that are called off.

use super::base::AsBase;
use super::{Scope, ScopeFifo};
use crate::CancelToken;

impl Scope<'_> {
    /// Calls off what has not begun: closures of this scope that wait in a queue, and those that
    /// are spawned into it from now on, are dropped with what they captured, and do not run.
    ///
    /// Those that run already go on; they can ask [`is_cancelled`](Self::is_cancelled). The scope
    /// still waits for them, and until all others are dropped: each is, once, on the worker that
    /// would have run it. Then [`scope()`](crate::scope()) returns what its closure returned, or
    /// panics if something in it has panicked. A panic in the drop of what a closure captured
    /// counts as one of the closure.
    ///
    /// Any thread that has the scope may call this: its closure, a spawned one, or what they call.
    /// It returns at once, and does no harm if it was called before. For those who do not have the
    /// scope there is [`cancel_on`](Self::cancel_on).
    ///
    /// # Scopes in scopes
    ///
    /// A scope that was opened by a job of this one is not cancelled with it: its owner may count
    /// on what it has spawned. Its jobs can ask the outer scope, though, and it can listen to the
    /// same token. Nor does it touch what was spawned elsewhere, or either half of a
    /// [`join`](crate::join).
    ///
    /// # Example
    ///
    /// Of many searches, the first that finds something ends the others:
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
    ///                     s.cancel(); // those that have not begun never will
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

    /// Whether this scope was [cancelled](Self::cancel), or the token that it
    /// [listens to](Self::cancel_on). What was done before that, whoever did it, is visible then.
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

    /// From now on this scope is cancelled as soon as the token is: by somebody who does not have
    /// the scope, or together with others.
    ///
    /// # Panics
    ///
    /// If it listens to a token already. One token can be listened to by many scopes.
    ///
    /// # Example
    ///
    /// An inner scope that goes with the outer one:
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
    /// As [`Scope::cancel`].
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

    /// As [`Scope::is_cancelled`].
    ///
    /// ```
    /// drowse::scope_fifo(|s| assert!(!s.is_cancelled()));
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.base().cancellation.is_cancelled()
    }

    /// As [`Scope::cancel_on`].
    ///
    /// # Panics
    ///
    /// If it listens to a token already.
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
