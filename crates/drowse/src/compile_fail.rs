//! Code that must not compile, each example beside a twin that compiles. Jobs cross threads, so all
//! that they capture must be able to do that too, and must live as long as the jobs may run.

mod bounds;

/// Captures: the halves of a `join` may run on another thread, so what they capture must be `Send`.
///
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(1);
/// drowse::join(|| 0, || *shared);
/// ```
///
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(1);
/// drowse::join(|| *shared, || 0);
/// ```
///
/// ```
/// let shared = std::sync::Arc::new(1);
/// assert_eq!(drowse::join(|| *shared, || *shared), (1, 1));
/// ```
mod join_captures {}

/// Results: a half of a `join` may run on another thread, so its result must be `Send`.
///
/// ```compile_fail,E0277
/// drowse::join(|| 0, || std::rc::Rc::new(1));
/// ```
///
/// ```compile_fail,E0277
/// drowse::join(|| std::rc::Rc::new(1), || 0);
/// ```
///
/// ```
/// let (_, one) = drowse::join(|| 0, || std::sync::Arc::new(1));
/// assert_eq!(*one, 1);
/// ```
mod join_results {}

/// Races: the halves of a `join` may run at the same time, so they must not both write one place.
///
/// ```compile_fail,E0499
/// let mut numbers = vec![1, 2];
/// drowse::join(|| numbers.push(3), || numbers.push(4));
/// ```
///
/// ```
/// let mut numbers = vec![1, 2];
/// let (one, two) = numbers.split_at_mut(1);
/// drowse::join(|| one[0] = 3, || two[0] = 4);
/// assert_eq!(numbers, [3, 4]);
/// ```
mod join_races {}

/// Races: one half of a `join` must not read what the other half writes.
///
/// ```compile_fail,E0502
/// let mut numbers = vec![1, 2];
/// drowse::join(|| numbers.len(), || numbers.push(3));
/// ```
///
/// ```
/// let numbers = vec![1, 2];
/// assert_eq!(drowse::join(|| numbers.len(), || numbers[0]), (2, 1));
/// ```
mod join_reads_and_writes {}

/// Contexts: the context of a half of a `join` is valid on its own thread only.
///
/// ```compile_fail,E0277
/// drowse::join_context(|context| drowse::join(|| context.migrated(), || ()), |_| ());
/// ```
///
/// ```
/// drowse::join_context(
///     |context| {
///         let migrated = context.migrated();
///         drowse::join(|| migrated, || ())
///     },
///     |_| (),
/// );
/// ```
mod contexts_of_joins {}

/// Contexts: the context of a broadcast is valid on its own worker only.
///
/// ```compile_fail,E0277
/// drowse::broadcast(|context| {
///     drowse::scope(|s| s.spawn(|_| println!("{}", context.index())));
/// });
/// ```
///
/// ```
/// drowse::broadcast(|context| {
///     let index = context.index();
///     drowse::scope(|s| s.spawn(|_| println!("{index}")));
/// });
/// ```
mod contexts_of_broadcasts {}

/// Captures and results of `install` cross to a worker and back.
///
/// ```compile_fail,E0277
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let mine = std::rc::Rc::new(1);
/// pool.install(|| *mine);
/// ```
///
/// ```compile_fail,E0277
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| std::rc::Rc::new(1));
/// ```
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let mine = std::sync::Arc::new(1);
/// assert_eq!(*pool.install(|| std::sync::Arc::clone(&mine)), 1);
/// ```
mod installs {}

/// Captures of a scope's jobs must be `Send`.
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::in_place_scope(|s| s.spawn(|_| println!("{mine}")));
/// ```
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::in_place_scope_fifo(|s| s.spawn_fifo(|_| println!("{mine}")));
/// ```
///
/// ```
/// let mine = std::sync::Arc::new(1);
/// drowse::in_place_scope(|s| s.spawn(|_| println!("{mine}")));
/// drowse::in_place_scope_fifo(|s| s.spawn_fifo(|_| println!("{mine}")));
/// ```
mod scope_captures {}

/// Closures of scopes, and their results, must be `Send`; those of scopes in place need not.
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::scope(|_| println!("{mine}"));
/// ```
///
/// ```compile_fail,E0277
/// drowse::scope_fifo(|_| std::rc::Rc::new(1));
/// ```
///
/// ```
/// let mine = std::rc::Rc::new(1);
/// let same = drowse::in_place_scope(|_| std::rc::Rc::clone(&mine));
/// assert_eq!(mine, same);
/// ```
mod scope_closures {}

/// Borrows: a job may outlive the scope's closure, so it must not borrow the closure's variables.
///
/// ```compile_fail,E0373
/// drowse::scope(|s| {
///     let local = 1;
///     s.spawn(|_| println!("{local}"));
/// });
/// ```
///
/// ```compile_fail,E0597
/// drowse::scope_fifo(|s| {
///     let local = 1;
///     let borrowed = &local;
///     s.spawn_fifo(move |_| println!("{borrowed}"));
/// });
/// ```
///
/// ```
/// let outlives = 1;
/// drowse::scope(|s| {
///     let local = 1;
///     s.spawn(|_| println!("{outlives}"));
///     s.spawn(move |_| println!("{local}")); // takes it along
/// });
/// ```
mod scope_borrows {}

/// Borrows: a job of an outer scope may outlive an inner scope, so it must not borrow from between.
///
/// ```compile_fail,E0597
/// drowse::scope(|outer| {
///     let between = 1;
///     drowse::scope(|_inner| outer.spawn(|_| println!("{between}")));
/// });
/// ```
///
/// ```
/// drowse::scope(|_outer| {
///     let between = 1;
///     drowse::scope(|inner| inner.spawn(|_| println!("{between}")));
/// });
/// ```
mod scopes_within_scopes {}

/// Races: jobs of a scope must not write one place, and the closure must not read what they write.
///
/// ```compile_fail,E0499
/// let mut count = 0;
/// drowse::scope(|s| {
///     s.spawn(|_| count += 1);
///     s.spawn(|_| count += 1);
/// });
/// ```
///
/// ```compile_fail,E0502
/// let mut numbers = vec![1];
/// drowse::scope(|s| {
///     s.spawn(|_| numbers.push(2));
///     println!("{numbers:?}");
/// });
/// ```
///
/// ```
/// let mut numbers = vec![1];
/// drowse::scope(|s| s.spawn(|_| numbers.push(2)));
/// println!("{numbers:?}"); // the scope is over, and with it the job
/// ```
mod scope_races {}

/// Escapes: a scope must not escape, so that no job can be spawned into a scope that has ended.
///
/// ```compile_fail,E0521
/// let mut escaped = None;
/// drowse::in_place_scope(|s| escaped = Some(s));
/// escaped.unwrap().spawn(|_| ());
/// ```
///
/// ```
/// drowse::in_place_scope(|s| {
///     let kept = Some(s);
///     kept.unwrap().spawn(|_| ());
/// });
/// ```
mod scope_escapes {}

/// Borrows: no thread waits for a spawned job, so it must not borrow.
///
/// ```compile_fail,E0373
/// let local = 1;
/// drowse::spawn(|| println!("{local}"));
/// ```
///
/// ```compile_fail,E0597
/// let local = 1;
/// let borrowed = &local;
/// drowse::spawn_fifo(move || println!("{borrowed}"));
/// ```
///
/// ```compile_fail,E0373
/// let local = 1;
/// drowse::spawn_broadcast(|_| println!("{local}"));
/// ```
///
/// ```
/// let local = 1;
/// drowse::spawn(move || println!("{local}"));
/// drowse::spawn_fifo(move || println!("{local}"));
/// drowse::spawn_broadcast(move |_| println!("{local}"));
/// ```
mod spawn_borrows {}

/// Captures of spawned jobs must be `Send`.
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::spawn(move || println!("{mine}"));
/// ```
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::spawn_fifo(move || println!("{mine}"));
/// ```
///
/// ```
/// let mine = std::sync::Arc::new(1);
/// drowse::spawn(move || println!("{mine}"));
/// ```
mod spawn_captures {}

/// Jobs of `spawn_all` are restricted like other spawned jobs. The iterator itself stays on the
/// calling thread, and need not be `Send`.
///
/// ```compile_fail,E0373
/// let local = 3;
/// drowse::spawn_all((0..2).map(|_| || println!("{local}")));
/// ```
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::spawn_all((0..2).map(|_| { let mine = mine.clone(); move || println!("{mine}") }));
/// ```
///
/// ```compile_fail,E0373
/// drowse::scope(|s| {
///     let local = 3;
///     s.spawn_all((0..2).map(|_| |_: &drowse::Scope<'_>| println!("{local}")));
/// });
/// ```
///
/// ```
/// let (outlives, mine) = (3, std::rc::Rc::new(1));
/// drowse::spawn_all((0..2).map(|i| { let n = i + *mine; move || println!("{n}") }));
/// drowse::in_place_scope(|s| {
///     s.spawn_all((0..2).map(|_| |_: &drowse::Scope<'_>| println!("{outlives}")));
/// });
/// ```
mod spawn_all_jobs {}

/// Captures: all workers run a broadcast's closure at once: it must be `Sync`, its result `Send`.
///
/// ```compile_fail,E0277
/// let count = std::cell::Cell::new(0);
/// drowse::broadcast(|_| count.set(count.get() + 1));
/// ```
///
/// ```compile_fail,E0277
/// drowse::broadcast(|_| std::rc::Rc::new(1));
/// ```
///
/// ```compile_fail,E0277
/// let count = std::cell::Cell::new(0);
/// drowse::spawn_broadcast(move |_| count.set(count.get() + 1));
/// ```
///
/// ```compile_fail,E0594
/// let mut count = 0;
/// drowse::broadcast(|_| count += 1);
/// ```
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let count = AtomicUsize::new(0);
/// let before = drowse::broadcast(|_| count.fetch_add(1, Ordering::Relaxed));
/// assert_eq!(before.len(), count.into_inner());
/// ```
mod broadcast_captures {}

/// Captures: all workers run the closure of a broadcast into a scope at once, too.
///
/// ```compile_fail,E0277
/// let count = std::cell::Cell::new(0);
/// drowse::in_place_scope(|s| s.spawn_broadcast(|_, _| count.set(1)));
/// ```
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let count = AtomicUsize::new(0);
/// drowse::in_place_scope(|s| s.spawn_broadcast(|_, _| count.store(1, Ordering::Relaxed)));
/// assert_eq!(count.into_inner(), 1);
/// ```
mod scope_broadcast_captures {}

/// Handlers run on all threads of a pool, also at once: they must be `Sync`, and borrow nothing.
///
/// ```compile_fail,E0277
/// let count = std::cell::Cell::new(0);
/// drowse::ThreadPoolBuilder::new().start_handler(move |_| count.set(count.get() + 1));
/// ```
///
/// ```compile_fail,E0373
/// let local = 1;
/// let builder = drowse::ThreadPoolBuilder::new().exit_handler(|_| println!("{local}"));
/// ```
///
/// ```
/// let local = 1;
/// let builder = drowse::ThreadPoolBuilder::new().exit_handler(move |_| println!("{local}"));
/// builder.build().unwrap();
/// ```
mod handlers {}

/// Workers: a `ThreadBuilder` starts one worker, on one thread.
///
/// ```compile_fail,E0382
/// drowse::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|worker| {
///     std::thread::spawn(|| worker.run());
///     std::thread::spawn(|| worker.run());
///     Ok(())
/// });
/// ```
///
/// ```
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|worker| {
///     std::thread::spawn(|| worker.run());
///     Ok(())
/// });
/// builder.build().unwrap();
/// ```
mod workers {}
