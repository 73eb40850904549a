//! Who is measured: pools that fork, or take jobs, or both.
//!
//! A workload is written once, for any [`Pool`]. What a contender cannot do it says, and the table
//! shows it.

mod bare;
mod borrowed;
mod channel;
mod chili;
mod drowse;
mod forte;
mod rayon;
mod serial;
mod threads;

pub use bare::Bare;
pub use channel::Channel;
pub use chili::Chili;
pub use drowse::is_the_default_by_name;
pub use drowse::{Drowse, DrowseCounters, DrowseJec, DrowseRelay, DrowseSleepy};
pub use drowse::{DrowseTraced, DrowseUnsteered};
pub use forte::Forte;
pub use rayon::{Rayon, RayonOnDrowse};
pub use serial::Serial;
pub use threads::Threads;

/// Why a contender has no figure: in a sentence.
pub type Reason = &'static str;

/// A place in the code from which one may fork.
pub trait Fork {
    /// Runs both, perhaps in parallel, and waits for both.
    fn join<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self) -> RA + Send,
        B: FnOnce(&mut Self) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// Implements [`Fork`] for a type by the body of its `join`: the bounds are the trait's, said here
/// for all contenders.
macro_rules! fork {
    ($(#[$attribute:meta])* fn join($self:ident: $fork:ty, $a:ident, $b:ident) $body:block) => {
        impl $crate::contender::Fork for $fork {
            $(#[$attribute])*
            fn join<A, B, RA, RB>(&mut $self, $a: A, $b: B) -> (RA, RB)
            where
                A: FnOnce(&mut Self) -> RA + Send,
                B: FnOnce(&mut Self) -> RB + Send,
                RA: Send,
                RB: Send,
            $body
        }
    };
}
use fork;

/// A contender.
pub trait Pool: Sized + Sync {
    /// Its name on the command line.
    const NAME: &'static str;
    /// What it is, in a sentence.
    const ABOUT: &'static str;
    /// From where its code forks.
    type Fork: Fork;

    /// The same with what is known only when the program runs.
    fn about() -> String {
        Self::ABOUT.to_owned()
    }

    /// A pool of so many threads.
    ///
    /// # Errors
    ///
    /// If it cannot have that many, or not be chosen for this.
    fn new(threads: usize) -> Result<Self, Reason>;

    /// Whether it can run forks at all, and in parallel. The reason if not.
    fn can_fork() -> Result<(), Reason> {
        Ok(())
    }

    /// Whether there is something to enter: threads that wait for work. The reason if not.
    fn can_enter() -> Result<(), Reason> {
        Ok(())
    }

    /// Whether it takes jobs that nobody waits for. The reason if not.
    fn can_spawn() -> Result<(), Reason> {
        Ok(())
    }

    /// Calls `f` in the pool, from outside it, and waits.
    fn run<R: Send>(&self, f: impl FnOnce(&mut Self::Fork) -> R + Send) -> R;

    /// Gives the pool a job that nobody waits for, from outside it. It gets the job as a program
    /// that uses it would pass it: what a box costs, and whether there is one, is up to the
    /// contender.
    ///
    /// # Errors
    ///
    /// If it takes none.
    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason>;

    /// Whether two threads of the pool are known to run at the same time when there is work for
    /// both.
    fn is_parallel() -> bool {
        true
    }
}

/// What one does with a contender once it is known which.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Called with the contender's type.
    fn visit<P: Pool>(self) -> Self::Output;
}

/// What can be said of a contender without running it.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: fn() -> String,
}

/// Names each contender once. A new one is one word here.
macro_rules! contenders {
    ($($pool:ident),+ $(,)?) => {
        /// Every contender that runs in this process, in the order of tables.
        pub const ALL: &[Spec] =
            &[$(Spec { name: <$pool as Pool>::NAME, about: <$pool as Pool>::about }),+];

        /// Calls the visitor with the contender of this name, even one that has a program of its
        /// own: it will say if this is not it.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$pool as Pool>::NAME {
                return Some(visitor.visit::<$pool>());
            })+
            (name == RayonOnDrowse::NAME).then(|| visitor.visit::<RayonOnDrowse>())
        }
    };
}

contenders![
    Serial,
    Bare,
    Drowse,
    DrowseUnsteered,
    DrowseJec,
    DrowseCounters,
    DrowseRelay,
    DrowseSleepy,
    Rayon,
    Chili,
    Forte,
    Channel,
    Threads,
];
