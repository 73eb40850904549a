//! What only drowse has, reached through rayon-core's names.

mod common;

use common::{in_child, watchdog};
use rayon_core::drowse;
use rayon_core::{ThreadPool, ThreadPoolBuilder};

#[test]
fn a_pool_shows_its_inside() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let inside: &drowse::ThreadPool = pool.as_ref();
        assert_eq!(inside.current_num_threads(), 2);
        assert!(!inside.metrics().to_string().is_empty());
        let (index, by_the_other_name) =
            pool.install(|| (inside.current_thread_index(), rayon_core::current_thread_index()));
        assert!(index.is_some());
        assert_eq!(index, by_the_other_name);
    });
}

#[test]
fn a_pool_of_drowses_becomes_one_of_rayons() {
    watchdog(|| {
        let inside = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let pool = ThreadPool::from(inside);
        assert_eq!(pool.current_num_threads(), 3);
        assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
        assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
    });
}

#[test]
fn the_global_pool_is_the_same_by_either_name() {
    in_child("the_global_pool_is_the_same_by_either_name", &[], || {
        drowse::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
        assert_eq!(rayon_core::current_num_threads(), 3);
        let error = ThreadPoolBuilder::new().build_global().unwrap_err();
        assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
    });
}

#[test]
fn drowses_own_variable_comes_before_rayons() {
    let variables =
        [("DROWSE_NUM_THREADS", "3"), ("RAYON_NUM_THREADS", "5"), ("RAYON_RS_NUM_CPUS", "7")];
    in_child("drowses_own_variable_comes_before_rayons", &variables, || {
        assert_eq!(ThreadPoolBuilder::new().build().unwrap().current_num_threads(), 3);
        assert_eq!(rayon_core::current_num_threads(), 3);
    });
}

#[test]
fn zero_in_drowses_variable_asks_for_the_default() {
    // More than anybody's machine has.
    let variables = [("DROWSE_NUM_THREADS", "0"), ("RAYON_NUM_THREADS", "3000")];
    in_child("zero_in_drowses_variable_asks_for_the_default", &variables, || {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        assert_eq!(rayon_core::current_num_threads(), cores);
    });
}

#[test]
fn the_environment_chooses_the_protocol_and_the_log_says_so() {
    let name = "the_environment_chooses_the_protocol_and_the_log_says_so";
    let variables = [("DROWSE_SLEEP", "sleepy"), ("DROWSE_LOG", "1"), ("RAYON_NUM_THREADS", "2")];
    let said = in_child(name, &variables, || assert_eq!(rayon_core::current_num_threads(), 2));
    let line = format!("drowse {}: a pool of 2 threads, sleep protocol sleepy", drowse::VERSION);
    assert!(said.lines().any(|said| said == line), "{said}");
}

#[test]
fn a_protocol_may_be_written_in_capitals() {
    let variables = [("DROWSE_SLEEP", "SLEEPY"), ("DROWSE_LOG", "1")];
    let said = in_child("a_protocol_may_be_written_in_capitals", &variables, || {
        rayon_core::current_num_threads();
    });
    assert!(said.lines().any(|said| said.ends_with("sleep protocol sleepy")), "{said}");
}

#[test]
fn empty_variables_count_as_not_set() {
    let empty = ["DROWSE_NUM_THREADS", "DROWSE_SLEEP", "DROWSE_LOG"].map(|name| (name, ""));
    let variables = [empty.as_slice(), &[("RAYON_NUM_THREADS", "3")]].concat();
    let said = in_child("empty_variables_count_as_not_set", &variables, || {
        assert_eq!(rayon_core::current_num_threads(), 3);
    });
    assert!(!said.contains("drowse"), "{said}");
}

#[test]
fn nothing_is_said_unasked() {
    let name = "nothing_is_said_unasked";
    let said = in_child(name, &[("RAYON_NUM_THREADS", "many")], || {
        assert!(rayon_core::current_num_threads() > 0)
    });
    assert!(!said.contains("drowse"), "{said}");
}

#[test]
fn threads_have_names_if_they_are_chosen_and_not_otherwise() {
    fn names(pool: &ThreadPool) -> Vec<Option<String>> {
        pool.broadcast(|_| std::thread::current().name().map(str::to_owned))
    }
    watchdog(|| {
        assert_eq!(names(&ThreadPoolBuilder::new().num_threads(2).build().unwrap()), [None, None]);
        let builder =
            ThreadPoolBuilder::new().num_threads(2).thread_name(|index| format!("dozer {index}"));
        assert_eq!(
            names(&builder.build().unwrap()),
            [0, 1].map(|index| Some(format!("dozer {index}")))
        );
    });
}

#[test]
fn a_variable_that_asks_for_too_many_threads_is_named_and_not_followed() {
    let name = "a_variable_that_asks_for_too_many_threads_is_named_and_not_followed";
    for variable in ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"] {
        let said = in_child(name, &[(variable, "100000")], || {
            let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
            assert_eq!(rayon_core::current_num_threads(), cores);
        });
        let line =
            format!("drowse: {variable}=\"100000\" is not a number of threads up to 4096; using ");
        assert_eq!(said.lines().filter(|said| said.starts_with(&line)).count(), 1, "{said}");
    }
}
