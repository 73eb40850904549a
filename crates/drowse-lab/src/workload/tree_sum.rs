//! The sum of a tree: forks that touch memory. The order in which the nodes were allocated decides
//! more than the runtime.

use super::parts::size;
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::Budget;
use std::hint::black_box;

/// A small tree, which fits into a cache.
#[derive(Debug)]
pub struct TreeSum;

/// A large one, each parent allocated before its children.
#[derive(Debug)]
pub struct TreeSumLarge;

/// A large one, each parent allocated after its children.
#[derive(Debug)]
pub struct TreeSumLargeChildrenFirst;

/// 1,023 nodes.
const SMALL: u32 = 10;
/// How often it is summed up in a round.
const TIMES: u32 = size(1_000, 5) as u32;
/// 16.7 million nodes.
const LARGE: u32 = size(24, 12) as u32;

const MEASURES: &[MeasureSpec] = &[MeasureSpec::less("node", "time a node", "ns")];

impl Workload for TreeSum {
    const NAME: &'static str = "tree_sum";
    const ABOUT: &'static str =
        "the sum of a tree of 1,023 nodes, a join a node, a thousand times over";
    const MEASURES: &'static [MeasureSpec] = MEASURES;
    const WIDTHS: &'static [usize] = &[1];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        measure(pool, budget, &Node::parent_first(SMALL), TIMES)
    }
}

impl Workload for TreeSumLarge {
    const NAME: &'static str = "tree_sum_large";
    const ABOUT: &'static str = "the sum of a tree of 16.7 million nodes, parents allocated first";
    const MEASURES: &'static [MeasureSpec] = MEASURES;

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        measure(pool, budget, &Node::parent_first(LARGE), 1)
    }
}

impl Workload for TreeSumLargeChildrenFirst {
    const NAME: &'static str = "tree_sum_children_first";
    const ABOUT: &'static str = "the sum of a tree of 16.7 million nodes, children allocated first";
    const MEASURES: &'static [MeasureSpec] = MEASURES;

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        measure(pool, budget, &Node::children_first(LARGE), 1)
    }
}

fn measure<P: Pool>(pool: &P, budget: Budget, tree: &Node, times: u32) -> Result<Samples, String> {
    let expected = sum(&mut Serial, tree);
    let nodes = expected as f64 * f64::from(times);
    let round = || {
        let (seconds, total) = Budget::seconds(|| {
            pool.run(|fork| (0..times).map(|_| sum(fork, black_box(tree))).sum::<u64>())
        });
        assert_eq!(total, expected * u64::from(times), "the sum of the tree");
        seconds / nodes * 1e9
    };
    Ok(samples("node", budget.rounds(round)))
}

#[derive(Debug)]
struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Node {
    /// So many layers, each node worth one.
    fn parent_first(layers: u32) -> Self {
        let mut node = Self { value: 1, left: None, right: None };
        node.grow(layers);
        node
    }

    fn grow(&mut self, layers: u32) {
        if layers < 2 {
            return;
        }
        self.left = Some(Box::new(Self { value: 1, left: None, right: None }));
        self.left.as_mut().expect("just made").grow(layers - 1);
        self.right = Some(Box::new(Self { value: 1, left: None, right: None }));
        self.right.as_mut().expect("just made").grow(layers - 1);
    }

    fn children_first(layers: u32) -> Self {
        let child = || (layers > 1).then(|| Box::new(Self::children_first(layers - 1)));
        let (left, right) = (child(), child());
        Self { value: 1, left, right }
    }
}

fn sum<F: Fork>(fork: &mut F, node: &Node) -> u64 {
    let below = |child: &Option<Box<Node>>, fork: &mut F| {
        child.as_deref().map_or(0, |child| sum(fork, child))
    };
    let (left, right) = fork.join(|fork| below(&node.left, fork), |fork| below(&node.right, fork));
    node.value + left + right
}
