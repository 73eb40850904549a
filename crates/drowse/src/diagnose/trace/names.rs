//! Names of the rows of a trace.

use drowse_sync::Mutex;

/// Names given to workers, each with the worker's index.
#[derive(Debug)]
pub(super) struct Names(Mutex<Vec<(usize, String)>>);

impl Names {
    /// Returns an empty list.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Records the name of a worker.
    pub(super) fn set(&self, worker: usize, name: &str) {
        let mut names = self.0.lock();
        names.retain(|(other, _)| *other != worker);
        names.push((worker, name.to_owned()));
    }

    /// Removes all names.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }

    /// Returns the name that the worker was given, or else its number.
    pub(super) fn get(&self, worker: usize) -> String {
        let names = self.0.lock();
        let name = names.iter().find(|(other, _)| *other == worker);
        name.map_or_else(|| format!("worker {worker}"), |(_, name)| name.clone())
    }
}

/// Returns the text as it is written between the quotes of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c.is_control() => json += &format!("\\u{:04x}", u32::from(c)),
            c => json.push(c),
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_without_a_name_goes_by_its_number() {
        let names = Names::new();
        assert_eq!(names.get(3), "worker 3");
        names.set(3, "dozer");
        assert_eq!(names.get(3), "dozer");
        names.clear();
        assert_eq!(names.get(3), "worker 3");
    }

    #[test]
    fn any_text_fits_into_json() {
        assert_eq!(escaped("plain ü"), "plain ü");
        assert_eq!(escaped("a \"b\" \\ c"), r#"a \"b\" \\ c"#);
        assert_eq!(escaped("line\nnext\u{7f}"), r"line\u000anext\u007f");
    }
}
