//! Usual scope: on each worker, the newest job comes first.

use super::base::{AsBase, ScopeBase};
use crate::api::BroadcastContext;
use crate::api::global::{current_registry, in_worker};
use crate::engine::{Registry, WorkerThread};
use drowse_sync::Arc;
use std::fmt;

/// Scope, into which closures can be spawned that borrow what outlives it. See [`scope()`].
pub struct Scope<'scope> {
    base: ScopeBase<'scope>,
}

/// Opens a scope, calls `op` with it, and returns when all that was spawned into it has ended.
///
/// `op` may [spawn](Scope::spawn) any number of closures. They may borrow whatever outlives the
/// scope, and may spawn more into it. They may run in parallel with `op` and with each other.
///
/// For two closures, [`join`](crate::join) is cheaper: it allocates nothing.
///
/// `op` runs on a worker of the current pool, or, outside any pool, of the global one. If it must
/// stay on the calling thread, use [`in_place_scope`].
///
/// # Panics
///
/// If `op` or a spawned closure panics, `scope` panics once everything has ended, with the payload
/// of the first panic.
///
/// # Example
///
/// ```
/// let mut words = vec!["fork".to_string(), "join".to_string(), "nap".to_string()];
/// drowse::scope(|s| {
///     for word in &mut words {
///         s.spawn(move |_| word.make_ascii_uppercase());
///     }
/// });
/// assert_eq!(words, ["FORK", "JOIN", "NAP"]);
/// ```
///
/// What a spawned closure borrows must outlive the scope:
///
/// ```compile_fail,E0373
/// drowse::scope(|s| {
///     let local = 3;
///     s.spawn(|_| println!("{local}")); // may run after `op` has returned
/// });
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_worker(|owner| {
        let scope = Scope::new(Some(owner), Arc::clone(owner.registry()));
        scope.base.complete(Some(owner), || op(&scope))
    })
}

/// Like [`scope()`], but `op` runs on the calling thread, so it need not be `Send`.
///
/// The jobs run in the current pool: that of the calling worker, else the global pool.
///
/// # Example
///
/// ```
/// use std::rc::Rc;
///
/// let not_send = Rc::new(3);
/// let mut squares = [0; 3];
/// drowse::in_place_scope(|s| {
///     for (i, square) in squares.iter_mut().enumerate().take(*not_send) {
///         s.spawn(move |_| *square = i * i);
///     }
/// });
/// assert_eq!(squares, [0, 1, 4]);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    in_place_scope_in(&current_registry(), op)
}

pub(in crate::api) fn in_place_scope_in<'scope, OP, R>(registry: &Arc<Registry>, op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    WorkerThread::with_current(|owner| {
        let scope = Scope::new(owner, Arc::clone(registry));
        scope.base.complete(owner, || op(&scope))
    })
}

impl<'scope> Scope<'scope> {
    fn new(owner: Option<&WorkerThread>, registry: Arc<Registry>) -> Self {
        Self { base: ScopeBase::new(owner, registry) }
    }

    /// Runs a closure before the scope ends. The closure gets the scope, and may spawn more into
    /// it.
    ///
    /// On a worker of the scope's pool it goes to the worker's own queue, where the newest job
    /// comes first.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let count = AtomicU32::new(0);
    /// drowse::scope(|s| {
    ///     s.spawn(|s| {
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///         s.spawn(|_| {
    ///             count.fetch_add(1, Ordering::Relaxed);
    ///         });
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let job = ScopeBase::job(self, body);
        // SAFETY: a new reference, which is in no queue.
        unsafe { self.base.offer(job) };
    }

    /// Runs closures before the scope ends, like one [`spawn`](Self::spawn) each, but makes them
    /// known to the pool together.
    ///
    /// See [`spawn_all`](crate::spawn_all()) for what that means. If the iterator panics, the scope
    /// waits for the closures that it returned before. The compiler may need the type of the
    /// closures' argument, as in the example.
    ///
    /// # Example
    ///
    /// ```
    /// let mut squares = [1, 2, 3, 4];
    /// drowse::scope(|s| {
    ///     s.spawn_all(squares.iter_mut().map(|x| move |_: &drowse::Scope<'_>| *x *= *x));
    /// });
    /// assert_eq!(squares, [1, 4, 9, 16]);
    /// ```
    pub fn spawn_all<I>(&self, bodies: I)
    where
        I: IntoIterator<Item: FnOnce(&Scope<'scope>) + Send + 'scope>,
    {
        let mut jobs = bodies.into_iter().map(|body| ScopeBase::job(self, body));
        match self.base.is_for_isolated_waiter() {
            // SAFETY: new references, which are in no queue.
            true => jobs.for_each(|job| unsafe { self.base.offer(job) }),
            // SAFETY: new references, which are in no queue.
            false => unsafe { self.base.registry.offer_all(&mut jobs) },
        }
    }

    /// Runs a closure once on each worker of the scope's pool, before the scope ends.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// let visited = AtomicUsize::new(0);
    /// pool.scope(|s| {
    ///     s.spawn_broadcast(|_, context| {
    ///         visited.fetch_add(1 << context.index(), Ordering::Relaxed);
    ///     });
    /// });
    /// assert_eq!(visited.into_inner(), 0b111);
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        ScopeBase::inject_broadcast(self, body);
    }
}

impl<'scope> AsBase<'scope> for Scope<'scope> {
    fn base(&self) -> &ScopeBase<'scope> {
        &self.base
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt("Scope", f)
    }
}
