//! Errors of building a pool.

use super::max_num_threads;
use std::error::Error;
use std::fmt;
use std::io;

/// Error of building a pool.
///
/// ```
/// let build = || drowse::ThreadPoolBuilder::new().num_threads(1).build_global();
/// build().unwrap();
/// let error = build().unwrap_err();
/// assert!(error.to_string().contains("already"));
/// ```
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: BuildErrorKind,
}

#[derive(Debug)]
pub(super) enum BuildErrorKind {
    GlobalPoolAlreadyInitialized,
    GlobalPoolBeingBuilt,
    CurrentThreadAlreadyInPool,
    CurrentThreadInHandler,
    TraceInUse,
    CannotStartLater,
    /// More threads than a pool can have.
    TooManyThreads {
        wanted: usize,
    },
    /// The system accepts no thread name with a NUL.
    NulInName {
        name: String,
    },
    /// The system refused a thread, after `started` of `wanted` were started.
    Io {
        error: io::Error,
        started: usize,
        wanted: usize,
    },
}

impl ThreadPoolBuildError {
    pub(super) fn new(kind: BuildErrorKind) -> Self {
        Self { kind }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.kind {
            BuildErrorKind::GlobalPoolAlreadyInitialized => {
                // rayon-core's words, which programs may compare with.
                "The global thread pool has already been initialized."
            }
            BuildErrorKind::CurrentThreadAlreadyInPool => {
                "The current thread is already part of another thread pool."
            }
            BuildErrorKind::GlobalPoolBeingBuilt => {
                "the global thread pool is being built by this very thread: a spawn handler or a \
                 closure that names threads must not build it, nor use it"
            }
            BuildErrorKind::CurrentThreadInHandler => {
                "the current thread runs a handler of a thread pool, in the middle of something else, \
                 so it cannot become a worker: use_current_thread does not go with acquire and \
                 release handlers"
            }
            BuildErrorKind::TraceInUse => {
                "the trace is already that of another thread pool: make a new one for each"
            }
            BuildErrorKind::CannotStartLater => {
                "a spawn handler starts all threads when the pool is built, so they cannot come and go: neither \
                 Start::OnDemand nor idle_timeout goes with spawn_handler or build_scoped"
            }
            BuildErrorKind::TooManyThreads { wanted } => {
                let most = max_num_threads();
                return write!(f, "a pool of {wanted} threads was asked for, and the most is {most}");
            }
            BuildErrorKind::NulInName { name } => {
                return write!(f, "a thread cannot have the name {name:?}: there is a NUL in it");
            }
            BuildErrorKind::Io { error, started, wanted } => {
                return write!(
                    f,
                    "a worker thread could not be started: {error} ({started} of {wanted} could, and end again; ask for \
                     fewer threads or smaller stacks, raise the limit, or let the pool go on with those that there are: \
                     ThreadPoolBuilder::allow_fewer_threads)"
                );
            }
        })
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            BuildErrorKind::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
