//! One round, in a process of its own.

use crate::book::Page;
use crate::dice::Dice;
use crate::plan::{Plan, PoolPlan, STACK};
use crate::turn::Turn;
use crate::verdict::{self, fail, fail_after_report};
use crate::world::{Bomb, World};
use crate::{actions, surroundings, tasks, watch};
use std::panic;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Does the round, and prints how many jobs there were, and how often each action was done.
/// Returns only if all was well.
pub(crate) fn run(plan: Plan) {
    verdict::name_round(format!("seed {}: {plan:#?}", plan.seed));
    fail_on_panics();
    surroundings::begin(&plan);
    let (threads, world) = begin(plan);
    let outsiders: Vec<_> = (0..world.plan.outsiders).map(|index| outsider(world, index)).collect();
    surroundings::later(&world.plan);
    for outsider in outsiders {
        if outsider.join().is_err() {
            fail("a thread outside panicked");
        }
    }
    // The watch sees to it that this ends.
    while world.book.first_open().is_some() {
        thread::park_timeout(Duration::from_millis(1));
    }
    watch::end();
    // SAFETY: no job is left, and the threads outside have ended.
    unsafe { world.end() };
    drowse::shutdown_global();
    until("the pools' threads have ended", || (tasks::count() > threads).then(tasks::table));
    world.demand_all_have_left();
    let (jobs, kinds) = world.book.counts();
    println!("jobs {jobs}");
    for (name, times) in actions::all().zip(kinds) {
        println!("{name} {times}");
    }
}

/// The world; and how many threads there will be when the pools have ended.
fn begin(plan: Plan) -> (usize, &'static World) {
    // The watch begins with the world.
    let before = tasks::count() + 1;
    let world = World::begin(plan);
    if !world.plan.global {
        return (before, world);
    }
    // Its width is the environment's business.
    let plan = PoolPlan::random(&mut world.plan.dice(), &[0]).with_spares(world.plan.ample);
    let named = plan.builder(world).thread_name(|index| format!("global.{index}"));
    if let Err(error) = named.build_global() {
        fail(&format!("no global pool: {error}"));
    }
    (before, world)
}

/// A thread that gives the pools work, time and again.
fn outsider(world: &'static World, index: usize) -> thread::JoinHandle<()> {
    let plan = &world.plan;
    let own = (plan.jobs + 1) as Page;
    let first = (index * plan.actions) as Page * own;
    let mut dice = Dice::new(plan.seed ^ (index as u64 + 1) << 48);
    let body = move || {
        for action in 0..plan.actions as Page {
            let pages = first + action * own..first + (action + 1) * own;
            let doing = &world.outside[index];
            let turn = Turn::outside(world, dice.split(), pages.start + 1..pages.end);
            turn.act(|kind| {
                doing.store(kind as u8 + 1, Ordering::Relaxed);
                world.book.goes_on_with(pages.start, kind);
            });
            doing.store(0, Ordering::Relaxed);
            while plan.calm && world.book.first_open_of(pages.clone()).is_some() {
                thread::park_timeout(Duration::from_micros(50));
            }
            pause(&mut dice);
        }
    };
    let thread = thread::Builder::new().name(format!("outside{index}")).stack_size(STACK);
    thread.spawn(body).expect("a thread outside")
}

/// Mostly none; often so long that workers get sleepy, or sleep.
fn pause(dice: &mut Dice) {
    let micros = match dice.below(16) {
        0 => dice.below(3_000),
        1..8 => dice.below(100),
        _ => return,
    };
    thread::park_timeout(Duration::from_micros(micros as u64));
}

/// A panic that nobody meant fails the round where it happens.
fn fail_on_panics() {
    panic::set_hook(Box::new(|info| {
        if !info.payload().is::<Bomb>() {
            fail(&format!("a panic: {info}"));
        }
    }));
}

/// Waits until there is nothing left to say.
pub(crate) fn until(what: &str, rest: impl Fn() -> Option<String>) {
    let mut patience = watch::patience();
    while let Some(rest) = rest() {
        if patience.is_over() {
            fail_after_report(&format!("waited in vain until {what}: {patience}\n{rest}"));
        }
        thread::park_timeout(Duration::from_millis(1));
    }
}
