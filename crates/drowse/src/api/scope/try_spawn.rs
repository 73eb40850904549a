//! Scopes with a limit on how many jobs are under way.

use super::base::AsBase;
use super::{Scope, ScopeFifo};
use crate::TrySpawnError;

impl<'scope> Scope<'scope> {
    /// Runs a closure like [`spawn`](Self::spawn), unless `limit` closures are under way already.
    ///
    /// Counts the closures that were spawned this way into this scope. See
    /// [`try_spawn`](crate::try_spawn()) for the exact meaning, and for what to do after a refusal.
    /// A scope that was [cancelled](Self::cancel) accepts the closure as long as there is room, and
    /// drops it.
    ///
    /// # Errors
    ///
    /// If `limit` closures are under way already: a [`TrySpawnError`] with the closure.
    ///
    /// # Example
    ///
    /// At most four lines wait in memory, besides the reader's current one. A refused closure is
    /// run in place, so reading the next line has to wait.
    ///
    /// ```
    /// # use std::io::BufRead;
    /// # use std::sync::atomic::{AtomicUsize, Ordering};
    /// # let input = &b"to sleep\nperchance\nto dream\n"[..];
    /// let words = AtomicUsize::new(0);
    /// drowse::in_place_scope(|s| {
    ///     for line in input.lines() {
    ///         let (line, words) = (line.unwrap(), &words);
    ///         let count = move |_: &drowse::Scope<'_>| {
    ///             words.fetch_add(line.split_whitespace().count(), Ordering::Relaxed);
    ///         };
    ///         if let Err(refused) = s.try_spawn(4, count) {
    ///             refused.into_inner()(s);
    ///         }
    ///     }
    /// });
    /// assert_eq!(words.into_inner(), 5);
    /// ```
    pub fn try_spawn<BODY>(&self, limit: usize, body: BODY) -> Result<(), TrySpawnError<BODY>>
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        // SAFETY: the result becomes a job of this scope.
        let bounded = unsafe { self.base().bounded(limit, body)? };
        self.spawn(move |scope| bounded.call(|body| body(scope)));
        Ok(())
    }
}

impl<'scope> ScopeFifo<'scope> {
    /// Runs a closure like [`spawn_fifo`](Self::spawn_fifo), unless `limit` closures are under way
    /// already.
    ///
    /// Counts the closures spawned this way into this scope. See [`Scope::try_spawn`].
    ///
    /// # Errors
    ///
    /// If `limit` closures are under way already: a [`TrySpawnError`] with the closure.
    ///
    /// ```
    /// let mut answer = 0;
    /// drowse::scope_fifo(|s| {
    ///     assert!(s.try_spawn_fifo(0, |_| unreachable!()).is_err());
    ///     assert!(s.try_spawn_fifo(1, |_| answer = 42).is_ok());
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    pub fn try_spawn_fifo<BODY>(&self, limit: usize, body: BODY) -> Result<(), TrySpawnError<BODY>>
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        // SAFETY: the result becomes a job of this scope.
        let bounded = unsafe { self.base().bounded(limit, body)? };
        self.spawn_fifo(move |scope| bounded.call(|body| body(scope)));
        Ok(())
    }
}
