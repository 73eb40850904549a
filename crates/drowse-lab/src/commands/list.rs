//! `list`: what there is.

use super::{End, Misuse};
use crate::cli::ListArgs;
use crate::contender;
use crate::runner::external;
use crate::say::{say, say_json};
use crate::workload;
use drowse::SleepProtocol;
use serde_json::json;
use std::fmt::Write as _;

pub(super) fn list(args: &ListArgs) -> Result<End, Misuse> {
    if args.json {
        say_json(&as_json())?
    } else {
        say(as_text().trim_end())
    }
    Ok(End::Well)
}

fn as_json() -> serde_json::Value {
    let workload = |spec: &workload::Spec| {
        let measures: Vec<crate::schema::Measure> = spec.measures.iter().map(Into::into).collect();
        json!({"name": spec.name, "about": spec.about, "measures": measures, "widths": spec.widths})
    };
    let here = contender::ALL
        .iter()
        .map(|spec| json!({"name": spec.name, "about": (spec.about)(), "built": true}));
    let external = external::ALL.iter().map(|external| {
        json!({"name": external.name, "about": external.about, "built": external.program().is_ok()})
    });
    let absent = contender::absent()
        .iter()
        .map(|absent| json!({"name": absent.name, "about": absent.about, "built": false}));
    json!({
        "workloads": workload::ALL.iter().map(workload).collect::<Vec<_>>(),
        "contenders": here.chain(absent).chain(external).collect::<Vec<_>>(),
        "protocols": SleepProtocol::ALL.map(SleepProtocol::name),
    })
}

fn as_text() -> String {
    let longest =
        |names: &mut dyn Iterator<Item = &'static str>| names.map(str::len).max().unwrap_or(0);
    let mut text = String::from("Workloads:\n");
    let width = longest(&mut workload::ALL.iter().map(|spec| spec.name));
    // Writing to a string cannot fail.
    for spec in workload::ALL {
        let _ = writeln!(text, "  {:width$}  {}", spec.name, spec.about);
        for measure in spec.measures {
            let unit = match measure.unit {
                "" => "a number",
                "us" => "µs",
                unit => unit,
            };
            let better = if measure.less_is_better { "less" } else { "more" };
            let _ =
                writeln!(text, "  {:width$}    {} ({unit}; {better} is better)", "", measure.label);
        }
    }
    text.push_str("\nContenders:\n");
    let width = longest(
        &mut contender::ALL
            .iter()
            .map(|spec| spec.name)
            .chain(contender::absent().iter().map(|absent| absent.name))
            .chain(external::ALL.iter().map(|e| e.name)),
    );
    for spec in contender::ALL {
        let _ = writeln!(text, "  {:width$}  {}", spec.name, (spec.about)());
    }
    for absent in contender::absent() {
        let _ = writeln!(text, "  {:width$}  {}", absent.name, absent.about);
        let _ = writeln!(text, "  {:width$}    {}", "", contender::NOT_BUILT);
    }
    for external in external::ALL {
        let _ = writeln!(
            text,
            "  {:width$}  {}, in a program of its own",
            external.name, external.about
        );
        if let Err(reason) = external.program() {
            let _ = writeln!(text, "  {:width$}    {reason}", "");
        }
    }
    let _ = writeln!(
        text,
        "\nSleep protocols of drowse: {} (the default: {})",
        SleepProtocol::ALL.map(SleepProtocol::name).join(", "),
        SleepProtocol::default()
    );
    text
}
