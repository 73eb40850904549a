//! Programs that hang, or end badly, on one runtime and not on the other, and what cures them.
//!
//! Each is written once, for any [`Runtime`], and runs in a process of its own that can be ended.

mod locks;
mod panics;
mod pools;
mod process;
mod run;
mod runtime;
mod table;
mod waits;

pub use run::{Run, Verdict, here, run};
pub use runtime::{Drowse, Rayon, Runtime};
pub use table::{Table, as_json};

/// How a program ended that came to its end: well, with a word on it or none; or not as it should.
pub type Ended = Result<String, String>;

/// A program.
#[derive(Debug)]
pub struct Program {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, and what can go wrong, in a sentence.
    pub about: &'static str,
    /// Environment variables of all its processes.
    pub variables: &'static [(&'static str, &'static str)],
    /// On rayon.
    pub rayon: fn() -> Ended,
    /// On drowse.
    pub drowse: fn() -> Ended,
    /// Whether drowse must get to the end of it as it is.
    pub drowse_must: bool,
    /// What it takes otherwise. drowse must get to the end of it with each of these.
    pub cures: &'static [Cure],
}

/// Something that cures a program.
#[derive(Debug)]
pub struct Cure {
    /// In a few words: a variable and its value, or what in the program is another way.
    pub how: &'static str,
    /// Environment variables of the process.
    pub variables: &'static [(&'static str, &'static str)],
    /// The program, cured.
    pub run: fn() -> Ended,
}

/// Who runs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// rayon.
    Rayon,
    /// drowse, as it is.
    Drowse,
    /// drowse, with the cure of this number.
    Cured(usize),
}

impl Program {
    /// All who run it, in the order of the table.
    pub fn all(&self) -> impl Iterator<Item = Who> {
        [Who::Rayon, Who::Drowse].into_iter().chain((0..self.cures.len()).map(Who::Cured))
    }

    /// The cure, if there is one.
    pub fn cure(&self, who: Who) -> Option<&'static Cure> {
        match who {
            Who::Cured(number) => self.cures.get(number),
            Who::Rayon | Who::Drowse => None,
        }
    }

    /// Whether something is wrong if it does not get to its end.
    pub fn must_finish(&self, who: Who) -> bool {
        match who {
            Who::Rayon => false,
            Who::Drowse => self.drowse_must,
            Who::Cured(_) => true,
        }
    }
}

impl Who {
    /// For the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rayon => "rayon",
            Self::Drowse | Self::Cured(_) => "drowse",
        }
    }

    /// For the command line of a process.
    pub fn to_word(self) -> String {
        match self {
            Self::Rayon | Self::Drowse => self.name().to_owned(),
            Self::Cured(number) => number.to_string(),
        }
    }

    /// From the command line of a process.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "rayon" => Some(Self::Rayon),
            "drowse" => Some(Self::Drowse),
            number => number.parse().ok().map(Self::Cured),
        }
    }
}

/// A variable that makes pools wait as if each of their jobs were isolated.
const ISOLATE: &[(&str, &str)] = &[("DROWSE_WAITING", "isolate")];
/// The global pool, of either.
const EIGHT_THREADS: &[(&str, &str)] =
    &[("RAYON_NUM_THREADS", "8"), ("DROWSE_NUM_THREADS", "8"), ("RUST_MIN_STACK", "67108864")];

/// Every program, in the order of the table. A cure is one line.
pub const ALL: &[Program] = &[
    Program {
        name: "lock_across_join",
        about: "a request joins under a lock; its worker, which waits for the stolen half, runs another request meanwhile, and wants \
            the lock that it has",
        variables: &[],
        rayon: || locks::lock_across_join::<Rayon>(locks::plainly),
        drowse: || locks::lock_across_join::<Drowse>(locks::plainly),
        drowse_must: false,
        cures: &[
            Cure {
                how: "DROWSE_WAITING=isolate",
                variables: ISOLATE,
                run: || locks::lock_across_join::<Drowse>(locks::plainly),
            },
            Cure {
                how: "drowse::isolate",
                variables: &[],
                run: || locks::lock_across_join::<Drowse>(|body| drowse::isolate(body)),
            },
        ],
    },
    Program {
        name: "once_cells",
        about: "a request joins while it fills a OnceLock; its worker, which waits for the stolen half, runs another request meanwhile, \
            and waits for the cell that it fills",
        variables: &[],
        rayon: || locks::once_cells::<Rayon>(locks::plainly),
        drowse: || locks::once_cells::<Drowse>(locks::plainly),
        drowse_must: false,
        cures: &[
            Cure {
                how: "DROWSE_WAITING=isolate",
                variables: ISOLATE,
                run: || locks::once_cells::<Drowse>(locks::plainly),
            },
            Cure {
                how: "drowse::isolate",
                variables: &[],
                run: || locks::once_cells::<Drowse>(|body| drowse::isolate(body)),
            },
        ],
    },
    Program {
        name: "mutual_wait",
        about: "the halves of a join wait for each other, on two threads: a runtime that runs nothing while it waits would hang",
        variables: &[],
        rayon: waits::mutual_wait::<Rayon>,
        drowse: waits::mutual_wait::<Drowse>,
        drowse_must: true,
        cures: &[Cure {
            how: "DROWSE_WAITING=isolate",
            variables: ISOLATE,
            run: waits::mutual_wait::<Drowse>,
        }],
    },
    Program {
        name: "children_by_channel",
        about: "5 tasks on 4 threads each spawn a child and block until it has sent something: no thread is left for the children",
        variables: &[],
        rayon: || waits::children::<Rayon>(waits::by_channel::<Rayon>),
        drowse: || waits::children::<Drowse>(waits::by_channel::<Drowse>),
        drowse_must: false,
        cures: &[
            Cure {
                how: "drowse::blocking",
                variables: &[],
                run: || waits::children::<Drowse>(waits::by_channel_blocking),
            },
            Cure {
                how: "spawn_handle, and its join",
                variables: &[],
                run: || {
                    waits::children::<Drowse>(|child| {
                        drowse::spawn_handle(child)
                            .join()
                            .map_err(|_| "a child panicked".to_owned())
                    })
                },
            },
        ],
    },
    Program {
        name: "two_submitters",
        about: "a thread folds for half a second in leaves of 1 ms, on two workers; another one enters with ten small items meanwhile, \
            and should be served after about a leaf, not after the fold",
        variables: &[],
        rayon: waits::two_submitters::<Rayon>,
        drowse: waits::two_submitters::<Drowse>,
        drowse_must: true,
        cures: &[],
    },
    Program {
        name: "stacks",
        about: "3,000 jobs each install into another pool, on a stack of 256 KiB: who waits for that pool runs the next job on top of \
            the one that waits",
        variables: &[],
        rayon: || pools::stacks::<Rayon>(|there, f| there.install(f)),
        drowse: || pools::stacks::<Drowse>(|there, f| there.install(f)),
        drowse_must: true,
        cures: &[
            Cure {
                how: "DROWSE_WAITING=isolate",
                variables: ISOLATE,
                run: || pools::stacks::<Drowse>(|there, f| there.install(f)),
            },
            Cure {
                how: "install_blocking",
                variables: &[],
                run: || pools::stacks::<Drowse>(|there, f| there.install_blocking(f)),
            },
        ],
    },
    Program {
        name: "cross_pool_cell",
        about: "a job borrows a thread-local cell and installs into another pool: its worker runs another job meanwhile, which borrows \
            the cell, too",
        variables: &[],
        rayon: || pools::cross_pool_cell::<Rayon>(|there, f| there.install(f)),
        drowse: || pools::cross_pool_cell::<Drowse>(|there, f| there.install(f)),
        drowse_must: false,
        cures: &[
            Cure {
                how: "DROWSE_WAITING=isolate",
                variables: ISOLATE,
                run: || pools::cross_pool_cell::<Drowse>(|there, f| there.install(f)),
            },
            Cure {
                how: "install_blocking",
                variables: &[],
                run: || pools::cross_pool_cell::<Drowse>(|there, f| there.install_blocking(f)),
            },
        ],
    },
    Program {
        name: "fork",
        about: "a process that has used the global pool forks, and the child, which has none of its threads, runs a parallel loop",
        variables: &[],
        rayon: process::fork::<Rayon>,
        drowse: process::fork::<Drowse>,
        drowse_must: true,
        cures: &[],
    },
    Program {
        name: "shutdown",
        about: "50 pools are made, used and let go: their threads should be gone when that has returned",
        variables: &[],
        rayon: || process::shutdown::<Rayon>(drop),
        drowse: || process::shutdown::<Drowse>(drop),
        drowse_must: false,
        cures: &[Cure {
            how: "ThreadPool::shutdown",
            variables: &[],
            run: || process::shutdown::<Drowse>(drowse::ThreadPool::shutdown),
        }],
    },
    Program {
        name: "few_threads",
        about: "the system has room for 3 threads of the global pool's 8: it should go on with those",
        variables: EIGHT_THREADS,
        rayon: process::few_threads::<Rayon>,
        drowse: process::few_threads::<Drowse>,
        drowse_must: true,
        cures: &[],
    },
    Program {
        name: "panic_in_spawn",
        about: "a spawned job panics, and the pool has no panic handler: that ends the process",
        variables: &[],
        rayon: || panics::panic_in_spawn::<Rayon>(panics::spawned::<Rayon>),
        drowse: || panics::panic_in_spawn::<Drowse>(panics::spawned::<Drowse>),
        drowse_must: false,
        cures: &[Cure {
            how: "spawn_handle",
            variables: &[],
            run: || {
                panics::panic_in_spawn::<Drowse>(|job| {
                    drowse::spawn_handle(job).join().err().map(drowse::JoinError::into_panic)
                })
            },
        }],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_words_come_back() {
        let mut names: Vec<_> = ALL.iter().map(|program| program.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for who in ALL.iter().flat_map(Program::all) {
            assert_eq!(Who::from_word(&who.to_word()), Some(who));
        }
        assert_eq!(Who::from_word("chili"), None);
    }

    #[test]
    fn what_is_cured_must_finish() {
        for program in ALL {
            assert!(
                program.all().all(|who| program.must_finish(who) || program.cure(who).is_none())
            );
            assert!(!program.must_finish(Who::Rayon), "{}", program.name);
        }
    }
}
