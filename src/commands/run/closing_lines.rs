//! The closing lines of a run: the answer, its quality, the saved files and the next command.

use super::next;
use crate::commands::answer;
use crate::commands::session::progress::Progress;
use crate::plan::Until;
use crate::results::command_line::CommandLine;
use crate::results::export::table;
use crate::results::log::Header;
use crate::results::row::{EndedBy, Row, Status};
use crate::term::fold;
use crate::text::digits::counted;
use crate::verdict::quality::{Fix, Quality};
use crate::verdict::rank::Answer;

/// Returns the closing lines, for a terminal of `width` columns. Empty if no case was measured. `saved` are the files
/// of all passes, the last of which is that of `progress`. With `explains`, they have all that is known.
/// `is_clear`: whether it is known what has changed since a baseline. `None`: the question is which engine to choose.
pub(super) fn of(
    is_clear: Option<bool>,
    header: &Header,
    (progress, saved): (&Progress, &[String]),
    (explains, width): (bool, u16),
) -> String {
    let room = width.into();
    let (rows, outputs) = (&progress.rows, &progress.outputs);
    if rows.iter().all(|row| row.status == Status::Skipped) {
        return String::new();
    }
    let mut lines = Vec::new();
    let quality = Quality::of(rows);
    let hidden = progress.hidden_warnings();
    let shown = match (hidden, &outputs.samples_path) {
        (0, _) => String::new(),
        (_, None) => format!(" (--warnings shows {})", counted(hidden, "warning")),
        (_, Some(_)) => format!(" ({})", counted(hidden, "warning")),
    };
    lines.push(format!("quality  {quality}{shown}"));
    let until = header.schedule.until;
    let late = until.and_then(|until| gave_up(until, rows));
    let is_late = late.is_some();
    let found = [late, verified(rows)];
    lines.extend(found.into_iter().flatten());
    let there = CommandLine(&header.run.command_line).on_host();
    lines.extend(there.map(|host| format!("host     {host}: all numbers are of that one")));
    lines.extend(labelled("saved", saved.iter().cloned()));
    let pairs = (is_clear == Some(false)).then(|| {
        let pairs = "measure two programs, or two states, in turn, which can tell more:";
        [pairs, "udpbench ab -h"].map(str::to_owned)
    });
    let answer = answer(rows, header.run.clone());
    let answer = answer.filter(|_| is_clear.is_none());
    let rate = answer.as_ref().and_then(|answer| answer.rate_to_compare_at);
    let is_too_noisy = answer.as_ref().is_some_and(|it| it.is_too_noisy);
    // Whatever is to be mended first, a longer run is no second step.
    let fixes = match &quality.fixes[..] {
        [] if rate.is_none() && is_too_noisy => &[Fix::Until],
        fixes => fixes,
    };
    let mut next: Vec<String> = pairs.into_iter().flatten().collect();
    if explains || rate.is_none() {
        next.extend(next::steps(fixes, header, outputs, is_late));
    }
    if !explains && next.is_empty() {
        next.extend(answer.iter().flat_map(|it| it.next.iter().take(2).cloned()));
    }
    // The last screen has room for what comes next, or else for the page.
    let has_room = explains || next.is_empty();
    next.extend(next::show_more(outputs, hidden, has_room));
    let next = labelled("next", next.into_iter());
    lines.extend(next);
    let lines = fold::text(&format!("{}\n", lines.join("\n")), room);
    let draw = if explains {
        Answer::draw_last
    } else {
        Answer::draw_short
    };
    let answers = answer.map_or_else(String::new, |answer| draw(&answer, room));
    let legend = explains.then(|| table::explained(rows, width));
    format!("{}\n{answers}{lines}", legend.unwrap_or_default())
}

/// Returns lines of which the first has the label.
fn labelled(label: &str, lines: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let lines = labels.zip(lines);
    lines.map(|(label, line)| format!("{label:<9}{line}"))
}

/// Returns the line about cases whose interval `--until` could not narrow to the goal within its time.
fn gave_up(until: Until, rows: &[Row]) -> Option<String> {
    // The time limit ends a whole block. Some of its cases may be narrow enough.
    let is_late = |row: &&Row| {
        row.ended_by == EndedBy::MaxTime.name() && !row.is_narrow(until.half_width_pct)
    };
    let late = rows.iter().filter(is_late).count();
    (late > 0).then(|| {
        format!(
            "until    {} % was not reached in {} within {}: give --max-time more",
            until.half_width_pct,
            counted(late, "case"),
            humantime::format_duration(until.max_time)
        )
    })
}

/// Returns the line about the findings of `--verify`. `None` without it.
fn verified(rows: &[Row]) -> Option<String> {
    let sum = |of: fn(&Row) -> Option<u64>| -> u64 { rows.iter().filter_map(of).sum() };
    rows.iter().find(|row| row.verified_packets.is_some())?;
    Some(format!(
        "verified {} datagrams: {} duplicated, {} reordered, {} truncated, {} corrupted",
        sum(|row| row.verified_packets),
        sum(|row| row.duplicated_packets),
        sum(|row| row.reordered_packets),
        sum(|row| row.truncated_packets),
        sum(|row| row.corrupted_packets),
    ))
}
