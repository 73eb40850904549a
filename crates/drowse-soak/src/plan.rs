//! What the seed decides before anything runs.

use crate::dice::Dice;
use crate::world::World;
use drowse::{
    Pause, SleepPolicy, SleepProtocol, Start, Steering, ThreadPool, ThreadPoolBuilder, Waiting,
};
use std::time::Duration;

/// The widest pool.
pub(crate) const MAX_WIDTH: usize = 33;

/// More than there are jobs at once, where that matters.
const MANY: usize = 64;

/// Waiting workers pile job upon job, from pool to pool too.
pub(crate) const STACK: usize = 64 << 20;

/// A round.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The whole process has one processor.
    pub(crate) one_cpu: bool,
    pub(crate) membarrier: Membarrier,
    /// Signals interrupt whatever threads do.
    pub(crate) storm: bool,
    /// Jobs are accounted for without fences. See [`Book`](crate::book::Book).
    pub(crate) lean: bool,
    /// Pools wait only for pools that come later in their order, so that workers may block
    /// meanwhile. In other rounds all wait for all, but nobody blocks.
    pub(crate) upward: bool,
    /// Some jobs, and some pools, wait in isolation. Only where pools wait upward: whoever is
    /// isolated keeps its place while it waits for a thief of its own pool that waits for another.
    pub(crate) isolates: bool,
    /// There are more spare threads than jobs at any time.
    pub(crate) ample: bool,
    /// There is a global pool too.
    pub(crate) global: bool,
    /// Variables for the pools that did not choose.
    pub(crate) environment: Vec<(&'static str, &'static str)>,
    pub(crate) pools: Vec<PoolPlan>,
    pub(crate) outsiders: usize,
    /// One thread outside, which lets everything end before it goes on: the pools fall asleep, and
    /// nobody else comes who would find what a lost wake-up has left.
    pub(crate) calm: bool,
    /// What each thread outside does, one after the other.
    pub(crate) actions: usize,
    /// How many jobs come of one such action, at most.
    pub(crate) jobs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Membarrier {
    Allowed,
    Refused,
    /// It is refused from some moment on.
    RefusedLate,
}

/// A pool. Add here what can be chosen for one, and in [`PoolPlan::builder`].
#[derive(Debug, Clone)]
pub(crate) struct PoolPlan {
    pub(crate) width: usize,
    protocol: Option<SleepProtocol>,
    policy: Option<SleepPolicy>,
    guests: Option<bool>,
    steering: Option<Steering>,
    oldest_first: bool,
    /// If the round isolates.
    waiting: Option<Waiting>,
    /// Threads that stand in for those who block.
    spares: Option<usize>,
    start: Option<Start>,
    idle_timeout: Option<Duration>,
    /// Somebody looks out for workers that stall.
    watched: bool,
    /// How long nobody must have moved, where an alarm is not meant to come.
    deadlock_after: Option<Duration>,
    /// It counts who is active, for its deadlock handler.
    census: bool,
    traced: bool,
    /// Its threads say when they come and go.
    announced: bool,
}

const EAGER: SleepPolicy = SleepPolicy {
    rounds_until_sleepy: 0,
    rounds_while_sleepy: 0,
    rounds_on_watch: 0,
    pause: Pause::Spin(1),
};
const PATIENT: SleepPolicy = SleepPolicy {
    rounds_until_sleepy: 200,
    rounds_while_sleepy: 1,
    rounds_on_watch: 150,
    pause: Pause::Spin(2),
};

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let dice = &mut Dice::new(seed);
        let pools = 1 + dice.below(3);
        let (calm, upward) = (dice.one_in(3), dice.one_in(2));
        let isolates = upward && dice.one_in(2);
        let ample = isolates && dice.one_in(2);
        // In a calm round there are no more jobs at a time than come of one action.
        let calm = calm || ample;
        let widths = &[1, 2, 2, 3, 8, MAX_WIDTH];
        Self {
            seed,
            one_cpu: dice.one_in(4),
            membarrier: dice.pick(&[
                Membarrier::Allowed,
                Membarrier::Allowed,
                Membarrier::Refused,
                Membarrier::RefusedLate,
            ]),
            storm: dice.one_in(3),
            lean: dice.one_in(2),
            upward,
            isolates,
            ample,
            global: dice.one_in(4),
            environment: environment(dice, isolates),
            pools: (0..pools).map(|_| PoolPlan::random(dice, widths).with_spares(ample)).collect(),
            outsiders: if calm { 1 } else { 1 + dice.below(6) },
            calm,
            actions: (20 + dice.below(100)) * if calm { 4 } else { 1 },
            jobs: dice.pick(if ample { &[8, 40][..] } else { &[8, 40, 100, 250] }),
        }
    }

    /// Whether all that waits in this pool is isolated.
    pub(crate) fn all_is_isolated_in(&self, pool: usize) -> bool {
        let by_default = self.environment.contains(&("DROWSE_WAITING", "isolate"));
        let chosen = self.pools[pool].waiting;
        self.isolates && chosen.map_or(by_default, |waiting| waiting == Waiting::Isolate)
    }

    /// What the dice of the jobs begin with.
    pub(crate) fn dice(&self) -> Dice {
        Dice::new(!self.seed)
    }
}

fn environment(dice: &mut Dice, isolates: bool) -> Vec<(&'static str, &'static str)> {
    let mut variables = Vec::new();
    let mut perhaps = |variable, values: &[Option<&'static str>]| {
        variables.extend(dice.pick(values).map(|value| (variable, value)));
    };
    perhaps("DROWSE_GUESTS", &[None, Some("1")]);
    perhaps("DROWSE_STEER", &[None, Some("0"), Some("1")]);
    perhaps(
        "DROWSE_SLEEP",
        &[None, Some("sleepy"), Some("counters:queue,blocks"), Some("jec:blitz")],
    );
    perhaps("DROWSE_NUM_THREADS", &[None, Some("3")]);
    perhaps("DROWSE_START", &[None, None, Some("ondemand")]);
    perhaps("DROWSE_IDLE_TIMEOUT", &[None, None, Some("1"), Some("30")]);
    if isolates {
        perhaps("DROWSE_WAITING", &[None, None, Some("isolate")]);
    }
    variables
}

impl PoolPlan {
    pub(crate) fn random(dice: &mut Dice, widths: &[usize]) -> Self {
        Self {
            width: dice.pick(widths),
            // Half of them relay: the default, and the one with the most to get wrong.
            protocol: match dice.below(4) {
                0 => None,
                1 => Some(SleepProtocol::Relay),
                _ => Some(dice.pick(&SleepProtocol::VARIANTS)),
            },
            policy: dice.pick(&[None, None, Some(EAGER), Some(PATIENT), Some(SleepPolicy::BLITZ)]),
            guests: dice.pick(&[None, Some(true), Some(false)]),
            steering: dice.pick(&[None, Some(Steering::Always), Some(Steering::Never)]),
            oldest_first: dice.one_in(8),
            waiting: dice.pick(&[None, Some(Waiting::Help), Some(Waiting::Isolate)]),
            spares: dice.pick(&[None, None, Some(0), Some(1), Some(3)]),
            start: dice.pick(&[None, Some(Start::Eager), Some(Start::OnDemand)]),
            idle_timeout: dice
                .pick(&[None, None, Some(0), Some(50), Some(1_000), Some(20_000)])
                .map(Duration::from_micros),
            watched: dice.one_in(8),
            census: dice.one_in(4),
            deadlock_after: dice.pick(&[None, Some(Duration::from_millis(20))]),
            traced: dice.one_in(8),
            announced: dice.one_in(2),
        }
    }

    /// With more spare threads than there are jobs.
    pub(crate) fn with_spares(self, ample: bool) -> Self {
        Self { spares: if ample { Some(MANY) } else { self.spares }, ..self }
    }

    /// Its threads are there from its beginning to its end.
    pub(crate) fn with_all_threads(self) -> Self {
        Self { start: None, idle_timeout: None, ..self }
    }

    /// If it has one worker, nobody else works in it.
    pub(crate) fn without_others(self) -> Self {
        Self { spares: if self.width == 1 { Some(0) } else { self.spares }, ..self }
    }

    /// Whether another thread may work in the place of one that blocks.
    pub(crate) fn lends(&self) -> bool {
        self.spares != Some(0)
    }

    pub(crate) fn has_census(&self) -> bool {
        self.census
    }

    /// A builder for it, complete but for the threads' names.
    pub(crate) fn builder(&self, world: &'static World) -> ThreadPoolBuilder {
        let heard = move |payload| world.heard(payload);
        let mut builder =
            ThreadPoolBuilder::new().num_threads(self.width).stack_size(STACK).panic_handler(heard);
        if let Some(protocol) = self.protocol {
            builder = builder.sleep_protocol(protocol);
        }
        if let Some(policy) = self.policy {
            builder = builder.sleep_policy(policy);
        }
        if let Some(guests) = self.guests {
            builder = builder.guests(guests);
        }
        if let Some(steering) = self.steering {
            builder = builder.steering(steering);
        }
        if let Some(waiting) = self.waiting.filter(|_| world.plan.isolates) {
            builder = builder.waiting(waiting);
        }
        if self.oldest_first {
            builder = builder.oldest_first();
        }
        if let Some(spares) = self.spares {
            builder = builder.max_spare_threads(spares);
        }
        if let Some(start) = self.start {
            builder = builder.start(start);
        }
        if let Some(time) = self.idle_timeout {
            builder = builder.idle_timeout(time);
        }
        if self.watched {
            builder = builder.stall_watch(Duration::from_millis(2)).stall_handler(|stall| {
                std::hint::black_box(stall.to_string());
            });
        }
        if self.census {
            // Who waits for another pool without helping may wait for long.
            let long = world.plan.upward || world.plan.isolates;
            let after = if long { Some(crate::watch::limit() * 2) } else { self.deadlock_after };
            builder = after.into_iter().fold(builder, ThreadPoolBuilder::deadlock_after);
            builder = builder.deadlock_handler(|deadlock| {
                crate::verdict::fail(&format!("an alarm, and this is no deadlock: {deadlock}"));
            });
        }
        if self.traced {
            builder = builder.trace(&drowse::Trace::new());
        }
        if self.announced {
            builder =
                builder.start_handler(|_| world.has_come()).exit_handler(|_| world.has_left());
        }
        builder
    }

    pub(crate) fn build(&self, world: &'static World, name: String) -> ThreadPool {
        let names = move |index| format!("{name}.{index}");
        match self.builder(world).thread_name(names).build() {
            Ok(pool) => pool,
            Err(error) => crate::verdict::fail(&format!("no pool: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_one_plan_and_another_seed_is_another() {
        let tell = |seed| format!("{:?}", Plan::of(seed));
        assert_eq!(tell(7), tell(7));
        assert_ne!(tell(7), tell(8).replace("seed: 8", "seed: 7"));
    }

    #[test]
    fn a_few_seeds_meet_every_kind_of_surroundings() {
        let plans: Vec<_> = (0..64).map(Plan::of).collect();
        let some = |what: fn(&Plan) -> bool| plans.iter().any(what);
        assert!(some(|plan| plan.one_cpu && plan.storm && plan.membarrier == Membarrier::Refused));
        assert!(some(|plan| !plan.one_cpu && plan.membarrier == Membarrier::RefusedLate));
        assert!(
            some(|plan| plan.isolates) && plans.iter().all(|plan| plan.upward || !plan.isolates)
        );
        assert!(plans.iter().all(|plan| !plan.ample || plan.calm && plan.jobs < MANY));
        assert!(some(|plan| plan.calm && plan.upward) && some(|plan| plan.calm && !plan.upward));
        assert!(some(|plan| plan.global && plan.upward && plan.lean));
        for width in [1, 2, 3, 8, MAX_WIDTH] {
            assert!(
                plans.iter().any(|plan| plan.pools.iter().any(|pool| pool.width == width)),
                "{width}"
            );
        }
    }
}
