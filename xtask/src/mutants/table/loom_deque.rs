//! What is removed from the deque, under loom.

use super::Mutant;
use crate::models::Backend;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "deque/push-relaxed",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "the_last_item_goes_to_one",
        removes: "the release of a push",
    },
    Mutant {
        name: "deque/push-unfenced",
        backend: Backend::Loom,
        binary: "loom_local",
        model: "jec::a_sleeper_runs_the_job_without_light_fences",
        removes: "the full fence of a push where light ones are worth nothing",
    },
    Mutant {
        name: "deque/pop-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "take_back_gets_the_item_or_a_thief_does",
        removes: "the light fence of a pop",
    },
    Mutant {
        name: "deque/pop-last-without-race",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "owner_and_thief_share_two_items",
        removes: "the race for the last public item",
    },
    Mutant {
        name: "deque/pop-public-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "owner_and_thief_share_two_public_items",
        removes: "the fence of a pop of a public item",
    },
    Mutant {
        name: "deque/steal-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "owner_and_thief_share_two_public_items_without_light_fences",
        removes: "the fence of a steal",
    },
    Mutant {
        name: "deque/steal-gives-up",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_thief_that_finds_nothing_has_overlooked_nothing",
        removes: "the second try of a thief when others took what it published",
    },
    Mutant {
        name: "deque/publish-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "two_thieves_and_the_owner",
        removes: "the heavy fence of a publication",
    },
    Mutant {
        name: "deque/publish-ignores-owner",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_thief_that_comes_twice_takes_no_item_twice",
        removes: "the look at the owner's end in a publication",
    },
    Mutant {
        name: "deque/take-back-hides-others",
        backend: Backend::Loom,
        binary: "loom_local",
        model: "jec::a_job_that_a_failed_take_back_uncovers_is_not_lost",
        removes: "the look before an item is taken back",
    },
    Mutant {
        name: "deque/share-unclaimed",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_thief_asks_an_owner_that_goes_on_pushing",
        removes: "the claim on what the owner publishes: it goes on to take it as if it were private",
    },
    Mutant {
        name: "deque/grow-frees-old",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_deque_that_grows_loses_nothing",
        removes: "the life of outgrown buffers",
    },
    Mutant {
        name: "deque/grow-relaxed",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_deque_that_grows_loses_nothing",
        removes: "the release of a bigger buffer",
    },
];
