//! One call site of each kind.

#[path = "../sites.rs"]
mod sites;

use sites::at_each;

fn main() {
    let numbers = sites::numbers();
    let joins = at_each!(join, &numbers, [1037]);
    let par_iters = at_each!(par_iter, &numbers, [2037]);
    sites::finish(joins ^ par_iters);
}
