//! Eleven call sites of `join`, one of a parallel iterator.

#[path = "../sites.rs"]
mod sites;

use sites::at_each;

fn main() {
    let numbers = sites::numbers();
    let joins = at_each!(join, &numbers, [1037 1074 1111 1148 1185 1222 1259 1296 1333 1370 1407]);
    let par_iters = at_each!(par_iter, &numbers, [2037]);
    sites::finish(joins ^ par_iters);
}
