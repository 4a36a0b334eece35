//! Section of the comparison of files, from [`crate::verdict::compare`].

use maud::{Markup, html};

use super::board;
use super::changes::{self, Row, what};
use crate::results::files::Results;
use crate::verdict::compare::table::{block, counts, legend, value};
use crate::verdict::compare::{
    Against, By, CaseChange, Comparison, EngineChange, Options, compare, footnotes,
};

/// Compares the files by speed and by CPU time.
fn comparisons(base: &Results, new: &[Results]) -> [Comparison; 2] {
    [By::Speed, By::Cpu].map(|by| {
        let options = Options {
            by,
            ..Options::default()
        };
        compare(base, new, options)
    })
}

/// Returns the verdict on each file after the first, by speed and by CPU time.
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
    counts(by, file)
}

/// Returns the changes of each other file against the first. `None`: only one file is given.
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
        @for comparison in &comparisons { (legend_of(&legend(comparison))) }
    })
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
    let judged = file.engines.iter().filter(|it| it.change.is_some());
    let rows: Vec<Row> = judged.map(of_engine).collect();
    if rows.is_empty() {
        return html! { p { "No engine has enough cases to be judged." } };
    }
    changes::engines(
        by,
        "each engine over all its blocks",
        &["cases", "blocks"],
        &rows,
    )
}

fn of_engine(engine: &EngineChange) -> Row<'_> {
    Row {
        label: engine.label.clone(),
        change: engine.change,
        verdict: &engine.verdict,
        more: [engine.cases, engine.blocks]
            .map(|count| count.to_string())
            .into(),
    }
}

fn of_cases(by: By, file: &Against) -> Markup {
    let rows: Vec<Row> = file.cases.iter().map(of_case).collect();
    changes::cases(by, &["base", "new", "conn", "block"], &rows)
}

fn of_case(case: &CaseChange) -> Row<'_> {
    let (connection, block) = (case.connection.short().to_owned(), block(&case.block));
    Row {
        label: case.label.clone(),
        change: case.change,
        verdict: &case.verdict,
        more: vec![value(case.base), value(case.new), connection, block],
    }
}

/// Returns the lines of a legend as one paragraph.
pub(super) fn legend_of(text: &str) -> Markup {
    html! { p .legend { @for line in text.lines() { (line) " " } } }
}
