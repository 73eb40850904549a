//! The table, the findings and the page, of results that were made up.

#[path = "fixtures/mod.rs"]
mod fixtures;

use drowse_lab::report;
use drowse_lab::schema::{Figures, Outcome, Results, Span};
use std::path::PathBuf;

/// Writes the page and the results to the directory for tests, where the browser check can find
/// them.
#[test]
fn pages_are_written_for_the_browser() {
    let results = fixtures::results();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(directory.join("report.html"), report::html(&results)).unwrap();
    std::fs::write(directory.join("results.json"), serde_json::to_string(&results).unwrap())
        .unwrap();
    assert_eq!(report::read(directory.join("results.json")).unwrap(), results);
}

#[test]
fn the_table_has_every_cell_within_80_columns() {
    let results = fixtures::results();
    let table = report::table(&results);
    for workload in &results.workloads {
        assert!(
            table.lines().any(|line| line.starts_with(&format!("{}: ", workload.name))),
            "{}",
            workload.name
        );
    }
    // A row, or a name in the line of those that have none. The reasons come after all blocks.
    let (blocks, _) = table.split_once("\nNo figures:\n").unwrap();
    let rows = blocks.lines().map(|line| line.strip_prefix("  ").unwrap_or_default());
    let names = rows.flat_map(|row| row.strip_prefix("no figures: ").unwrap_or(row).split(", "));
    let names: Vec<_> = names.filter_map(|row| row.split(' ').next()).collect();
    for contender in &results.contenders {
        let named = names.iter().filter(|name| **name == contender.name).count();
        assert_eq!(named, results.workloads.len(), "{} in\n{table}", contender.name);
    }
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for reason in fixtures::REASONS {
        assert_eq!(words.matches(reason).count(), 1, "{reason} in\n{table}");
    }
    let longest = table.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 80, "{longest} columns:\n{table}");
    assert!(table.contains("! 1/3"), "{table}");
    assert!(table.lines().all(|line| line.trim_end() == line), "{table}");
}

#[test]
fn the_findings_tell_of_wins_losses_and_idleness() {
    let findings = report::findings(&fixtures::results());
    assert_eq!(findings.len(), 3);
    assert!(
        findings[0].starts_with("Largest win: fib, 4 threads, time a call: 4."),
        "{findings:?}"
    );
    assert!(findings[1].starts_with("Largest loss: cold_entry, 4 threads"), "{findings:?}");
    assert!(
        findings[2].starts_with("Idle: ") && findings[2].contains("of rayon's 0.04"),
        "{findings:?}"
    );
}

#[test]
fn findings_need_no_rayon_and_no_figures() {
    let mut results = fixtures::results();
    results.cells.retain(|cell| !cell.contender.starts_with("rayon"));
    let findings = report::findings(&results);
    assert!(
        findings.iter().any(|f| f.starts_with("Largest gain over serial code")),
        "{findings:?}"
    );
    results.cells.clear();
    assert!(report::findings(&results).is_empty());
    assert_eq!(report::table(&results), "Nothing was measured.\n");
    assert!(report::html(&results).contains("How it was measured"));
}

#[test]
fn without_a_loss_the_findings_say_so() {
    let mut results = fixtures::results();
    results.cells.retain(|cell| cell.workload != "cold_entry");
    let findings = report::findings(&results);
    assert!(
        findings[1].starts_with("No loss: drowse has none beyond noise, in ")
            && findings[1].contains("(the tables mark losses of drowse-sleepy)"),
        "{findings:?}"
    );
    results.cells.retain(|cell| cell.contender != "drowse-sleepy");
    let findings = report::findings(&results);
    assert!(findings[1].ends_with(" comparisons with rayon."), "{findings:?}");
}

#[test]
fn a_busy_machine_is_told_of_once() {
    let mut results = fixtures::results();
    for cell in &mut results.cells {
        if let Outcome::Figures(figures) = &mut cell.outcome {
            figures.noisy.clear();
        }
    }
    let busy = "The machine was busy";
    assert!(!report::html(&results).contains(busy) && !report::table(&results).contains(busy));
    let findings = report::findings(&results);
    for cell in &mut results.cells {
        if let Outcome::Figures(figures) = &mut cell.outcome {
            figures.noisy = (0..3).collect();
        }
    }
    assert_eq!(report::findings(&results), findings, "with the same words");
    let (page, table) = (report::html(&results), report::table(&results));
    assert_eq!((page.matches(busy).count(), table.matches(busy).count()), (1, 1), "{table}");
    assert!(page.contains("<b>The machine was busy:</b> ") && page.contains("processes ran"));
}

/// The results of one workload alone, all samples of which are nearly this, by contender.
fn only(workload: &str, medians: &[(&str, f64)]) -> Results {
    let mut results = fixtures::results();
    results.workloads.retain(|w| w.name == workload);
    results.cells.retain(|c| {
        c.workload == workload && medians.iter().any(|(contender, _)| c.contender == *contender)
    });
    for cell in &mut results.cells {
        let (_, median) = medians.iter().find(|(name, _)| cell.contender == *name).unwrap();
        let Outcome::Figures(figures) = &mut cell.outcome else { panic!("{cell:?}") };
        for samples in figures.samples.values_mut() {
            samples.iter_mut().enumerate().for_each(|(i, x)| *x = median * (1.0 - i as f64 / 1e4));
        }
    }
    results
}

/// A row of the terminal's table.
fn row<'t>(table: &'t str, contender: &str) -> &'t str {
    let is_it = |line: &&str| line.split_whitespace().next() == Some(contender);
    table.lines().find(is_it).unwrap_or_else(|| panic!("{contender} in {table}"))
}

/// Results of two workloads; in the second, `at_cap` gave only samples at the cap of the measure.
fn with_a_cap(at_cap: &str) -> Results {
    let mut results = only("fib", &[("drowse", 5.0), ("rayon", 10.0), ("chili", 5.0)]);
    let mut workload = results.workloads[0].clone();
    workload.name = "inside".into();
    workload.measures[0].cap = Some(1_000.0);
    let mut cells = results.cells.clone();
    for cell in &mut cells {
        cell.workload = "inside".into();
        let Outcome::Figures(figures) = &mut cell.outcome else { panic!("{cell:?}") };
        let value = if cell.contender == at_cap { 1_000.0 } else { 10.0 };
        figures.samples.values_mut().for_each(|samples| samples.fill(value));
    }
    results.workloads.push(workload);
    results.cells.append(&mut cells);
    results
}

#[test]
fn a_value_at_the_cap_has_no_ratio() {
    let results = with_a_cap("rayon");
    let (findings, table) = (report::findings(&results), report::table(&results));
    // 2 times at fib, at least 100 times inside.
    assert!(
        findings[0].starts_with("Largest win: fib, ") && findings[0].contains(" 2.00 times"),
        "{findings:?}"
    );
    assert!(!findings.iter().any(|finding| finding.contains("100 times")), "{findings:?}");
    let inside = table.split("inside: ").nth(1).unwrap();
    assert!(row(inside, "rayon").contains("  1 µs or more  "), "{table}");
    assert!(row(inside, "drowse").contains(" + ") && !inside.contains("0.01"), "{table}");
    let page = report::html(&results);
    assert!(page.contains("<b>1\u{202f}<i>µs</i></b><small>or more</small>"), "{page}");
    assert!(page.contains("<b>1 µs or more</b>") && !page.contains("0.010x"));
}

#[test]
fn a_loss_at_the_cap_is_at_least_so_large() {
    let results = with_a_cap("drowse");
    let findings = report::findings(&results);
    assert_eq!(
        findings[1],
        "Largest loss: inside, 4 threads, time a call: 1 µs or more for drowse, 10.0 ns for \
         rayon, at least 100 times worse."
    );
    // Both at the cap: nothing to tell.
    let both = with_a_cap("drowse");
    let rayon = |mut results: Results| {
        for cell in results.cells.iter_mut().filter(|c| c.workload == "inside") {
            let Outcome::Figures(figures) = &mut cell.outcome else { panic!("{cell:?}") };
            figures.samples.values_mut().for_each(|samples| samples.fill(1_000.0));
        }
        results
    };
    let findings = report::findings(&rayon(both));
    assert!(findings[1].starts_with("No loss: "), "{findings:?}");
}

#[test]
fn the_mean_leaves_out_what_is_at_the_cap() {
    let mut results = with_a_cap("rayon");
    let capped = report::findings(&results);
    assert!(!capped.iter().any(|finding| finding.starts_with("Geometric mean")), "{capped:?}");
    results.workloads[1].measures[0].cap = None;
    let exact = report::findings(&results);
    // 2 times and 100 times.
    assert_eq!(
        exact[2],
        "Geometric mean: drowse is 14.1 times better in 2 comparisons with rayon."
    );
}

#[test]
fn findings_and_marks_agree() {
    let losses: [(&str, f64, f64); 4] = [
        ("fib", 10.0, 5.0),
        ("flood", 5e6, 9e6),
        // rayon's figure is nothing: there is no ratio, but there is a mark.
        ("idle", 30.0, 0.0),
        ("flood", 0.0, 9e6),
    ];
    for (workload, ours, theirs) in losses {
        let results = only(workload, &[("drowse", ours), ("rayon", theirs)]);
        let (table, findings) = (report::table(&results), report::findings(&results));
        assert!(row(&table, "drowse").contains(" - "), "{table}");
        let loss = findings.iter().find(|finding| finding.starts_with("Largest loss: "));
        assert!(loss.is_some_and(|loss| loss.contains(workload)), "{findings:?}");
        assert!(!findings.iter().any(|finding| finding.starts_with("No loss")), "{findings:?}");
    }
    for (workload, ours, theirs) in [("fib", 5.0, 10.0), ("idle", 0.0, 30.0)] {
        let results = only(workload, &[("drowse", ours), ("rayon", theirs)]);
        let (table, findings) = (report::table(&results), report::findings(&results));
        assert!(row(&table, "drowse").contains(" + "), "{table}");
        assert!(findings[0].starts_with("Largest win: "), "{findings:?}");
        assert!(findings[1].starts_with("No loss: "), "{findings:?}");
    }
}

#[test]
fn a_contender_without_figures_has_no_column() {
    let mut results = fixtures::results();
    let columns = |results: &Results| {
        let page = report::html(results);
        let glance = page.split("id=\"glance\"").nth(1).unwrap();
        glance.split("</thead>").next().unwrap().matches("<th ").count() - 1
    };
    assert_eq!(columns(&results), results.contenders.len());
    for cell in results.cells.iter_mut().filter(|cell| cell.contender == "channel") {
        cell.outcome = Outcome::None { reason: "no reason but that it is a test".into() };
    }
    assert_eq!(columns(&results), results.contenders.len() - 1);
    assert!(report::html(&results).contains("no reason but that it is a test"));
}

#[test]
fn a_loss_by_a_lesser_measure_is_a_loss() {
    let mut results = fixtures::results();
    results.cells.retain(|cell| cell.workload == "ticks");
    results.cells.iter_mut().for_each(|cell| {
        if let ("drowse", Outcome::Figures(figures)) = (&*cell.contender, &mut cell.outcome) {
            figures.samples.get_mut("p90").unwrap().iter_mut().for_each(|sample| *sample *= 100.0);
        }
    });
    let findings = report::findings(&results);
    assert!(
        findings.iter().any(|f| f.starts_with("Largest loss: ticks, 4 threads, latency, p90")),
        "{findings:?}"
    );
}

#[test]
fn too_few_processes_are_nothing_to_judge_by() {
    let mut results = fixtures::results();
    for cell in &mut results.cells {
        if let Outcome::Figures(figures) = &mut cell.outcome {
            for samples in figures.samples.values_mut() {
                samples.truncate(10);
            }
            figures.counts.values_mut().for_each(|counts| *counts = vec![5, 5]);
            figures.cpu_percent.truncate(2);
            figures.switches.truncate(2);
        }
    }
    let findings = report::findings(&results);
    assert!(findings[0].starts_with("Nothing to judge by: 2 processes a cell"), "{findings:?}");
}

#[test]
fn the_page_has_everything() {
    let results = fixtures::results();
    let page = report::html(&results);
    for workload in &results.workloads {
        assert!(page.contains(&format!("id=\"w-{}\"", workload.name)), "{}", workload.name);
        assert!(page.contains(&workload.about), "{}", workload.about);
    }
    for contender in &results.contenders {
        assert!(page.contains(&format!("<dt>{}</dt>", contender.name)), "{}", contender.name);
        let rows = page.matches(&format!("<div class=\"who\">{}", contender.name)).count();
        assert!(rows >= results.workloads.len(), "{}: {rows} rows", contender.name);
    }
    let without =
        results.cells.iter().filter(|cell| matches!(cell.outcome, Outcome::None { .. })).count();
    assert_eq!(page.matches("<td class=\"reason\"").count(), without);
    assert_eq!(page.matches("<svg class=\"tl\"").count(), results.timelines.len());
    assert_eq!(page.matches("type=\"application/json\"").count(), results.timelines.len());
    for text in [
        "2025-06-01 12:34 UTC",
        "Example CPU @ 2.90GHz",
        "1a2b3c4d5e6f+",
        "log axis",
        "1 of 3 runs noisy",
    ] {
        assert!(page.contains(text), "{text}");
    }
    for finding in report::findings(&results) {
        let rest = finding.split_once(": ").unwrap().1.replace('\'', "&#39;");
        assert!(page.replace('\u{a0}', " ").contains(&rest), "{rest}");
    }
    assert_eq!(page, report::html(&results), "the same results make the same page");
}

#[test]
fn many_samples_of_a_time_show_their_tail() {
    let mut results = fixtures::results();
    for cell in results.cells.iter_mut().filter(|cell| cell.workload == "fib") {
        let Outcome::Figures(figures) = &mut cell.outcome else { continue };
        figures
            .samples
            .insert("time".into(), (0..200).map(|i| 10.0 + f64::from(i) / 10.0).collect());
    }
    let page = report::html(&results);
    let fib = page.split("id=\"w-fib\"").nth(1).unwrap().split("</article>").next().unwrap();
    assert!(fib.contains("</svg>p99</span>") && fib.contains("p99 29.7 ns"), "{fib}");
}

#[test]
fn traces_without_figures_make_a_page_too() {
    let mut results = fixtures::results();
    results.cells.clear();
    let page = report::html(&results);
    nested(&page);
    assert!(page.contains("id=\"timelines\"") && !page.contains("id=\"figures\""));
    assert!(!page.contains("Each contender ran"), "nothing is said about measuring");
}

#[test]
fn every_sample_that_stands_out_is_drawn() {
    let mut results = fixtures::results();
    let fib =
        results.cells.iter_mut().find(|c| c.workload == "fib" && c.contender == "drowse").unwrap();
    let Outcome::Figures(figures) = &mut fib.outcome else { panic!("fib has figures") };
    figures.samples.get_mut("time").unwrap().push(1e9);
    let page = report::html(&results);
    assert!(page.contains("cx=\"100%\""), "the outlier is at the right edge");
    assert!(page.contains("to 1.00 s"), "and in the table");
}

#[test]
fn the_page_is_well_formed_and_fetches_nothing() {
    let page = report::html(&fixtures::results());
    nested(&page);
    for part in
        ["http:", "https:", "//cdn", "@import", "url(\"", "src=", "fetch(", "XMLHttpRequest"]
    {
        assert!(!page.contains(part), "{part}");
    }
    for href in page.split("href=\"").skip(1) {
        assert!(href.starts_with('#') || href.starts_with("data:,\""), "{}", &href[..20]);
    }
    assert!(!page.contains("NaN") && !page.contains("inf%"));
}

#[test]
fn text_stays_text() {
    let mut results = fixtures::results();
    let hostile = fixtures::HOSTILE.to_string();
    results.workloads[0].about.clone_from(&hostile);
    results.workloads[0].measures[0].label.clone_from(&hostile);
    results.contenders[0].about.clone_from(&hostile);
    results.host.cpu.clone_from(&hostile);
    results.build.commit.clone_from(&hostile);
    results.plan.clone_from(&hostile);
    results.timelines[0].rows[0].clone_from(&hostile);
    results.timelines[0].title.clone_from(&hostile);
    results.timelines[0].protocol.clone_from(&hostile);
    results.timelines[0].workload.clone_from(&hostile);
    results.timelines[0].arrows[0].why.clone_from(&hostile);
    results.cells[0].outcome = Outcome::None { reason: hostile };
    let page = report::html(&results);
    assert!(!page.contains("<script>alert") && !page.contains("</script><script>"));
    nested(&page);
}

#[test]
fn odd_figures_do_not_break_the_page() {
    let mut results = fixtures::results();
    for (i, cell) in results.cells.iter_mut().enumerate() {
        let Outcome::Figures(figures) = &mut cell.outcome else { continue };
        for samples in figures.samples.values_mut() {
            match i % 6 {
                0 => samples.clear(),
                1 => samples.truncate(1),
                2 => samples.fill(f64::NAN),
                3 => samples.fill(0.0),
                4 => samples.fill(-1.0),
                _ => samples.push(f64::INFINITY),
            }
        }
    }
    results.timelines[0].length_us = f64::NAN;
    results.timelines[1].length_us = 0.0;
    results.timelines[2].spans[0].state = "of another time".into();
    results.timelines[3].spans.clear();
    results.timelines[3].rows.clear();
    results.timelines[3].arrows.clear();
    let page = report::html(&results);
    nested(&page);
    assert!(page.contains("it ran, but left no samples"));
    assert!(!report::table(&results).contains("NaN"));
}

#[test]
fn long_timelines_keep_the_page_small() {
    let mut results = fixtures::results();
    results.timelines.truncate(2);
    let spans = |count: usize| -> Vec<Span> {
        (0..count)
            .map(|i| {
                let from_us = i as f64 * 7.3;
                let state = ["active", "idle", "sleepy", "asleep"][i % 4].to_string();
                Span { row: 1 + i % 4, state, from_us, to_us: from_us + 6.9 }
            })
            .collect()
    };
    results.timelines[0].spans = spans(5_000);
    let page = report::html(&results);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(!page.contains("Drawn up to"));
    results.timelines[0].spans = spans(200_000);
    let page = report::html(&results);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("Drawn up to"), "what is left out is said");
}

/// Whether every element is closed in its turn.
fn nested(page: &str) {
    const VOID: [&str; 3] = ["meta", "link", "wbr"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a page");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or(tag);
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop(),
                Some(closed),
                "in {open:?} before {}",
                &rest[..rest.len().min(80)]
            );
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
            if name == "script" || name == "style" {
                let end = rest.find(&format!("</{name}>")).expect("it ends");
                rest = &rest[end..];
            }
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

fn error_of(text: &str) -> String {
    report::parse("some.json", text).expect_err("this is no results file").to_string()
}

#[test]
fn a_file_that_is_not_ours_is_refused_with_a_reason() {
    let text = serde_json::to_string(&fixtures::results()).unwrap();
    for cut in [0, 1, text.len() / 3, text.len() - 1] {
        let error = error_of(&text[..cut]);
        assert!(
            error.contains("some.json ends in the middle") && error.contains("measure again"),
            "{error}"
        );
    }
    assert!(error_of("<html>").contains("not JSON"));
    for foreign in
        ["{}", "[]", "3", "{\"format\": 7}", "{\"format\":\"other/1\"}", "{\"traceEvents\":[]}"]
    {
        assert!(error_of(foreign).contains("no results file of drowse-lab"), "{foreign}");
    }
    for other in ["drowse-lab/1", "drowse-lab/9"] {
        let error = error_of(&text.replacen("drowse-lab/2", other, 1));
        assert!(
            error.contains(&format!("{other:?}")) && error.contains("\"drowse-lab/2\" only"),
            "{error}"
        );
        assert!(error.contains("measure again"), "{error}");
    }
    let error = report::read("no/such/file.json").unwrap_err().to_string();
    assert!(error.starts_with("cannot read no/such/file.json: "), "{error}");
}

#[test]
fn a_file_with_parts_missing_is_refused_with_a_reason() {
    let good = fixtures::results();
    let text = serde_json::to_string(&good).unwrap();
    let error = error_of(&text.replacen("\"cells\"", "\"sells\"", 1));
    assert!(error.contains("missing field `cells`"), "{error}");
    let broken = |change: fn(&mut Results)| {
        let mut results = good.clone();
        change(&mut results);
        error_of(&serde_json::to_string(&results).unwrap())
    };
    assert!(broken(|r| r.cells[0].workload = "x".into()).contains("workload that is not listed"));
    assert!(broken(|r| r.cells[0].contender = "x".into()).contains("contender that is not listed"));
    assert!(broken(|r| r.workloads[0].measures.clear()).contains("no measures"));
    assert!(broken(|r| r.timelines[0].arrows[0].to_row = 77).contains("mentions row 77"));
    fn first(results: &mut Results) -> &mut Figures {
        let figures = results.cells.iter_mut().find_map(|cell| match &mut cell.outcome {
            Outcome::Figures(figures) => Some(figures),
            Outcome::None { .. } => None,
        });
        figures.unwrap()
    }
    assert!(broken(|r| first(r).noisy = vec![3]).contains("3 processes, but calls number 3 noisy"));
    assert!(broken(|r| first(r).counts.clear()).contains("does not say which processes"));
    let error = broken(|r| first(r).counts.get_mut("time").unwrap()[0] += 1);
    assert!(error.contains("15 samples of \"time\", but counts 16"), "{error}");
}
