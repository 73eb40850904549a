//! What a trace tells of a pool.

use crate::common::{pool, until, until_all_sleep, watchdog};
use drowse::{
    Reason, SleepProtocol, ThreadPool, ThreadPoolBuilder, Trace, TraceEvent, TraceRecord,
};
use std::cell::RefCell;
use std::sync::Barrier;

/// What was recorded until all workers slept, and had said so.
fn until_told_asleep(pool: &ThreadPool, trace: &Trace, before: usize) -> Vec<TraceRecord> {
    until_all_sleep(pool);
    let records = RefCell::new(Vec::<TraceRecord>::new());
    until("every worker has said that it sleeps", || {
        let mut records = records.borrow_mut();
        records.extend(trace.drain());
        let told = |what| records.iter().filter(|record| record.what == what).count();
        before + told(TraceEvent::Asleep) == pool.current_num_threads() + told(TraceEvent::Awake)
    });
    records.into_inner()
}

/// What was recorded of one job from outside, in a pool of this width in which all slept.
fn of_one_job(protocol: SleepProtocol, width: usize) -> Vec<TraceRecord> {
    let trace = Trace::new();
    let pool = ThreadPoolBuilder::new()
        .num_threads(width)
        .sleep_protocol(protocol)
        .trace(&trace)
        .build()
        .unwrap();
    until_told_asleep(&pool, &trace, 0);
    pool.install(|| ());
    until_told_asleep(&pool, &trace, width)
}

fn count(records: &[TraceRecord], what: impl Fn(TraceEvent) -> bool) -> usize {
    records.iter().filter(|record| what(record.what)).count()
}

#[test]
fn one_job_is_told_from_the_wake_up_to_the_sleep() {
    watchdog(|| {
        for protocol in [SleepProtocol::Jec, SleepProtocol::Counters(Default::default())] {
            let records = of_one_job(protocol, 4);
            let woken = records.iter().find_map(|record| match record.what {
                TraceEvent::Woke { worker, reason } => Some((record.worker, worker, reason)),
                _ => None,
            });
            let (by, worker, reason) = woken.expect("somebody was woken");
            assert_eq!((by, reason), (None, Reason::Job), "by this thread, for the job");
            let its: Vec<_> = records
                .iter()
                .filter(|record| record.worker == Some(worker))
                .map(|r| r.what)
                .collect();
            let story = [
                TraceEvent::Awake,
                TraceEvent::TookInjected,
                TraceEvent::Active,
                TraceEvent::Begin,
                TraceEvent::End,
                TraceEvent::Idle,
                TraceEvent::Sleepy,
                TraceEvent::Asleep,
            ];
            assert_eq!(its, story, "{protocol}");
            assert_eq!(count(&records, |what| what == TraceEvent::Awake), 1, "nobody else woke");
        }
    });
}

#[test]
fn the_sleepy_protocol_is_seen_to_wake_everybody() {
    watchdog(|| {
        let records = of_one_job(SleepProtocol::Sleepy, 4);
        assert_eq!(
            count(&records, |what| matches!(what, TraceEvent::Woke { reason: Reason::Job, .. })),
            4
        );
    });
}

#[test]
fn a_steal_says_from_whom() {
    watchdog(|| {
        let trace = Trace::new();
        let pool = ThreadPoolBuilder::new().num_threads(2).trace(&trace).build().unwrap();
        let both = Barrier::new(2);
        let (a, b) = pool.join(
            || {
                both.wait();
                drowse::current_thread_index().unwrap()
            },
            || {
                both.wait();
                drowse::current_thread_index().unwrap()
            },
        );
        let stolen = TraceRecord::clone(
            trace
                .drain()
                .iter()
                .find(|record| matches!(record.what, TraceEvent::Stole { .. }))
                .unwrap(),
        );
        assert_eq!((stolen.worker, stolen.what), (Some(b), TraceEvent::Stole { from: a }));
    });
}

#[test]
fn blocking_is_told() {
    watchdog(|| {
        let trace = Trace::new();
        let pool = ThreadPoolBuilder::new().num_threads(1).trace(&trace).build().unwrap();
        let blocked = pool.install(drowse::mark_blocked);
        drop(blocked);
        let records = trace.drain();
        let told = |worker, what| {
            records.iter().any(|record| record.worker == worker && record.what == what)
        };
        assert!(told(Some(0), TraceEvent::Blocked));
        assert!(told(None, TraceEvent::Unblocked { worker: 0 }), "by this thread");
    });
}

#[test]
fn a_full_trace_keeps_the_newest_and_counts_the_rest() {
    watchdog(|| {
        let trace = Trace::with_capacity(8);
        let pool = ThreadPoolBuilder::new().num_threads(1).trace(&trace).build().unwrap();
        (0..100).for_each(|_| pool.install(|| ()));
        let records = trace.drain();
        let its = records.iter().filter(|record| record.worker == Some(0)).count();
        assert_eq!(its, 8, "a hundred jobs fill it");
        assert!(trace.lost() > 100, "{} lost", trace.lost());
    });
}

#[test]
fn other_pools_leave_no_trace() {
    watchdog(|| {
        let trace = Trace::new();
        let traced = ThreadPoolBuilder::new().num_threads(2).trace(&trace).build().unwrap();
        until_told_asleep(&traced, &trace, 0);
        let other = pool(2);
        assert_eq!(other.install(|| 6 * 7), 42);
        assert_eq!(trace.drain(), []);
        // A worker of another pool is a thread outside.
        other.install(|| traced.spawn(|| ()));
        let records = until_told_asleep(&traced, &trace, 2);
        assert!(
            records.iter().any(|r| r.worker.is_none() && matches!(r.what, TraceEvent::Woke { .. }))
        );
    });
}

#[test]
fn a_trace_of_a_pool_that_could_not_be_built_can_be_used_again() {
    watchdog(|| {
        let trace = Trace::new();
        let refuse = |worker: drowse::ThreadBuilder| match worker.index() {
            0 => std::thread::Builder::new().spawn(|| worker.run()).map(drop),
            _ => Err(std::io::Error::other("no more")),
        };
        let failed =
            ThreadPoolBuilder::new().num_threads(3).trace(&trace).spawn_handler(refuse).build();
        assert!(failed.unwrap_err().to_string().contains("no more"));
        let bad_name = |_| panic!("no name");
        let failed = std::panic::catch_unwind(|| {
            ThreadPoolBuilder::new().num_threads(1).trace(&trace).thread_name(bad_name).build()
        });
        assert!(failed.is_err());

        let pool = ThreadPoolBuilder::new().num_threads(2).trace(&trace).build().unwrap();
        pool.install(|| ());
        let records = trace.drain();
        assert_eq!(count(&records, |what| what == TraceEvent::TookInjected), 1);
        assert!(records.iter().all(|record| record.worker.is_none_or(|worker| worker < 2)));
        let second = ThreadPoolBuilder::new().num_threads(1).trace(&trace).build();
        assert!(second.is_err(), "it has its pool");
    });
}

/// The names of the rows in a file for Perfetto, as they stand in it.
fn rows_in(json: &str) -> Vec<&str> {
    let row = |line: &'_ str| line.contains(r#""name":"thread_name""#);
    let name = |line| str::split_once(line, r#""args":{"name":""#)?.1.strip_suffix(r#""}}"#);
    json.lines()
        .filter(|line| row(line))
        .filter_map(|line| name(line.trim_end_matches(',')))
        .collect()
}

#[test]
fn rows_are_called_as_the_threads_are() {
    watchdog(|| {
        let trace = Trace::new();
        let builder = ThreadPoolBuilder::new().num_threads(3).trace(&trace);
        let pool = builder.thread_name(|index| format!("\"dozer\" {index}")).build().unwrap();
        let records = until_told_asleep(&pool, &trace, 0);
        let json = trace.to_chrome_json(&records);
        let mut rows = rows_in(&json);
        rows.sort_unstable();
        assert_eq!(rows, [r#"\"dozer\" 0"#, r#"\"dozer\" 1"#, r#"\"dozer\" 2"#]);
        assert_eq!(trace.worker_name(2), "\"dozer\" 2");
        pool.install(|| ());
        let json = trace.to_chrome_json(&until_told_asleep(&pool, &trace, 3));
        assert!(rows_in(&json).iter().any(|row| row.ends_with(": jobs")), "{json}");
    });
}

#[test]
fn rows_without_a_name_have_a_number() {
    watchdog(|| {
        let trace = Trace::new();
        let failed = ThreadPoolBuilder::new()
            .num_threads(1)
            .trace(&trace)
            .thread_name(|_| "dozer".to_owned());
        assert!(failed.spawn_handler(|_| Err(std::io::Error::other("no more"))).build().is_err());
        let pool = ThreadPoolBuilder::new().num_threads(2).trace(&trace).build().unwrap();
        let json = trace.to_chrome_json(&until_told_asleep(&pool, &trace, 0));
        let mut rows = rows_in(&json);
        rows.sort_unstable();
        assert_eq!(rows, ["worker 0", "worker 1"]);
    });
}
