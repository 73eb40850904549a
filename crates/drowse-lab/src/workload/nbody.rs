//! Bodies that pull at each other: a loop of equal, independent steps.

use super::parts::{milliseconds, numbers, pieces, size, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::Budget;

/// One step of all pairs of a thousand bodies.
#[derive(Debug)]
pub struct NBody;

const BODIES: usize = size(1_024, 64);
/// As many are moved without a fork.
const GRAIN: usize = 16;
const TIME: f64 = 0.01;
/// Keeps bodies that meet from flying off.
const SOFTENING: f64 = 1e-3;

impl Workload for NBody {
    const NAME: &'static str = "nbody";
    const ABOUT: &'static str =
        "one step of 1,024 bodies, each pulled by all: a loop by halving, 16 at a time";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("time", "time a step", "ms")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let bodies = bodies();
        let expected = step(&mut Serial, &bodies);
        warm_up(pool);
        let round = || milliseconds(&expected, || pool.run(|fork| step(fork, &bodies)));
        Ok(samples("time", budget.rounds(round)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Body {
    place: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

fn bodies() -> Vec<Body> {
    let mut numbers = numbers(BODIES * 4).map(|number| number as f64 / f64::from(u32::MAX));
    let mut next = || numbers.next().expect("there are four for each body");
    let body = |_| Body { place: [next(), next(), next()], speed: [0.0; 3], mass: next() };
    (0..BODIES).map(body).collect()
}

/// The bodies a moment later.
fn step<F: Fork>(fork: &mut F, bodies: &[Body]) -> Vec<Body> {
    let mut next = bodies.to_vec();
    pieces(fork, &mut next, 0, GRAIN, &|_, some| {
        some.iter_mut().for_each(|body| advance(body, bodies))
    });
    next
}

fn advance(body: &mut Body, all: &[Body]) {
    let mut pull = [0.0; 3];
    for other in all {
        let way: [f64; 3] = std::array::from_fn(|axis| other.place[axis] - body.place[axis]);
        let square = way.iter().map(|part| part * part).sum::<f64>() + SOFTENING;
        let strength = other.mass / (square * square.sqrt());
        pull.iter_mut().zip(way).for_each(|(pull, way)| *pull += way * strength);
    }
    let motion = body.speed.iter_mut().zip(&mut body.place);
    for ((speed, place), pull) in motion.zip(pull) {
        *speed += pull * TIME;
        *place += *speed * TIME;
    }
}
