//! Every public item of rayon-core 1.13, named and called with the signature that it has there:
//! type parameters in their order, bounds no stricter, the same types in and out. This file is
//! built on rayon-core itself too.

#![allow(deprecated)]

use rayon_core::{
    BroadcastContext, Configuration, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool,
    ThreadPoolBuildError, ThreadPoolBuilder, Yield,
};
use std::any::Any;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

type Panic = Box<dyn Any + Send>;

// The functions. Those without type parameters are their own witnesses.

const MAX_NUM_THREADS: fn() -> usize = rayon_core::max_num_threads;
const CURRENT_NUM_THREADS: fn() -> usize = rayon_core::current_num_threads;
const CURRENT_THREAD_INDEX: fn() -> Option<usize> = rayon_core::current_thread_index;
const HAS_PENDING_TASKS: fn() -> Option<bool> = rayon_core::current_thread_has_pending_tasks;
const YIELD_NOW: fn() -> Option<Yield> = rayon_core::yield_now;
const YIELD_LOCAL: fn() -> Option<Yield> = rayon_core::yield_local;
const INITIALIZE: fn(Configuration) -> Result<(), Box<dyn Error>> = rayon_core::initialize;

fn join<A: FnOnce() -> RA + Send, B: FnOnce() -> RB + Send, RA: Send, RB: Send>(
    a: A,
    b: B,
) -> (RA, RB) {
    rayon_core::join::<A, B, RA, RB>(a, b)
}

fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    rayon_core::join_context::<A, B, RA, RB>(a, b)
}

fn scope<'scope, OP: FnOnce(&Scope<'scope>) -> R + Send, R: Send>(op: OP) -> R {
    rayon_core::scope::<'scope, OP, R>(op)
}

fn scope_fifo<'scope, OP: FnOnce(&ScopeFifo<'scope>) -> R + Send, R: Send>(op: OP) -> R {
    rayon_core::scope_fifo::<'scope, OP, R>(op)
}

fn in_place_scope<'scope, OP: FnOnce(&Scope<'scope>) -> R, R>(op: OP) -> R {
    rayon_core::in_place_scope::<'scope, OP, R>(op)
}

fn in_place_scope_fifo<'scope, OP: FnOnce(&ScopeFifo<'scope>) -> R, R>(op: OP) -> R {
    rayon_core::in_place_scope_fifo::<'scope, OP, R>(op)
}

fn spawn<F: FnOnce() + Send + 'static>(func: F) {
    rayon_core::spawn::<F>(func);
}

fn spawn_fifo<F: FnOnce() + Send + 'static>(func: F) {
    rayon_core::spawn_fifo::<F>(func);
}

fn broadcast<OP: Fn(BroadcastContext<'_>) -> R + Sync, R: Send>(op: OP) -> Vec<R> {
    rayon_core::broadcast::<OP, R>(op)
}

fn spawn_broadcast<OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static>(op: OP) {
    rayon_core::spawn_broadcast::<OP>(op);
}

// Scopes and contexts.

fn scope_spawn<'scope, BODY: FnOnce(&Scope<'scope>) + Send + 'scope>(
    scope: &Scope<'scope>,
    body: BODY,
) {
    Scope::spawn::<BODY>(scope, body);
}

fn scope_spawn_broadcast<'scope, BODY>(scope: &Scope<'scope>, body: BODY)
where
    BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
{
    Scope::spawn_broadcast::<BODY>(scope, body);
}

fn fifo_spawn<'scope, BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope>(
    scope: &ScopeFifo<'scope>,
    body: BODY,
) {
    ScopeFifo::spawn_fifo::<BODY>(scope, body);
}

fn fifo_spawn_broadcast<'scope, BODY>(scope: &ScopeFifo<'scope>, body: BODY)
where
    BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
{
    ScopeFifo::spawn_broadcast::<BODY>(scope, body);
}

const MIGRATED: fn(&FnContext) -> bool = FnContext::migrated;

fn place_of(context: &BroadcastContext<'_>) -> (usize, usize) {
    (context.index(), context.num_threads())
}

// The pool.

const POOL_NEW: fn(Configuration) -> Result<ThreadPool, Box<dyn Error>> = ThreadPool::new;
const POOL_NUM_THREADS: fn(&ThreadPool) -> usize = ThreadPool::current_num_threads;
const POOL_THREAD_INDEX: fn(&ThreadPool) -> Option<usize> = ThreadPool::current_thread_index;
const POOL_HAS_PENDING_TASKS: fn(&ThreadPool) -> Option<bool> =
    ThreadPool::current_thread_has_pending_tasks;
const POOL_YIELD_NOW: fn(&ThreadPool) -> Option<Yield> = ThreadPool::yield_now;
const POOL_YIELD_LOCAL: fn(&ThreadPool) -> Option<Yield> = ThreadPool::yield_local;

fn pool_install<OP: FnOnce() -> R + Send, R: Send>(pool: &ThreadPool, op: OP) -> R {
    ThreadPool::install::<OP, R>(pool, op)
}

fn pool_broadcast<OP: Fn(BroadcastContext<'_>) -> R + Sync, R: Send>(
    pool: &ThreadPool,
    op: OP,
) -> Vec<R> {
    ThreadPool::broadcast::<OP, R>(pool, op)
}

fn pool_join<A, B, RA, RB>(pool: &ThreadPool, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    ThreadPool::join::<A, B, RA, RB>(pool, a, b)
}

fn pool_scope<'scope, OP: FnOnce(&Scope<'scope>) -> R + Send, R: Send>(
    pool: &ThreadPool,
    op: OP,
) -> R {
    ThreadPool::scope::<OP, R>(pool, op)
}

fn pool_scope_fifo<'scope, OP: FnOnce(&ScopeFifo<'scope>) -> R + Send, R: Send>(
    pool: &ThreadPool,
    op: OP,
) -> R {
    ThreadPool::scope_fifo::<OP, R>(pool, op)
}

fn pool_in_place_scope<'scope, OP: FnOnce(&Scope<'scope>) -> R, R>(pool: &ThreadPool, op: OP) -> R {
    ThreadPool::in_place_scope::<OP, R>(pool, op)
}

fn pool_in_place_scope_fifo<'scope, OP: FnOnce(&ScopeFifo<'scope>) -> R, R>(
    pool: &ThreadPool,
    op: OP,
) -> R {
    ThreadPool::in_place_scope_fifo::<OP, R>(pool, op)
}

fn pool_spawn<OP: FnOnce() + Send + 'static>(pool: &ThreadPool, op: OP) {
    ThreadPool::spawn::<OP>(pool, op);
}

fn pool_spawn_fifo<OP: FnOnce() + Send + 'static>(pool: &ThreadPool, op: OP) {
    ThreadPool::spawn_fifo::<OP>(pool, op);
}

fn pool_spawn_broadcast<OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static>(
    pool: &ThreadPool,
    op: OP,
) {
    ThreadPool::spawn_broadcast::<OP>(pool, op);
}

// The builder. `S` says how threads are started; it has no name that a user could write.

const BUILDER_NEW: fn() -> ThreadPoolBuilder = ThreadPoolBuilder::new;
const BUILD: fn(ThreadPoolBuilder) -> Result<ThreadPool, ThreadPoolBuildError> =
    ThreadPoolBuilder::build;
const BUILD_GLOBAL: fn(ThreadPoolBuilder) -> Result<(), ThreadPoolBuildError> =
    ThreadPoolBuilder::build_global;

fn build_scoped<W, F, R>(
    builder: ThreadPoolBuilder,
    wrapper: W,
    with_pool: F,
) -> Result<R, ThreadPoolBuildError>
where
    W: Fn(ThreadBuilder) + Sync,
    F: FnOnce(&ThreadPool) -> R,
{
    ThreadPoolBuilder::build_scoped::<W, F, R>(builder, wrapper, with_pool)
}

/// All that there is to set, no matter who starts the threads.
fn set_all<S, N, P, H, E>(
    builder: ThreadPoolBuilder<S>,
    name: N,
    panicked: P,
    started: H,
    ended: E,
) -> ThreadPoolBuilder<S>
where
    N: FnMut(usize) -> String + 'static,
    P: Fn(Panic) + Send + Sync + 'static,
    H: Fn(usize) + Send + Sync + 'static,
    E: Fn(usize) + Send + Sync + 'static,
{
    let builder = ThreadPoolBuilder::<S>::thread_name::<N>(builder, name);
    let builder = ThreadPoolBuilder::<S>::num_threads(builder, 2);
    let builder = ThreadPoolBuilder::<S>::panic_handler::<P>(builder, panicked);
    let builder = ThreadPoolBuilder::<S>::stack_size(builder, 1 << 20);
    let builder = ThreadPoolBuilder::<S>::breadth_first(builder);
    let builder = ThreadPoolBuilder::<S>::start_handler::<H>(builder, started);
    ThreadPoolBuilder::<S>::exit_handler::<E>(builder, ended)
}

fn use_current_thread<S>(builder: ThreadPoolBuilder<S>) -> ThreadPoolBuilder<S> {
    builder.use_current_thread()
}

/// Shown whatever starts the threads.
fn shown<S>(builder: &ThreadPoolBuilder<S>) -> String {
    format!("{builder:?}")
}

fn build_with<S, F>(
    builder: ThreadPoolBuilder<S>,
    spawn: F,
) -> Result<ThreadPool, ThreadPoolBuildError>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    let builder = ThreadPoolBuilder::<S>::spawn_handler::<F>(builder, spawn);
    assert!(shown(&builder).contains("ThreadPoolBuilder"));
    builder.build()
}

const THREAD_INDEX: fn(&ThreadBuilder) -> usize = ThreadBuilder::index;
const THREAD_NAME: for<'a> fn(&'a ThreadBuilder) -> Option<&'a str> = ThreadBuilder::name;
const THREAD_STACK_SIZE: fn(&ThreadBuilder) -> Option<usize> = ThreadBuilder::stack_size;
const THREAD_RUN: fn(ThreadBuilder) = ThreadBuilder::run;

const CONFIGURATION_NEW: fn() -> Configuration = Configuration::new;
const CONFIGURATION_BUILD: fn(Configuration) -> Result<ThreadPool, Box<dyn Error + 'static>> =
    Configuration::build;

fn configure<N, P, H, E>(name: N, panicked: P, started: H, ended: E) -> Configuration
where
    N: FnMut(usize) -> String + 'static,
    P: Fn(Panic) + Send + Sync + 'static,
    H: Fn(usize) + Send + Sync + 'static,
    E: Fn(usize) + Send + Sync + 'static,
{
    let configuration = Configuration::thread_name::<N>(CONFIGURATION_NEW(), name);
    let configuration = Configuration::num_threads(configuration, 2);
    let configuration = Configuration::panic_handler::<P>(configuration, panicked);
    let configuration = Configuration::stack_size(configuration, 1 << 20);
    let configuration = Configuration::breadth_first(configuration);
    let configuration = Configuration::start_handler::<H>(configuration, started);
    Configuration::exit_handler::<E>(configuration, ended)
}

// What the types can do besides. `lacks!` does not compile for a type that has the trait: nobody
// shall come to rely on what the original does not have.

fn has_send<T: Send>() {}
fn has_sync<T: Sync>() {}
fn has_unpin<T: Unpin>() {}
fn has_debug<T: Debug>() {}
fn has_default<T: Default>() {}
fn has_error<T: Error + Display + Send + Sync + 'static>() {}
fn has_copy_and_eq<T: Copy + Clone + PartialEq + Eq>() {}

macro_rules! lacks {
    ($type:ty: $($bound:ident),+) => {$({
        trait Question<Answer> {
            fn ask() {}
        }
        struct Yes;
        impl<T> Question<()> for T {}
        impl<T: $bound> Question<Yes> for T {}
        <$type as Question<_>>::ask();
    })+};
}

#[test]
fn the_types_have_the_traits() {
    has_send::<ThreadPool>();
    has_sync::<ThreadPool>();
    has_unpin::<ThreadPool>();
    has_debug::<ThreadPool>();
    lacks!(ThreadPool: Clone, Default);

    has_default::<ThreadPoolBuilder>();
    has_debug::<ThreadPoolBuilder>();
    lacks!(ThreadPoolBuilder: Send, Sync, Clone);
    has_default::<Configuration>();
    has_debug::<Configuration>();
    lacks!(Configuration: Send, Sync, Clone);

    has_send::<ThreadBuilder>();
    has_debug::<ThreadBuilder>();
    lacks!(ThreadBuilder: Sync, Clone);
    has_error::<ThreadPoolBuildError>();
    has_debug::<ThreadPoolBuildError>();
    lacks!(ThreadPoolBuildError: Clone);

    has_send::<Scope<'static>>();
    has_sync::<Scope<'static>>();
    has_debug::<Scope<'static>>();
    has_send::<ScopeFifo<'static>>();
    has_sync::<ScopeFifo<'static>>();
    has_debug::<ScopeFifo<'static>>();

    has_debug::<FnContext>();
    lacks!(FnContext: Send, Sync, Clone);
    has_debug::<BroadcastContext<'static>>();
    lacks!(BroadcastContext<'static>: Send, Sync, Clone);

    has_send::<Yield>();
    has_sync::<Yield>();
    has_debug::<Yield>();
    has_copy_and_eq::<Yield>();
    match Yield::Idle {
        Yield::Idle | Yield::Executed => {}
    }
}

#[test]
fn the_functions_can_be_called() {
    assert!(MAX_NUM_THREADS() > 0 && CURRENT_NUM_THREADS() > 0);
    assert_eq!((CURRENT_THREAD_INDEX(), HAS_PENDING_TASKS()), (None, None));
    assert_eq!((YIELD_NOW(), YIELD_LOCAL()), (None, None));
    assert_eq!(join(|| 1, || "two"), (1, "two"));
    let (here, there) =
        join_context(|context| MIGRATED(&context), |context| format!("{context:?}"));
    // From outside, both have moved.
    assert!(here && there.contains("FnContext"));
    let borrowed = [1, 2];
    assert_eq!(scope(|_| borrowed.len()) + scope_fifo(|_| borrowed.len()), 4);
    assert_eq!(in_place_scope(|_| borrowed.len()) + in_place_scope_fifo(|_| borrowed.len()), 4);
    let threads = CURRENT_NUM_THREADS();
    assert_eq!(
        broadcast(|context| place_of(&context)),
        (0..threads).map(|i| (i, threads)).collect::<Vec<_>>()
    );

    let (done, all_done) = mpsc::channel();
    let (also_done, each_done) = (done.clone(), done.clone());
    spawn(move || done.send(()).unwrap());
    spawn_fifo(move || also_done.send(()).unwrap());
    spawn_broadcast(move |_| each_done.send(()).unwrap());
    assert_eq!(all_done.iter().count(), 2 + CURRENT_NUM_THREADS());

    let global = BUILD_GLOBAL(BUILDER_NEW()).unwrap_err();
    let initialized = INITIALIZE(CONFIGURATION_NEW()).unwrap_err();
    assert_eq!(global.to_string(), initialized.to_string());
}

#[test]
fn scopes_can_spawn() {
    let count = AtomicUsize::new(0);
    let add = || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    scope(|scope| {
        scope_spawn(scope, |scope| scope_spawn(scope, |_| add()));
        scope_spawn_broadcast(scope, |scope, _| scope_spawn(scope, |_| add()));
        assert!(format!("{scope:?}").contains("Scope"));
    });
    scope_fifo(|scope| {
        fifo_spawn(scope, |scope| fifo_spawn(scope, |_| add()));
        fifo_spawn_broadcast(scope, |scope, _| fifo_spawn(scope, |_| add()));
        assert!(format!("{scope:?}").contains("ScopeFifo"));
    });
    assert_eq!(count.into_inner(), 2 + 2 * CURRENT_NUM_THREADS());
}

#[test]
fn pools_can_be_called() {
    let set = set_all(BUILDER_NEW(), |i| format!("t{i}"), drop, |_| {}, |_| {});
    let pool = &BUILD(set).unwrap();
    assert_eq!(POOL_NUM_THREADS(pool), 2);
    assert_eq!((POOL_THREAD_INDEX(pool), POOL_HAS_PENDING_TASKS(pool)), (None, None));
    assert_eq!((POOL_YIELD_NOW(pool), POOL_YIELD_LOCAL(pool)), (None, None));
    assert!(pool_install(pool, || POOL_THREAD_INDEX(pool)).is_some());
    assert_eq!(pool_broadcast(pool, |context| context.index()), [0, 1]);
    assert_eq!(pool_join(pool, || 1, || 2), (1, 2));
    assert_eq!(pool_scope(pool, |_| 1) + pool_scope_fifo(pool, |_| 2), 3);
    assert_eq!(pool_in_place_scope(pool, |_| 1) + pool_in_place_scope_fifo(pool, |_| 2), 3);

    let (done, all_done) = mpsc::channel();
    let (also_done, each_done) = (done.clone(), done.clone());
    pool_spawn(pool, move || done.send(()).unwrap());
    pool_spawn_fifo(pool, move || also_done.send(()).unwrap());
    pool_spawn_broadcast(pool, move |_| each_done.send(()).unwrap());
    assert_eq!(all_done.iter().count(), 4);
    assert!(format!("{pool:?}").contains("ThreadPool"));
}

#[test]
fn pools_can_be_built_in_every_way() {
    let start = |thread: ThreadBuilder| {
        assert_eq!(THREAD_NAME(&thread), Some(format!("t{}", THREAD_INDEX(&thread)).as_str()));
        assert_eq!(THREAD_STACK_SIZE(&thread), Some(1 << 20));
        assert!(format!("{thread:?}").contains("ThreadBuilder"));
        std::thread::Builder::new().spawn(|| THREAD_RUN(thread)).map(drop)
    };
    let set = set_all(ThreadPoolBuilder::default(), |i| format!("t{i}"), drop, |_| {}, |_| {});
    assert_eq!(build_with(set, start).unwrap().current_num_threads(), 2);

    let scoped =
        build_scoped(BUILDER_NEW().num_threads(3), |thread| thread.run(), POOL_NUM_THREADS);
    assert_eq!(scoped.unwrap(), 3);

    let configure = || configure(|i| format!("t{i}"), drop, |_| {}, |_| {});
    assert!(!format!("{:?}", configure()).is_empty());
    assert_eq!(POOL_NEW(configure()).unwrap().current_num_threads(), 2);
    assert_eq!(CONFIGURATION_BUILD(configure()).unwrap().current_num_threads(), 2);

    let on_this_thread = || {
        let pool = use_current_thread(BUILDER_NEW().num_threads(1)).build().unwrap();
        POOL_THREAD_INDEX(&pool)
    };
    assert_eq!(std::thread::spawn(on_this_thread).join().unwrap(), Some(0));
}
