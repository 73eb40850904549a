//! Who is measured: pools that fork, or take jobs, or both.
//!
//! A workload is written once, for any [`Pool`]. What a contender cannot do it says, and the table
//! shows it.

#[cfg(feature = "awaited")]
mod async_executor;
mod awaited;
mod bare;
mod borrowed;
mod channel;
mod chili;
mod drowse;
mod forte;
mod rayon;
mod serial;
mod threads;
#[cfg(feature = "awaited")]
mod tokio;

#[cfg(feature = "awaited")]
pub use async_executor::AsyncExecutor;
pub(crate) use awaited::{ARE_BUILT, NOT_BUILT, find_absent, is_for_others};
pub use awaited::{AWAITED, Awaited, absent};
pub use bare::Bare;
pub use channel::Channel;
pub use chili::Chili;
pub use drowse::{Drowse, DrowseCounters, DrowseGuests, DrowseJec, DrowseRelay, DrowseSleepy};
pub use drowse::{DrowsePool, DrowseUnsteered};
pub use drowse::{is_the_default_by_name, traced};
pub use forte::Forte;
pub use rayon::{Rayon, RayonOnDrowse, RayonPool};
pub use serial::Serial;
pub use threads::Threads;
#[cfg(feature = "awaited")]
pub use tokio::{Tokio, TokioRayon};

use std::future::Future;

/// Why a contender has no figure: in a sentence.
pub type Reason = &'static str;

/// An ability: there, or the reason why not.
pub type Can = Result<(), Reason>;

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
    const CAN_SPAWN: Can = Err("from inside it takes forks, and no other jobs");

    /// Gives the pool these jobs, one by one, and waits for all of them.
    ///
    /// # Errors
    ///
    /// If it takes none from here.
    fn scope<J: FnOnce() + Send>(
        &mut self,
        _jobs: impl Iterator<Item = J> + Send,
    ) -> Result<(), Reason> {
        Self::CAN_SPAWN
    }

    /// Gives the pool a job that nobody waits for.
    ///
    /// # Errors
    ///
    /// If it takes none from here.
    fn spawn<J: FnOnce() + Send + 'static>(&mut self, _job: J) -> Result<(), Reason> {
        Self::CAN_SPAWN
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

/// A contender: a name, and the way to make its pool.
pub trait Contender {
    /// Its name on the command line.
    const NAME: &'static str;
    /// Its description, in a sentence.
    const ABOUT: &'static str;
    /// Its pool. Contenders that differ only in how their pool is built share a type, because each
    /// workload is compiled once for each type of pool.
    type Pool: Pool;

    /// Returns the description, with what is known only when the program runs.
    fn about() -> String {
        Self::ABOUT.to_owned()
    }

    /// Makes a pool of so many threads.
    ///
    /// # Errors
    ///
    /// If it cannot have that many, or not be chosen for this.
    fn new(threads: usize) -> Result<Self::Pool, Reason>;
}

/// A pool that workloads run in.
pub trait Pool: Sized + Sync {
    /// From where its code forks.
    type Fork: Fork;

    /// Whether it can run forks at all, and in parallel. The reason if not.
    const CAN_FORK: Can = Ok(());

    /// Whether there is something to enter: threads that wait for work. The reason if not.
    const CAN_ENTER: Can = Ok(());

    /// Whether it takes jobs that nobody waits for. The reason if not.
    const CAN_SPAWN: Can = Ok(());

    /// Returns the number of its threads. Only those of pools with
    /// [jobs from inside](Fork::CAN_SPAWN) are asked for; others count as one thread.
    fn threads(&self) -> usize {
        1
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
    const CAN_AWAIT: Can = Err("its jobs cannot be awaited");

    /// Gives the pool a job whose result can be awaited. Only where [that can be](Self::CAN_AWAIT):
    /// elsewhere the thread that awaits it runs it.
    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        async move { job() }
    }

    /// Whether it runs futures. The reason if not.
    const CAN_POLL: Can = Err("it runs no futures");

    /// Gives the pool a future to run. Only where [that can be](Self::CAN_POLL): elsewhere it is
    /// run by the thread that awaits it.
    fn spawn_future<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        future
    }

    /// Whether two threads of the pool are known to run at the same time when there is work for
    /// both.
    const IS_PARALLEL: bool = true;

    /// Whether the halves of a join may wait for each other. The reason if not.
    const CAN_WAIT_IN_HALVES: Can = if Self::IS_PARALLEL {
        Ok(())
    } else {
        Err("one thread: the halves run one after the other")
    };
}

/// Why a pool that shares jobs by heartbeat has no figures for halves that wait for each other.
const NO_HEARTBEAT: Reason =
    "halves that do not fork have no heartbeat: they run one after the other";

/// What one does with a contender once it is known which.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Called with the type of the contender's pool, and the function that makes a pool of so many
    /// threads.
    fn visit<P: Pool>(self, new: fn(usize) -> Result<P, Reason>) -> Self::Output;
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
    ($($(#[$when:meta])* $contender:ident),+ $(,)?) => {
        /// Every contender that runs in this process, in the order of tables.
        pub const ALL: &[Spec] = &[$($(#[$when])* Spec {
            name: <$contender as Contender>::NAME,
            about: <$contender as Contender>::about,
        }),+];

        /// The contenders by number.
        #[derive(Clone, Copy)]
        enum Name {
            $($(#[$when])* $contender,)+
            RayonOnDrowse,
        }

        /// Finds a contender. Not generic, unlike `visit`.
        fn by_name(name: &str) -> Option<Name> {
            $($(#[$when])* if name == <$contender as Contender>::NAME {
                return Some(Name::$contender);
            })+
            (name == RayonOnDrowse::NAME).then_some(Name::RayonOnDrowse)
        }

        /// Calls the visitor with the contender of this name, even one that has a program of its
        /// own: it will say if this is not it.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            Some(match by_name(name)? {
                $($(#[$when])* Name::$contender => visitor.visit(<$contender as Contender>::new),)+
                Name::RayonOnDrowse => visitor.visit(RayonOnDrowse::new),
            })
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
    #[cfg(feature = "awaited")]
    Tokio,
    #[cfg(feature = "awaited")]
    TokioRayon,
    #[cfg(feature = "awaited")]
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
    struct GiveJobs(&'static str);

    impl Visitor for GiveJobs {
        type Output = ();

        fn visit<P: Pool>(self, new: fn(usize) -> Result<P, Reason>) {
            let pool = new(2).unwrap();
            let (name, (send, receive)) = (self.0, channel());
            let send_all = |number: usize| {
                let send = send.clone();
                move || send.send(number).unwrap()
            };
            let outside = (0..JOBS).try_for_each(|number| pool.spawn(send_all(number)));
            assert_eq!(outside, P::CAN_SPAWN, "{name}");
            let inside = pool
                .run(|fork| (JOBS..2 * JOBS).try_for_each(|number| fork.spawn(send_all(number))));
            assert_eq!(inside, P::Fork::CAN_SPAWN, "{name}");
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
            assert_eq!(scope, P::Fork::CAN_SPAWN, "{name}");
            assert_eq!(
                count.into_inner(),
                if scope.is_ok() { JOBS } else { 0 },
                "{name}: when it ends"
            );
            // Some contenders' threads end only with the process.
            std::mem::forget(pool);
        }
    }

    #[test]
    fn jobs_that_are_taken_run_and_a_scope_waits_for_them() {
        for contender in ALL {
            assert!(
                visit(contender.name, GiveJobs(contender.name)).is_some(),
                "{}",
                contender.name
            );
        }
    }
}
