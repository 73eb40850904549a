//! What must not compile, each beside a twin that does: jobs cross threads, so what they take along
//! must be able to, and must live as long as they may run.

mod bounds;

/// The halves of a `join` may run on another thread: what they capture must be `Send`.
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

/// What a half of a `join` returns may come from another thread: it must be `Send`.
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

/// The halves of a `join` may run at the same time: they must not both write one place.
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

/// One half of a `join` must not read what the other writes, either.
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

/// What a half of a `join` learns about itself is true on its own thread only.
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

/// What a broadcast learns about its worker is true on that worker only.
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

/// What `install` takes and returns crosses to a worker and back.
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

/// What a job of a scope captures must be `Send`.
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

/// The closure of a scope, and what it returns, must be `Send`; not so that of a scope in place.
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

/// A job may run after the scope's closure has returned: it must not borrow the closure's own
/// variables.
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

/// A job of an outer scope may run after an inner one has ended: it must not borrow what is between
/// the two.
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

/// Two jobs of a scope must not write one place, and the closure must not read what a job writes.
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

/// A scope must not escape: nothing can be spawned into one that has ended.
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

/// Nobody waits for a spawned job: it must not borrow.
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

/// What a spawned job captures must be `Send`.
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

/// The same goes for many at once. The iterator itself stays here, and need not be `Send`.
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

/// All workers run a broadcast's closure at once: it must be `Sync`, and what it returns `Send`.
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

/// A broadcast into a scope is run by all workers at once as well.
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

/// The threads of a pool call its handlers when they like, at once: they must be `Sync`, and borrow
/// nothing.
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

/// One thread is one worker.
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
