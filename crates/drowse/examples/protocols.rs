//! The same ticks under each sleep protocol: who was woken, and why.
//!
//! ```sh
//! cargo run --release --example protocols
//! ```

#[macro_use]
mod say;

use drowse::{SleepProtocol, ThreadPoolBuilder};
use std::sync::mpsc::channel;
use std::time::Duration;

const TICKS: u32 = 100;

fn main() {
    say!("{TICKS} ticks of one small job each, 2 ms apart, into a pool of 8.\n");
    for protocol in SleepProtocol::ALL {
        let pool =
            ThreadPoolBuilder::new().num_threads(8).sleep_protocol(protocol).build().unwrap();
        let (done, jobs) = channel();
        for tick in 0..TICKS {
            let done = done.clone();
            pool.spawn(move || done.send(tick).unwrap());
            #[allow(clippy::disallowed_methods, reason = "jobs that come now and then")]
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(jobs.iter().take(TICKS as usize).count(), TICKS as usize);
        let metrics = pool.metrics();
        say!("{metrics}");
        let wakes = metrics.total().sleep.all_wakes();
        say!("=> {:.1} wake-ups a tick\n", wakes as f64 / f64::from(TICKS));
    }
}
