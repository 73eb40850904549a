//! What the `futures` crate does with futures, with ours.

#[path = "../../drowse/tests/common/mod.rs"]
mod common;

use common::watchdog;
use drowse::ThreadPoolBuilder;
use futures::channel::{mpsc, oneshot};
use futures::future::{Either, join_all, select};
use futures::stream::{FuturesOrdered, FuturesUnordered, StreamExt};
use futures::task::{Spawn, SpawnExt};
use futures::{SinkExt, executor};

#[test]
fn sets_of_handles() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let handles = || (0..200_u32).map(|i| pool.spawn_handle(move || i));
        let unordered: FuturesUnordered<_> = handles().collect();
        let sum = executor::block_on(unordered.fold(0, |sum, i| async move { sum + i.unwrap() }));
        assert_eq!(sum, 19_900);
        let ordered: FuturesOrdered<_> = handles().collect();
        let ordered: Vec<_> = drowse::block_on(ordered.map(Result::unwrap).collect());
        assert_eq!(ordered, (0..200).collect::<Vec<_>>());
        let all = pool.spawn_future(join_all(handles())).join().unwrap();
        assert_eq!(all.into_iter().map(Result::unwrap).sum::<u32>(), 19_900);
    });
}

#[test]
fn the_first_of_two() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let never = pool.spawn_future(std::future::pending::<()>());
        let soon = pool.spawn_handle(|| 42);
        match executor::block_on(select(never, soon)) {
            Either::Left(_) => unreachable!("it never ends"),
            Either::Right((result, never)) => {
                assert_eq!(result.unwrap(), 42);
                assert!(never.cancel());
            }
        }
    });
}

/// Code that knows nothing of us spawns by the trait.
#[test]
fn a_pool_is_a_spawner() {
    fn somewhere_else(spawner: &impl Spawn) -> executor::BlockingStream<mpsc::Receiver<u32>> {
        let (mut send, receive) = mpsc::channel(1);
        let all = async move {
            for i in 0..100 {
                send.send(i).await.unwrap();
            }
        };
        spawner.spawn(all).unwrap();
        executor::block_on_stream(receive)
    }
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert_eq!(somewhere_else(&pool).sum::<u32>(), 4_950);
        let handle = pool.spawn_with_handle(async { drowse::current_num_threads() }).unwrap();
        assert_eq!(executor::block_on(handle), 2);
    });
}

/// Tasks that feed one another, by channels that know nothing of us.
#[test]
fn a_pipeline() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (mut send, receive) = mpsc::channel(2);
        let (answer, is_answered) = oneshot::channel();
        let source = pool.spawn_future(async move {
            for i in 0..1_000_u64 {
                send.send(i).await.unwrap();
            }
        });
        let sink = pool.spawn_future(async move {
            let squares = receive.map(|i| drowse::spawn_handle(move || i * i)).buffered(8);
            answer.send(squares.fold(0, |sum, i| async move { sum + i.unwrap() }).await).unwrap();
        });
        assert_eq!(drowse::block_on(is_answered).unwrap(), 332_833_500);
        source.join().unwrap();
        sink.join().unwrap();
    });
}
