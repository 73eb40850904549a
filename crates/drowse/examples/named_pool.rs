//! A pool of one's own, with names, handlers, and a job that panics without harm.
//!
//! `cargo run --release --example named_pool`

#[macro_use]
mod say;

use std::sync::mpsc;
use std::thread;

fn main() {
    let (exits, ended) = mpsc::channel();
    let pool = drowse::ThreadPoolBuilder::new()
        .num_threads(3)
        .thread_name(|index| format!("dozer-{index}"))
        .stack_size(1 << 20)
        .start_handler(|index| say!("{} starts as worker {index}", name()))
        .exit_handler(move |index| {
            say!("{} ends as worker {index}", name());
            exits.send(index).unwrap();
        })
        .panic_handler(|payload| {
            let message = payload.downcast_ref::<&str>().copied().unwrap_or("something");
            say!("{}: nobody waits for this job, but its panic is not lost: {message}", name());
        })
        .build()
        .expect("three small threads");

    // Everything called in `install` uses this pool.
    let (left, right) = pool.install(|| drowse::join(name, name));
    say!("the halves of a join ran on {left} and {right}");

    let names = pool.broadcast(|_| name());
    say!("a broadcast went to {}", names.join(", "));
    assert_eq!(names, ["dozer-0", "dozer-1", "dozer-2"]);

    // The panic of a job that somebody waits for reaches them.
    let caught = std::panic::catch_unwind(|| {
        pool.install(|| std::panic::resume_unwind(Box::new("bad dream")))
    });
    say!("install passed on: {}", caught.unwrap_err().downcast_ref::<&str>().unwrap());

    // The panic of one that nobody waits for goes to the handler.
    pool.spawn(|| std::panic::resume_unwind(Box::new("bad dream")));

    // The workers run what was spawned, and end.
    drop(pool);
    let mut indices: Vec<usize> = ended.iter().collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2]);
}

fn name() -> String {
    thread::current().name().unwrap_or("?").to_owned()
}
