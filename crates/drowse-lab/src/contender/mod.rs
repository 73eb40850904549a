//! Who is measured: pools that fork, or take jobs, or both.
//!
//! A workload is written once, for any [`Pool`]. What a contender cannot do it says, and the table
//! shows it.

mod async_executor;
mod bare;
mod borrowed;
mod channel;
mod chili;
mod drowse;
mod forte;
mod rayon;
mod serial;
mod threads;
mod tokio;

pub use async_executor::AsyncExecutor;
pub use bare::Bare;
pub use channel::Channel;
pub use chili::Chili;
pub use drowse::is_the_default_by_name;
pub use drowse::{Drowse, DrowseCounters, DrowseGuests, DrowseJec, DrowseRelay, DrowseSleepy};
pub use drowse::{DrowseTraced, DrowseUnsteered};
pub use forte::Forte;
pub use rayon::{Rayon, RayonOnDrowse};
pub use serial::Serial;
pub use threads::Threads;
pub use tokio::{Tokio, TokioRayon};

use std::future::Future;

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

    /// Whether jobs can be given to the pool from here, inside it. The reason if not.
    fn can_spawn() -> Result<(), Reason> {
        Err("from inside it takes forks, and no other jobs")
    }

    /// Gives the pool these jobs, one by one, and waits for all of them.
    ///
    /// # Errors
    ///
    /// If it takes none from here.
    fn scope<J: FnOnce() + Send>(&mut self, _jobs: impl Iterator<Item = J> + Send) -> Result<(), Reason> {
        Self::can_spawn()
    }

    /// Gives the pool a job that nobody waits for.
    ///
    /// # Errors
    ///
    /// If it takes none from here.
    fn spawn<J: FnOnce() + Send + 'static>(&mut self, _job: J) -> Result<(), Reason> {
        Self::can_spawn()
    }
}

/// Implements [`Fork`] for a type by the body of its `join`: the bounds are the trait's, said here
/// for all contenders. What else it can do follows.
macro_rules! fork {
    ($(#[$attribute:meta])* fn join($self:ident: $fork:ty, $a:ident, $b:ident) $body:block $($more:item)*) => {
        impl $crate::contender::Fork for $fork {
            $(#[$attribute])*
            fn join<A, B, RA, RB>(&mut $self, $a: A, $b: B) -> (RA, RB)
            where
                A: FnOnce(&mut Self) -> RA + Send,
                B: FnOnce(&mut Self) -> RB + Send,
                RA: Send,
                RB: Send,
            $body

            $($more)*
        }
    };
}
use fork;

/// Says of a pool that it is there for what can be awaited, and for nothing else.
macro_rules! for_tasks_only {
    () => {
        fn can_fork() -> Result<(), Reason> {
            Err($crate::contender::FOR_TASKS)
        }

        fn can_enter() -> Result<(), Reason> {
            Err($crate::contender::FOR_TASKS)
        }

        fn can_spawn() -> Result<(), Reason> {
            Err($crate::contender::FOR_TASKS)
        }

        fn run<R: Send>(&self, f: impl FnOnce(&mut Serial) -> R + Send) -> R {
            f(&mut Serial)
        }

        fn spawn<J: FnOnce() + Send + 'static>(&self, _: J) -> Result<(), Reason> {
            Self::can_spawn()
        }

        fn can_await() -> Result<(), Reason> {
            Ok(())
        }
    };
}
use for_tasks_only;

/// Why such a pool has no other figures.
const FOR_TASKS: Reason = "it is here for what can be awaited";

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

    /// Whether its jobs can be awaited. The reason if not.
    fn can_await() -> Result<(), Reason> {
        Err("its jobs cannot be awaited")
    }

    /// Gives the pool a job whose result can be awaited. Only where [that can be](Self::can_await):
    /// elsewhere it is run by whoever awaits it.
    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        async move { job() }
    }

    /// Whether it runs futures. The reason if not.
    fn can_poll() -> Result<(), Reason> {
        Err("it runs no futures")
    }

    /// Gives the pool a future to run. Only where [that can be](Self::can_poll): elsewhere it is
    /// run by whoever awaits it.
    fn spawn_future<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        future
    }

    /// Whether two threads of the pool are known to run at the same time when there is work for
    /// both.
    fn is_parallel() -> bool {
        true
    }

    /// Whether the halves of a join may wait for each other. The reason if not.
    fn can_wait_in_halves() -> Result<(), Reason> {
        if Self::is_parallel() { Ok(()) } else { Err("one thread: the halves run one after the other") }
    }
}

/// Why a pool that shares jobs by heartbeat has no figures for halves that wait for each other.
const NO_HEARTBEAT: Reason = "halves that do not fork have no heartbeat: they run one after the other";

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
    DrowseGuests,
    DrowseJec,
    DrowseCounters,
    DrowseRelay,
    DrowseSleepy,
    Rayon,
    Chili,
    Forte,
    Channel,
    Threads,
    Tokio,
    TokioRayon,
    AsyncExecutor,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    const JOBS: usize = 50;
    /// A job that has not run by then is lost.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Gives jobs from outside and from inside, where that can be done, and checks that all run.
    struct GiveJobs;

    impl Visitor for GiveJobs {
        type Output = ();

        fn visit<P: Pool>(self) {
            let pool = P::new(2).unwrap();
            let (name, (send, receive)) = (P::NAME, channel());
            let send_all = |number: usize| {
                let send = send.clone();
                move || send.send(number).unwrap()
            };
            let outside = (0..JOBS).try_for_each(|number| pool.spawn(send_all(number)));
            assert_eq!(outside, P::can_spawn(), "{name}");
            let inside =
                pool.run(|fork| (JOBS..2 * JOBS).try_for_each(|number| fork.spawn(send_all(number))));
            assert_eq!(inside, P::Fork::can_spawn(), "{name}");
            let expected: Vec<_> = [(outside, 0..JOBS), (inside, JOBS..2 * JOBS)]
                .into_iter()
                .flat_map(|(given, numbers)| numbers.filter(move |_| given.is_ok()))
                .collect();
            let mut ran: Vec<_> =
                expected.iter().map_while(|_| receive.recv_timeout(PATIENCE).ok()).collect();
            ran.sort_unstable();
            assert_eq!(ran, expected, "{name}");

            let count = AtomicUsize::new(0);
            let job = || _ = count.fetch_add(1, Ordering::Relaxed);
            let scope = pool.run(|fork| fork.scope((0..JOBS).map(|_| job)));
            assert_eq!(scope, P::Fork::can_spawn(), "{name}");
            assert_eq!(count.into_inner(), if scope.is_ok() { JOBS } else { 0 }, "{name}: when it ends");
            // Some contenders' threads end only with the process.
            std::mem::forget(pool);
        }
    }

    #[test]
    fn jobs_that_are_taken_run_and_a_scope_waits_for_them() {
        for contender in ALL {
            assert!(visit(contender.name, GiveJobs).is_some(), "{}", contender.name);
        }
    }
}
