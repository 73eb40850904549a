//! Two tasks that wake each other.

use super::{MeasureSpec, Need, Samples, Workload, samples};
use crate::contender::Pool;
use crate::measure::Budget;
use futures_lite::future::block_on;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// One task says ping, the other says pong.
#[derive(Debug)]
pub struct PingPong;

/// So often.
const ROUNDS: usize = 1_000;

/// Whose turn it is, and who waits for it.
#[derive(Debug, Default)]
struct Table {
    turn: usize,
    waits: [Option<Waker>; 2],
}

impl Workload for PingPong {
    const NAME: &'static str = "ping_pong";
    const ABOUT: &'static str = "two tasks wake each other, a thousand times";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("turn", "time of a turn", "ns")];

    const NEEDS: &'static [Need] = &[Need::Poll];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let round = || {
            let table = Arc::new(Mutex::new(Table::default()));
            let (seconds, turns) = Budget::seconds(|| {
                let players = [0, 1].map(|me| pool.spawn_future(play(me, Arc::clone(&table))));
                block_on(async {
                    let [first, second] = players;
                    first.await + second.await
                })
            });
            assert_eq!(turns, 2 * ROUNDS);
            seconds * 1e9 / turns as f64
        };
        Ok(samples("turn", budget.rounds(round)))
    }
}

/// Takes every other turn. How many.
async fn play(me: usize, table: Arc<Mutex<Table>>) -> usize {
    let mut turns = 0;
    while turns < ROUNDS {
        poll_fn(|context| {
            let mut table = table.lock().expect("nobody panics with it");
            if table.turn % 2 != me {
                table.waits[me] = Some(context.waker().clone());
                return Poll::Pending;
            }
            table.turn += 1;
            let other = table.waits[1 - me].take();
            drop(table);
            other.into_iter().for_each(Waker::wake);
            Poll::Ready(())
        })
        .await;
        turns += 1;
    }
    turns
}
