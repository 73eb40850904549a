//! Scopes that do not take more than so many jobs at once.

use super::base::AsBase;
use super::{Scope, ScopeFifo};
use crate::TrySpawnError;

impl<'scope> Scope<'scope> {
    /// As [`spawn`](Self::spawn), if fewer than `limit` closures that were spawned this way into
    /// this scope are under way; else gives the closure back. See
    /// [`try_spawn`](crate::try_spawn()) for what that means exactly, and for what to do then.
    ///
    /// A scope that was [cancelled](Self::cancel) takes the closure as long as there is room, and
    /// drops it.
    ///
    /// # Errors
    ///
    /// If there are `limit` under way already: the closure, in a [`TrySpawnError`].
    ///
    /// # Example
    ///
    /// No more than four lines are in memory at once, and one in the reader's hands. What is
    /// refused is done here: the next line has to wait.
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
        // SAFETY: it becomes a job of this scope.
        let bounded = unsafe { self.base().bounded(limit, body)? };
        self.spawn(move |scope| bounded.call(|body| body(scope)));
        Ok(())
    }
}

impl<'scope> ScopeFifo<'scope> {
    /// As [`spawn_fifo`](Self::spawn_fifo), if fewer than `limit` closures that were spawned this
    /// way into this scope are under way. See [`Scope::try_spawn`].
    ///
    /// # Errors
    ///
    /// If there are `limit` under way already: the closure, in a [`TrySpawnError`].
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
        // SAFETY: it becomes a job of this scope.
        let bounded = unsafe { self.base().bounded(limit, body)? };
        self.spawn_fifo(move |scope| bounded.call(|body| body(scope)));
        Ok(())
    }
}
