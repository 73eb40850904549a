//! A process that may use a part of the machine only: a pool is no wider than that, and one that is
//! all the same does what it is for.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::cpus::{mask, set_mask};
use crate::common::{assert_works, mutual_wait, until_all_sleep};
use drowse::{SleepProtocol, ThreadPoolBuilder, mark_blocked};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fs, io, process};

/// Pools as wide as they are by default, and far wider: all who must run do get to run, all who
/// have nothing to do fall asleep, and nobody takes one who has to wait for one who is stuck.
fn use_pools() {
    assert_eq!(drowse::current_num_threads(), 1);
    for protocol in SleepProtocol::ALL {
        for width in [1, 2, 16] {
            let alarms = Arc::new(AtomicUsize::new(0));
            let builder = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol);
            let pool = builder.deadlock_after(Duration::from_millis(1)).deadlock_handler({
                let alarms = Arc::clone(&alarms);
                move |_| _ = alarms.fetch_add(1, Ordering::Relaxed)
            });
            let pool = pool.build().unwrap();
            assert_works(&pool);
            for _ in 0..if width > 1 { 50 } else { 0 } {
                mutual_wait(&pool);
                let (send, receive) = mpsc::channel();
                pool.join(
                    move || {
                        let mark = mark_blocked();
                        receive.recv().unwrap();
                        drop(mark);
                    },
                    move || send.send(()).unwrap(),
                );
            }
            until_all_sleep(&pool);
            assert_works(&pool);
            assert_eq!(alarms.load(Ordering::Relaxed), 0);
        }
    }
}

#[test]
fn to_one_processor() {
    let ended = in_child(this_test!(), &[], || {
        let first = mask().into_iter().take(1).collect();
        set_mask(&first);
        use_pools();
        assert_eq!(mask(), first);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

/// A group of processes that get half a processor's time together.
struct HalfACpu(PathBuf);

impl HalfACpu {
    /// Whoever may not make one, or has no such thing, gets an error.
    fn new() -> io::Result<Self> {
        let name = format!("drowse-test-{}", process::id());
        let first = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let second = Path::new("/sys/fs/cgroup").join(&name);
        if fs::create_dir(&first).is_ok() {
            let group = Self(first);
            fs::write(group.0.join("cpu.cfs_period_us"), "20000")?;
            return fs::write(group.0.join("cpu.cfs_quota_us"), "10000").map(|()| group);
        }
        fs::create_dir(&second)?;
        let group = Self(second);
        fs::write(group.0.join("cpu.max"), "10000 20000").map(|()| group)
    }

    fn enter(&self) {
        fs::write(self.0.join("cgroup.procs"), process::id().to_string())
            .expect("who made it may enter");
    }

    /// Back to where everybody is: one that somebody is in cannot be removed.
    fn leave(self) {
        let outside = self.0.parent().expect("it is somewhere").join("cgroup.procs");
        fs::write(outside, process::id().to_string()).expect("who came from there may go back");
    }
}

impl Drop for HalfACpu {
    fn drop(&mut self) {
        // Not to be had back: it is empty, and goes with the machine at the latest.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn to_half_a_processor() {
    let ended = in_child(this_test!(), &[], || match HalfACpu::new() {
        Ok(half) => {
            half.enter();
            use_pools();
            half.leave();
        }
        Err(error) => println!("no group of half a processor can be made here: {error}"),
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}
