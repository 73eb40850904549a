//! One call site of `join`, eleven of parallel iterators.

#[path = "../sites.rs"]
mod sites;

use sites::at_each;

fn main() {
    let numbers = sites::numbers();
    let joins = at_each!(join, &numbers, [1037]);
    let par_iters =
        at_each!(par_iter, &numbers, [2037 2074 2111 2148 2185 2222 2259 2296 2333 2370 2407]);
    sites::finish(joins ^ par_iters);
}
