//! From an outside `spawn` into a sleeping pool to the first instruction of the job, while the
//! caller is busy.

use crate::stats::quantile;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 400;
/// Long enough for every pool here to fall asleep.
const NAP: Duration = Duration::from_millis(3);

pub(crate) fn run() {
    println!(
        "outside spawn into a sleeping pool of 2, to the job's first instruction, caller busy:"
    );
    // The system places the threads; then, if it can be done here, caller and workers are pinned
    // apart.
    measure("unpinned", &|_| true);
    if pin::to(0) {
        measure("pinned", &pin::to);
    } else {
        println!("  pinned: skipped, threads cannot be pinned to two CPUs here");
    }
}

fn measure(how: &str, pin: &'static (dyn Fn(usize) -> bool + Sync)) {
    let bare = Bare::start(pin);
    let drowse = drowse::ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(move |_| assert!(pin(1)))
        .build()
        .unwrap();
    let rayon = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(move |_| assert!(pin(1)))
        .build()
        .unwrap();
    let contenders: [&dyn Fn(Arc<Stamp>); 3] =
        [&|stamp| bare.wake(stamp), &|stamp| drowse.spawn(move || stamp.set()), &|stamp| {
            rayon.spawn(move || stamp.set())
        }];
    let mut samples = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (contender, samples) in contenders.iter().zip(&mut samples) {
            #[allow(clippy::disallowed_methods, reason = "until the workers sleep")]
            thread::sleep(NAP);
            let stamp = Arc::new(Stamp::default());
            let start = now();
            contender(Arc::clone(&stamp));
            samples.push((stamp.wait() - start) as f64 / 1_000.0);
        }
    }
    bare.stop();
    let [bare, drowse, rayon] =
        samples.map(|mut samples| [0.5, 0.9, 0.99].map(|share| quantile(&mut samples, share)));
    let row = |name: &str, q: [f64; 3]| {
        let ratio = q[0] / bare[0];
        println!(
            "  {how}, {name:<12} p50 {:>8.1} us  p90 {:>8.1} us  p99 {:>8.1} us  {ratio:>6.2}x bare at p50",
            q[0], q[1], q[2]
        );
    };
    row("park/unpark", bare);
    row("drowse", drowse);
    row("rayon", rayon);
}

/// Nanoseconds since the first call.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// When something happened; 0 if it has not.
#[derive(Default)]
struct Stamp(AtomicU64);

impl Stamp {
    fn set(&self) {
        self.0.store(now(), Ordering::Release);
    }

    /// Busy, as a caller with work of its own would be.
    fn wait(&self) -> u64 {
        loop {
            match self.0.load(Ordering::Acquire) {
                0 => std::hint::spin_loop(),
                stamp => return stamp,
            }
        }
    }
}

/// The least a wake-up can cost: one parked thread.
struct Bare {
    thread: thread::JoinHandle<()>,
    post: Arc<Post>,
}

#[derive(Default)]
struct Post {
    full: AtomicBool,
    stop: AtomicBool,
    stamp: std::sync::Mutex<Option<Arc<Stamp>>>,
}

impl Bare {
    fn start(pin: &'static (dyn Fn(usize) -> bool + Sync)) -> Self {
        let post = Arc::new(Post::default());
        let thread = thread::spawn({
            let post = Arc::clone(&post);
            move || {
                assert!(pin(1));
                while !post.stop.load(Ordering::Acquire) {
                    if post.full.swap(false, Ordering::Acquire) {
                        post.stamp.lock().unwrap().take().unwrap().set();
                    }
                    thread::park();
                }
            }
        });
        Self { thread, post }
    }

    fn wake(&self, stamp: Arc<Stamp>) {
        *self.post.stamp.lock().unwrap() = Some(stamp);
        self.post.full.store(true, Ordering::Release);
        self.thread.thread().unpark();
    }

    fn stop(self) {
        self.post.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread.join().unwrap();
    }
}

#[cfg(target_os = "linux")]
mod pin {
    /// Pins the calling thread to this CPU. False if that cannot be done.
    pub(super) fn to(cpu: usize) -> bool {
        // SAFETY: an all-zero set is an empty one; the set outlives the call; 0 is the calling
        // thread.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod pin {
    pub(super) fn to(_cpu: usize) -> bool {
        false
    }
}
