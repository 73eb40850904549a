//! What the environment says.

use super::max_num_threads;
use drowse_sync::{OnceLock, core_count};
use std::env;

/// How many threads a pool has that did not say.
pub(super) fn default_num_threads() -> usize {
    static ANSWER: OnceLock<usize> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let value = env::var_os("DROWSE_NUM_THREADS");
        let (threads, complaint) =
            threads_from(value.as_deref().map(|value| value.to_string_lossy()), core_count());
        if let Some(complaint) = complaint {
            eprintln!("drowse: {complaint}");
        }
        threads
    })
}

/// The number of threads for this value of the variable, and what there is to complain about it.
fn threads_from(value: Option<impl AsRef<str>>, cores: usize) -> (usize, Option<String>) {
    let Some(value) = value else { return (cores, None) };
    match value.as_ref().trim().parse::<usize>() {
        // Zero means: as many as there are cores.
        Ok(0) => (cores, None),
        Ok(threads) if threads <= max_num_threads() => (threads, None),
        _ => {
            let complaint = format!(
                "DROWSE_NUM_THREADS={:?} is not a number of threads up to {}; using {cores}, what the process may run at once",
                value.as_ref(),
                max_num_threads()
            );
            (cores, Some(complaint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::threads_from;

    #[test]
    fn takes_a_number_zero_or_nothing() {
        assert_eq!(threads_from(Some("7"), 4), (7, None));
        assert_eq!(threads_from(Some(" 7 "), 4), (7, None));
        assert_eq!(threads_from(Some("0"), 4), (4, None));
        assert_eq!(threads_from(None::<&str>, 4), (4, None));
    }

    #[test]
    fn complains_about_anything_else_and_says_what_it_uses() {
        for bad in ["", "many", "-1", "3.5", "100000", "99999999999999999999999"] {
            let (threads, complaint) = threads_from(Some(bad), 4);
            assert_eq!(threads, 4);
            let complaint = complaint.expect(bad);
            assert!(complaint.contains("DROWSE_NUM_THREADS") && complaint.contains("using 4"), "{complaint}");
        }
    }
}
