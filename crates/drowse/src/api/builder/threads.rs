//! How many threads a pool has, and when.

use super::ThreadPoolBuilder;

impl<S> ThreadPoolBuilder<S> {
    /// Sets whether the pool may have fewer threads than it was to have, if the system does not let
    /// it start more: at least one. The default is no, and [`build`](Self::build) returns an error
    /// then.
    ///
    /// How many there are is what
    /// [`current_num_threads`](crate::ThreadPool::current_num_threads) says. The threads that could
    /// be started are started anew, as those of a smaller pool: so their start and exit handlers
    /// may be called twice, and a [spawn handler](Self::spawn_handler) is called for the same
    /// indices again. The global pool, unless it was built by
    /// [`build_global`](Self::build_global), always goes on with fewer threads, and says so on the
    /// standard error.
    ///
    /// ```
    /// let mut left = 3; // more are not to be had
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(8)
    ///     .allow_fewer_threads(true)
    ///     .spawn_handler(|worker| {
    ///         left = if worker.index() == 0 { 3 } else { left };
    ///         if left == 0 {
    ///             return Err(std::io::ErrorKind::WouldBlock.into());
    ///         }
    ///         left -= 1;
    ///         std::thread::Builder::new().spawn(|| worker.run()).map(drop)
    ///     })
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(pool.current_num_threads(), 3);
    /// ```
    pub fn allow_fewer_threads(mut self, allow: bool) -> Self {
        self.allow_fewer_threads = allow;
        self
    }
}
