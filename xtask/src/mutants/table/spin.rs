//! What is removed from the Promela models, under spin.
//!
//! The name is that of the file and of the `MUTANT_...` that it asks for; the model is the configuration.

use super::Mutant;
use crate::models::Backend;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "sleepy.pml/no-second-look",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "both looks of a sleepy worker at latch and queues",
    },
    Mutant {
        name: "sleepy.pml/announce-overwrites",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the look at the word in the step to sleepy",
    },
    Mutant {
        name: "sleepy.pml/wake-up-overwrites",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the look at the word in the step from sleepy to awake",
    },
    Mutant {
        name: "sleepy.pml/commit-overwrites",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the look at the word in the step from sleepy to asleep",
    },
    Mutant {
        name: "sleepy.pml/tickle-without-swap",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the swap of a tickle, which tells the sleepy worker",
    },
    Mutant {
        name: "sleepy.pml/tickle-wakes-one",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the wake-up of all but one sleeper in a tickle",
    },
    Mutant {
        name: "sleepy.pml/claim-ignores-committing",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the claim of a worker that is about to sleep",
    },
    Mutant {
        name: "sleepy.pml/late-bed",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the making of the bed before the step to asleep",
    },
    Mutant {
        name: "sleepy.pml/bed-overwrites",
        backend: Backend::Spin,
        binary: "sleepy",
        model: "plain",
        removes: "the look at the bed in the last step before sleep",
    },
    Mutant {
        name: "jec.pml/one-parity",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the difference between what makes the counter even and what makes it odd, and the last look",
    },
    Mutant {
        name: "jec.pml/no-jec-check",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the look at the counter in the step to sleep, and the last look",
    },
    Mutant {
        name: "jec.pml/no-last-look",
        backend: Backend::Spin,
        binary: "jec",
        model: "halves",
        removes: "the last look at the queues, when the counter has come round",
    },
    Mutant {
        name: "jec.pml/no-waker-decrement",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the decrement of the sleeping by the waker",
    },
    Mutant {
        name: "jec.pml/no-baton",
        backend: Backend::Spin,
        binary: "jec",
        model: "halves",
        removes: "the baton",
    },
    Mutant {
        name: "jec.pml/claim-ignores-committing",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the claim of a worker that is about to sleep",
    },
    Mutant {
        name: "jec.pml/late-bed",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the making of the bed before the worker is counted",
    },
    Mutant {
        name: "jec.pml/commit-overwrites",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the look at the bed in the last step before sleep",
    },
    Mutant {
        name: "jec.pml/set-forgets-sleeper",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the wake-up of a worker whose latch is set",
    },
    Mutant {
        name: "jec.pml/owner-overwrites",
        backend: Backend::Spin,
        binary: "jec",
        model: "plain",
        removes: "the look at the latch in each step of its owner's",
    },
];
