//! The comparison of files, from [`crate::compare`].

mod picture;

use maud::{Markup, html};

use self::picture::picture;
use super::chart::key;
use super::{board, number};
use crate::compare::table::{self, Detail, block, change, interval, value};
use crate::compare::{
    Against, By, CaseChange, Change, Comparison, EngineChange, Options, Verdict, compare, footnotes,
};
use crate::results::Results;

/// By speed and by CPU time.
fn comparisons(base: &Results, new: &[Results]) -> [Comparison; 2] {
    [By::Speed, By::Cpu].map(|by| {
        let options = Options {
            by,
            ..Options::default()
        };
        compare(base, new, options)
    })
}

/// What became of each other file, by speed and by CPU time.
pub(super) fn verdicts(files: &[Results]) -> Markup {
    let Some((base, new)) = files.split_first().filter(|(_, new)| !new.is_empty()) else {
        return html! {};
    };
    let comparisons = comparisons(base, new);
    html! {
        @for (n, file) in new.iter().enumerate() {
            @let found = || comparisons.iter().filter_map(|all| Some((all.options.by, all.files.get(n)?)));
            @let is_worse = found().any(|(_, against)| against.is_worse());
            p .advice .worse[is_worse] .plain[!is_worse] {
                b { (title(file, base, files)) "." }
                @for (by, against) in found() { " " (what(by)) ": " (verdict(by, against)) "." }
            }
        }
    }
}

fn title(file: &Results, base: &Results, files: &[Results]) -> String {
    let (file, base) = (board::shown(file, files), board::shown(base, files));
    format!("{file} against {base}")
}

fn verdict(by: By, file: &Against) -> String {
    if let Some(why) = file.obstacle() {
        return format!("not comparable, {why}");
    }
    let cases = file.cases.iter().map(|case| &case.verdict);
    let engines = file.engines.iter().map(|engine| &engine.verdict);
    let (cases, engines) = (
        table::count(by, cases, "case"),
        table::count(by, engines, "engine"),
    );
    format!("{cases}; {engines}")
}

/// Every other file against the first. `None`: there is only one.
pub(super) fn changes(files: &[Results]) -> Option<Markup> {
    let (base, new) = files.split_first().filter(|(_, new)| !new.is_empty())?;
    let comparisons = comparisons(base, new);
    Some(html! {
        @for (n, file) in new.iter().enumerate() {
            h4 { (title(file, base, files)) }
            @for comparison in &comparisons {
                @if let Some(against) = comparison.files.get(n) {
                    h5 { (what(comparison.options.by)) }
                    (of_file(comparison, against))
                }
            }
        }
        @for comparison in &comparisons { (legend(comparison)) }
    })
}

fn what(by: By) -> &'static str {
    match by {
        By::Speed => "Speed",
        By::Cpu => "CPU time",
    }
}

fn of_file(comparison: &Comparison, file: &Against) -> Markup {
    let by = comparison.options.by;
    let remarks = footnotes::lines(file, comparison.options);
    html! {
        @match file.obstacle() {
            Some(why) => p { b { "Not comparable:" } " " (why) "." },
            None => { (of_engines(by, file)) (of_cases(by, file)) }
        }
        @if !remarks.is_empty() {
            ul { @for remark in remarks { li { (remark) } } }
        }
    }
}

fn of_engines(by: By, file: &Against) -> Markup {
    let judged = file
        .engines
        .iter()
        .filter_map(|engine| Some((engine, engine.change?)));
    let judged: Vec<(&EngineChange, Change)> = judged.collect();
    if judged.is_empty() {
        return html! { p { "No engine has enough cases to be judged." } };
    }
    html! {
        p .legend {
            "Each line is a 95 % interval, cut off at the edge of the chart. "
            @for verdict in [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unclear] {
                (key(class(&verdict), sign(&verdict), verdict.word(by)))
            }
            (key("r", "┆", "no change"))
        }
        .pair {
            (picture(by, &judged))
            (rows_of_engines(by, &judged))
        }
    }
}

fn rows_of_engines(by: By, judged: &[(&EngineChange, Change)]) -> Markup {
    let caption = format!("{}: each engine over all its blocks", what(by));
    html! {
        .scroll tabindex="0" role="region" aria-label=(caption) {
            table .named .rows {
                caption { (caption) }
                thead {
                    tr {
                        @for name in ["engine", "verdict", "change %", "95 % interval", "cases", "blocks"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for (engine, found) in judged {
                        tr {
                            th scope="row" { (engine.label) }
                            td { (said(by, &engine.verdict)) }
                            td { (change(Some(*found))) }
                            td { (interval(Some(*found))) }
                            td { (engine.cases) }
                            td { (engine.blocks) }
                        }
                    }
                }
            }
        }
    }
}

/// The cases that are better, worse or broken; all of them in a fold.
fn of_cases(by: By, file: &Against) -> Markup {
    let [news, all] = [Detail::Changes, Detail::All]
        .map(|detail| table::largest_first(&file.cases, detail, |it| (it.change, &it.verdict)));
    let words = [Verdict::Better, Verdict::Worse].map(|verdict| verdict.word(by));
    let kinds = format!("{}, {} or broken", words[0], words[1]);
    html! {
        @if news.is_empty() {
            p { "No case is " (kinds) "." }
        } @else {
            (rows_of_cases(by, &format!("{}: cases that are {kinds}", what(by)), &news))
        }
        details {
            summary { "All cases: " (number::counted(all.len(), "case")) }
            (rows_of_cases(by, &format!("{}: all cases", what(by)), &all))
        }
    }
}

fn rows_of_cases(by: By, caption: &str, cases: &[&CaseChange]) -> Markup {
    let columns = [
        "case",
        "verdict",
        "change %",
        "95 % interval",
        "base",
        "new",
        "conn",
        "block",
    ];
    html! {
        .scroll tabindex="0" role="region" aria-label=(caption) {
            table .named .rows {
                caption { (caption) ", the largest change first" }
                thead { tr { @for name in columns { th scope="col" { (name) } } } }
                tbody {
                    @for case in cases {
                        // Without end tags, which HTML does not need: there may be thousands.
                        tr;
                        th scope="row" { (case.label) }
                        td; (said(by, &case.verdict))
                        td; (change(case.change))
                        td; (interval(case.change))
                        td; (value(case.base))
                        td; (value(case.new))
                        td; (case.connection.short())
                        td; (block(&case.block))
                    }
                }
            }
        }
    }
}

/// The verdict after its sign: told apart without colours, too.
fn said(by: By, verdict: &Verdict) -> Markup {
    html! {
        span class=(class(verdict)) { span aria-hidden="true" { (sign(verdict)) } " " (verdict.word(by)) }
    }
}

fn sign(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "▲",
        Verdict::Worse => "▼",
        Verdict::Same => "●",
        Verdict::Unclear => "○",
        Verdict::Broken(_) => "✖",
        Verdict::Reference | Verdict::NotComparable(_) => "–",
    }
}

fn class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "c3",
        Verdict::Worse | Verdict::Broken(_) => "c8",
        Verdict::Same | Verdict::Unclear => "c7",
        Verdict::Reference | Verdict::NotComparable(_) => "r",
    }
}

fn legend(comparison: &Comparison) -> Markup {
    html! { p .legend { @for line in table::legend(comparison).lines() { (line) " " } } }
}
