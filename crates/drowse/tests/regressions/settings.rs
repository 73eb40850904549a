//! What the builder and the environment make of values that are wrong, unusual or without effect.

use crate::common::child::{Ended, in_child, this_test};
use crate::common::{assert_works, watchdog};
use drowse::{Start, Steering, ThreadPoolBuilder, Waiting, max_num_threads};
use std::time::Duration;

/// More threads than a system can have.
const FAR_TOO_MANY: usize = 100_000;

/// The lines on the standard error that contain all of these words.
fn lines_with<'a>(ended: &'a Ended, words: &[&str]) -> Vec<&'a str> {
    ended.stderr.lines().filter(|line| words.iter().all(|word| line.contains(word))).collect()
}

/// Demands that the child ended well, and wrote exactly one line with all of these words.
#[track_caller]
fn assert_said_once(ended: &Ended, words: &[&str]) {
    ended.assert_done();
    assert_eq!(lines_with(ended, words).len(), 1, "{words:?} in {}", ended.stderr);
}

#[track_caller]
fn assert_silent(ended: &Ended) {
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

fn build_and_use() {
    assert_works(&ThreadPoolBuilder::new().num_threads(2).build().unwrap());
}

#[test]
fn a_builder_that_asks_for_too_many_threads_gets_an_error_and_starts_none() {
    watchdog(|| {
        for asked in [max_num_threads() + 1, FAR_TOO_MANY, usize::MAX] {
            let mut started = 0;
            let builder = ThreadPoolBuilder::new().num_threads(asked).spawn_handler(|_| {
                started += 1;
                Ok(())
            });
            let error = builder.build().unwrap_err().to_string();
            assert_eq!(started, 0);
            for number in [asked, max_num_threads()] {
                assert!(error.contains(&number.to_string()), "{number} in {error}");
            }
        }
    });
}

#[test]
fn a_pool_has_no_more_spares_than_the_most_threads() {
    watchdog(|| {
        for asked in [max_num_threads() + 1, usize::MAX] {
            let pool =
                ThreadPoolBuilder::new().num_threads(2).max_spare_threads(asked).build().unwrap();
            assert_works(&pool);
            pool.install(|| drowse::blocking(|| pool.spawn_handle(|| ()).join())).unwrap();
        }
    });
}

#[test]
fn the_most_threads_leave_the_system_room_for_others() {
    // Of the 32,768 process ids that a system has by default.
    assert!((1 << 10..1 << 13).contains(&max_num_threads()));
}

#[test]
fn an_environment_that_asks_for_too_many_threads_gets_the_default_and_a_line() {
    let variables = [("DROWSE_NUM_THREADS", "100000")];
    let ended = in_child(this_test!(), &variables, || {
        assert_eq!(
            drowse::current_num_threads(),
            std::thread::available_parallelism().unwrap().get()
        );
    });
    let most = format!("up to {}", max_num_threads());
    assert_said_once(&ended, &["drowse: DROWSE_NUM_THREADS=\"100000\" is not ", &most, "; using "]);
}

#[test]
fn a_name_with_a_nul_is_an_error() {
    watchdog(|| {
        let named =
            |index| if index == 1 { "bad\0name".to_owned() } else { format!("good {index}") };
        for width in [2, 3] {
            let error =
                ThreadPoolBuilder::new().num_threads(width).thread_name(named).build().unwrap_err();
            assert!(error.to_string().contains("\"bad\\0name\""), "{error}");
        }
        assert_works(&ThreadPoolBuilder::new().num_threads(1).thread_name(named).build().unwrap());
    });
}

#[test]
fn each_word_for_off_is_off_everywhere() {
    for off in ["off", "false", "0", "no", "OFF", " False "] {
        let names = ["LOG", "GUESTS", "STEER", "DEADLOCK", "STALL", "IDLE_TIMEOUT"];
        let names = names.map(|name| format!("DROWSE_{name}"));
        let variables: Vec<_> = names.iter().map(|name| (name.as_str(), off)).collect();
        let ended = in_child(this_test!(), &variables, build_and_use);
        assert_silent(&ended);
        assert!(!ended.stderr.contains("drowse "), "it logs: {}", ended.stderr);
    }
}

#[test]
fn each_word_for_on_is_on_everywhere() {
    for on in ["on", "true", "1", "yes", "ON", " True "] {
        let names = ["LOG", "GUESTS", "STEER", "DEADLOCK", "STALL"];
        let names = names.map(|name| format!("DROWSE_{name}"));
        let variables: Vec<_> = names.iter().map(|name| (name.as_str(), on)).collect();
        let ended = in_child(this_test!(), &variables, build_and_use);
        assert_silent(&ended);
        let words = ["a pool of 2 threads", "guests", "steering", "deadlock", "stall"];
        assert_said_once(&ended, &words);
    }
}

#[test]
fn times_have_units() {
    for (value, stall, idle) in [
        ("5s", "stall watch after 5s", "idle timeout 5s"),
        ("500ms", "stall watch after 500ms", "idle timeout 500ms"),
        ("2", "stall watch after 2s", "idle timeout 2ms"),
        ("0.5", "stall watch after 500ms", "idle timeout 500µs"),
        ("1.5 s", "stall watch after 1.5s", "idle timeout 1.5s"),
    ] {
        let variables =
            [("DROWSE_STALL", value), ("DROWSE_IDLE_TIMEOUT", value), ("DROWSE_LOG", "on")];
        let ended = in_child(this_test!(), &variables, build_and_use);
        assert_silent(&ended);
        assert_said_once(&ended, &[stall, idle]);
    }
}

#[test]
fn on_demand_has_a_hyphen_or_has_not() {
    for value in ["on-demand", "ondemand", "On-Demand"] {
        let ended =
            in_child(this_test!(), &[("DROWSE_START", value), ("DROWSE_LOG", "1")], build_and_use);
        assert_silent(&ended);
        assert_said_once(&ended, &["start on demand"]);
    }
}

#[test]
fn complaints_have_one_form() {
    let names = "NUM_THREADS SLEEP STEER GUESTS WAITING DEADLOCK STALL START IDLE_TIMEOUT LOG";
    let names: Vec<_> = names.split(' ').map(|name| format!("DROWSE_{name}")).collect();
    let variables: Vec<_> = names.iter().map(|name| (name.as_str(), "What?")).collect();
    let ended = in_child(this_test!(), &variables, || {
        assert_works(&ThreadPoolBuilder::new().build().unwrap());
        build_and_use();
    });
    ended.assert_done();
    for name in &names {
        let complaints: Vec<_> = lines_with(&ended, &[&format!("{name}=")]);
        let [complaint] = complaints[..] else { panic!("{name}: {}", ended.stderr) };
        let start = format!("drowse: {name}=\"What?\" is not ");
        assert!(complaint.starts_with(&start) && complaint.contains("; using "), "{complaint}");
    }
    assert_eq!(ended.complaints().len(), names.len(), "{}", ended.stderr);
}

#[test]
fn names_that_are_not_known_are_named_with_the_nearest_one() {
    let variables = [
        ("DROWSE_LOG", "1"),
        ("DROWSE_NUMTHREADS", "4"),
        ("DROWSE_GUEST", "1"),
        ("DROWSE_COLOUR_OF_THE_SKY", "blue"),
        ("DROWSE_TEST_SOMETHING", "1"),
    ];
    let ended = in_child(this_test!(), &variables, || {
        build_and_use();
        build_and_use();
    });
    ended.assert_done();
    assert_eq!(ended.complaints().len(), 3, "{}", ended.stderr);
    assert_said_once(&ended, &["drowse: DROWSE_NUMTHREADS=\"4\" is not ", "DROWSE_NUM_THREADS"]);
    assert_said_once(&ended, &["drowse: DROWSE_GUEST=\"1\" is not ", "DROWSE_GUESTS"]);
    assert_said_once(&ended, &["drowse: DROWSE_COLOUR_OF_THE_SKY=\"blue\" is not "]);
}

#[test]
fn names_that_are_not_known_are_not_named_where_there_is_no_log() {
    assert_silent(&in_child(this_test!(), &[("DROWSE_GUEST", "1")], build_and_use));
}

#[test]
fn the_log_tells_every_setting_that_is_not_the_default() {
    let ended = in_child(this_test!(), &[("DROWSE_LOG", "1")], || {
        build_and_use();
        let builder =
            ThreadPoolBuilder::new().num_threads(3).guests(true).waiting(Waiting::Isolate);
        let builder = builder.steering(Steering::Never).start(Start::OnDemand).max_spare_threads(2);
        let builder = builder.idle_timeout(Duration::from_secs(60)).stack_size(1 << 20);
        let builder = builder.stall_watch(Duration::from_secs(7)).deadlock_handler(|_| ());
        let builder = builder.deadlock_after(Duration::from_millis(300)).panic_handler(drop);
        let builder = builder.start_handler(|_| ()).exit_handler(|_| ()).allow_fewer_threads(true);
        drop(builder.build().unwrap());
    });
    assert_silent(&ended);
    let words = "a pool of 3 threads; sleep protocol relay; guests; isolated; steering never; start on demand; \
                 at most 2 spares; idle timeout 60s; stacks of 1048576 bytes; stall watch after 7s; \
                 deadlock handler; 300ms; panic handler; start handler; exit handler; fewer threads";
    assert_said_once(&ended, &words.split("; ").collect::<Vec<_>>());
    let plain = format!("drowse {}: a pool of 2 threads, sleep protocol relay", drowse::VERSION);
    assert!(ended.stderr.lines().any(|line| line == plain), "{}", ended.stderr);
}

/// A watched program measures differently, so the log says that it is watched, and what that
/// changes.
#[test]
fn the_log_says_that_watching_for_deadlocks_changes_the_scheduling() {
    let variables = [("DROWSE_LOG", "1"), ("DROWSE_DEADLOCK", "report")];
    let ended = in_child(this_test!(), &variables, build_and_use);
    assert_said_once(&ended, &["a pool of 2 threads", "deadlock handler", "changes scheduling"]);
}

#[test]
fn settings_without_effect_are_said_once() {
    let ended = in_child(this_test!(), &[], || {
        for _ in 0..2 {
            let builder = ThreadPoolBuilder::new().num_threads(1).stall_handler(|_| ());
            assert_works(&builder.deadlock_after(Duration::from_secs(1)).build().unwrap());
        }
    });
    assert_eq!(ended.complaints().len(), 2, "{}", ended.stderr);
    assert_said_once(
        &ended,
        &["drowse: stall_handler has no effect", "stall_watch", "DROWSE_STALL"],
    );
    assert_said_once(
        &ended,
        &["drowse: deadlock_after has no effect", "deadlock_handler", "DROWSE_DEADLOCK"],
    );
}

#[test]
fn settings_with_effect_are_not_complained_about() {
    let watched = [("DROWSE_STALL", "5"), ("DROWSE_DEADLOCK", "report")];
    // The user has turned the watch off, and knows it.
    let unwatched = [("DROWSE_STALL", "0"), ("DROWSE_DEADLOCK", "off")];
    for variables in [watched, unwatched] {
        let ended = in_child(this_test!(), &variables, || {
            let builder = ThreadPoolBuilder::new().num_threads(1).stall_handler(|_| ());
            assert_works(&builder.deadlock_after(Duration::from_secs(1)).build().unwrap());
        });
        assert_silent(&ended);
    }
}
