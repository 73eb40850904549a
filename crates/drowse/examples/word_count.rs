//! A scope with borrowed data: counts the words of a text, one job per paragraph, without copying
//! any of it.
//!
//! `cargo run --release --example word_count`

#[macro_use]
mod say;

use std::collections::BTreeMap;
use std::sync::Mutex;

const TEXT: &str = "\
The workers of the pool are asleep. A job comes, and one worker wakes. It looks at the job, and
splits it in two. It keeps one half and leaves the other where anyone can take it.

Another worker is woken, takes the other half, and splits it again. Soon all of the workers are
awake, and each has a half of something.

Then there is nothing left to split, and nothing left to take. One by one the workers look
everywhere, find nothing, and fall asleep. The pool costs nothing until the next job comes.";

fn main() {
    // Both live on this thread's stack; the jobs borrow them.
    let paragraphs: Vec<&str> = TEXT.split("\n\n").collect();
    let total = Mutex::new(BTreeMap::new());

    drowse::scope(|s| {
        for paragraph in &paragraphs {
            let total = &total;
            s.spawn(move |_| {
                // Count first, and hold the lock only briefly.
                let counts = count(paragraph);
                let mut total = total.lock().unwrap();
                for (word, count) in counts {
                    *total.entry(word).or_insert(0) += count;
                }
            });
        }
    }); // every job has ended here

    let total = total.into_inner().unwrap();
    assert_eq!(total, count(TEXT), "the parts add up to the whole");
    let mut by_count: Vec<_> = total.into_iter().collect();
    by_count.sort_by_key(|(_, count)| std::cmp::Reverse(*count)); // stable: words stay in order
    for (word, count) in by_count.iter().take(5) {
        say!("{count:>3}  {word}");
    }
}

fn count(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        *counts.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    counts
}
