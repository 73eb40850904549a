//! What a join costs, and how fast a sleeping pool wakes, beside rayon, in one interleaved run.
//!
//! `cargo bench -p drowse --bench join` runs everything; add `-- joins` or `-- wakes` for one half.
//! Figures are medians of many rounds in which the contenders take turns, so that a noisy machine
//! is noisy for all of them. Compare ratios, not nanoseconds.

mod joins;
mod stats;
mod wakes;

fn main() {
    // Cargo passes `--bench`; what is left is the choice.
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let wants = |name: &str| chosen.is_empty() || chosen.iter().any(|choice| choice == name);
    if let Some(unknown) =
        chosen.iter().find(|choice| !["joins", "wakes"].contains(&choice.as_str()))
    {
        eprintln!("unknown part {unknown:?}: choose `joins`, `wakes`, or nothing for both");
        std::process::exit(2);
    }
    if wants("joins") {
        joins::run();
    }
    if wants("wakes") {
        wakes::run();
    }
}
