//! One worker, no help: what a join costs over plain calls.

use crate::stats::median;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 41;
const FIB: u32 = 30;
const TREE_DEPTH: u32 = 10;
const TREE_REPEATS: u32 = 500;

pub(crate) fn run() {
    let drowse = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let tree = Node::tree(TREE_DEPTH);

    // fib(n) takes fib(n + 1) - 1 joins; a tree takes one per node.
    let fib_joins = (fib(FIB + 1) - 1) as f64;
    let tree_joins = f64::from((1 << TREE_DEPTH) - 1);
    report(
        &format!("fib({FIB})"),
        fib_joins,
        1,
        [&|| fib(black_box(FIB)), &|| rayon.install(|| fib_rayon(black_box(FIB))), &|| {
            drowse.install(|| fib_drowse(black_box(FIB)))
        }],
    );
    report(
        &format!("tree of {tree_joins} nodes"),
        tree_joins,
        TREE_REPEATS,
        [
            &|| repeat(|| black_box(&tree).sum()),
            &|| rayon.install(|| repeat(|| black_box(&tree).sum_rayon())),
            &|| drowse.install(|| repeat(|| black_box(&tree).sum_drowse())),
        ],
    );
}

fn repeat(f: impl Fn() -> u64) -> u64 {
    (0..TREE_REPEATS).map(|_| f()).sum()
}

/// Times sequential code, rayon and drowse in turn, and prints nanoseconds per join over
/// sequential.
fn report(name: &str, joins: f64, repeats: u32, contenders: [&dyn Fn() -> u64; 3]) {
    let mut samples = [const { Vec::new() }; 3];
    let expected = contenders[0]();
    for round in 0..=ROUNDS {
        for (contender, samples) in contenders.iter().zip(&mut samples) {
            let start = Instant::now();
            assert_eq!(contender(), expected);
            let nanoseconds = start.elapsed().as_nanos() as f64;
            if round > 0 {
                samples.push(nanoseconds / joins / f64::from(repeats));
            }
        }
    }
    let [sequential, rayon, drowse] = samples.map(|mut samples| median(&mut samples));
    let (rayon, drowse) = (rayon - sequential, drowse - sequential);
    println!(
        "{name}, 1 worker: sequential {sequential:.2} ns, a join over that: rayon {rayon:.2} ns, drowse {drowse:.2} ns, ratio {:.2}",
        drowse / rayon
    );
}

fn fib(n: u32) -> u64 {
    // Two calls, not a loop and a call.
    if n < 2 { n.into() } else { black_box(fib as fn(u32) -> u64)(n - 1) + fib(n - 2) }
}

fn fib_rayon(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib_rayon(n - 1), || fib_rayon(n - 2));
    a + b
}

fn fib_drowse(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = drowse::join(|| fib_drowse(n - 1), || fib_drowse(n - 2));
    a + b
}

struct Node {
    value: u64,
    children: Option<Box<(Node, Node)>>,
}

impl Node {
    fn tree(depth: u32) -> Self {
        let children =
            (depth > 1).then(|| Box::new((Self::tree(depth - 1), Self::tree(depth - 1))));
        Self { value: depth.into(), children }
    }

    fn sum(&self) -> u64 {
        let Some(children) = &self.children else { return self.value };
        self.value + children.0.sum() + children.1.sum()
    }

    fn sum_rayon(&self) -> u64 {
        let Some(children) = &self.children else { return self.value };
        let (a, b) = rayon::join(|| children.0.sum_rayon(), || children.1.sum_rayon());
        self.value + a + b
    }

    fn sum_drowse(&self) -> u64 {
        let Some(children) = &self.children else { return self.value };
        let (a, b) = drowse::join(|| children.0.sum_drowse(), || children.1.sum_drowse());
        self.value + a + b
    }
}
