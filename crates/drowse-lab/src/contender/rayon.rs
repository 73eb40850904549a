//! rayon, on its own core or on drowse.

use super::{Can, Contender, Pool, Reason, fork};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of rayon's, on whichever core this program has.
#[derive(Debug)]
pub struct RayonPool(ThreadPool);

/// rayon; `DROWSE` says whether its core must be drowse. A program has the one core or the other:
/// see [`runner::external`].
///
/// [`runner::external`]: crate::runner::external
#[derive(Debug)]
pub struct OnCore<const DROWSE: bool>;

/// rayon as it is published.
pub type Rayon = OnCore<false>;

/// rayon's own code with drowse as its core.
pub type RayonOnDrowse = OnCore<true>;

/// Forks with `rayon::join`.
#[derive(Debug)]
pub struct RayonFork;

fork! {
    #[inline(always)]
    fn join(self: RayonFork, a, b) {
        rayon::join(|| a(&mut Self), || b(&mut Self))
    }

    const CAN_SPAWN: Can = Ok(());

    fn scope<J: FnOnce() + Send>(&mut self, jobs: impl Iterator<Item = J> + Send) -> Result<(), Reason> {
        rayon::scope(|scope| jobs.for_each(|job| scope.spawn(move |_| job())));
        Ok(())
    }

    fn spawn<J: FnOnce() + Send + 'static>(&mut self, job: J) -> Result<(), Reason> {
        rayon::spawn(job);
        Ok(())
    }
}

/// Whether the threads of this pool are drowse's. Not taken from how the program was built: it is
/// asked on one of them.
fn is_drowse(pool: &ThreadPool) -> bool {
    pool.install(drowse::current_thread_index).is_some()
}

impl<const DROWSE: bool> Contender for OnCore<DROWSE> {
    const NAME: &'static str = if DROWSE { "rayon-on-drowse" } else { "rayon" };
    const ABOUT: &'static str =
        if DROWSE { "rayon 1.12 with drowse as its core" } else { "rayon 1.12 on its own core" };
    type Pool = RayonPool;

    fn new(threads: usize) -> Result<RayonPool, Reason> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|_| "its threads could not be started")?;
        match (is_drowse(&pool), DROWSE) {
            (true, false) => Err("rayon's core is drowse in this program, not its own"),
            (false, true) => Err("rayon's core is its own in this program, not drowse"),
            _ => Ok(RayonPool(pool)),
        }
    }
}

impl Pool for RayonPool {
    type Fork = RayonFork;

    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn run<R: Send>(&self, f: impl FnOnce(&mut RayonFork) -> R + Send) -> R {
        self.0.install(|| f(&mut RayonFork))
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason> {
        self.0.spawn(job);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_for_somebody_else() {
        assert!(Rayon::new(1).is_ok(), "this program has rayon's own core");
        assert_eq!(
            RayonOnDrowse::new(1).unwrap_err(),
            "rayon's core is its own in this program, not drowse"
        );
    }
}
