//! What makes a process an uncomfortable place.

use crate::dice::Dice;
use crate::plan::{Membarrier, Plan};
use crate::seccomp::{Answer, Whom, answer};
use crate::{stacks, tasks};
use std::thread;
use std::time::Duration;

/// The whole process, from now on: to be called before there is another thread.
pub(crate) fn begin(plan: &Plan) {
    if plan.one_cpu {
        stay_on_one_cpu();
    }
    if plan.membarrier == Membarrier::Refused {
        answer(libc::SYS_membarrier, Answer::Error(libc::ENOSYS), Whom::ThisThread);
    }
    if plan.storm {
        stacks::on_signal(libc::SIGUSR1, ignore);
        let mut dice = plan.dice();
        spawn("storm", move || {
            loop {
                storm(&mut dice);
            }
        });
    }
}

/// What comes in the middle of it.
pub(crate) fn later(plan: &Plan) {
    if plan.membarrier == Membarrier::RefusedLate {
        thread::park_timeout(Duration::from_micros(plan.dice().below(50_000) as u64));
        answer(libc::SYS_membarrier, Answer::Error(libc::EPERM), Whom::Everyone);
    }
}

/// A thread of ours.
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(body).expect("a thread")
}

fn stay_on_one_cpu() {
    // SAFETY: the sets are valid for both calls; all zeros is the empty set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut set), 0);
        let ours = (0..libc::CPU_SETSIZE as usize).rfind(|cpu| libc::CPU_ISSET(*cpu, &set));
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(ours.expect("we run on something"), &mut set);
        assert_eq!(libc::sched_setaffinity(0, size, &raw const set), 0);
    }
}

extern "C" fn ignore(_signal: libc::c_int) {}

/// Signals for some of the threads that there are now, and a pause.
fn storm(dice: &mut Dice) {
    let all: Vec<_> = tasks::all().iter().map(tasks::Task::id).collect();
    let own = tasks::own_id();
    for _ in 0..1 + dice.below(200) {
        let thread = dice.pick(&all);
        if Some(thread) != own {
            stacks::signal(thread, libc::SIGUSR1);
        }
    }
    thread::park_timeout(Duration::from_micros(dice.below(500) as u64));
}
