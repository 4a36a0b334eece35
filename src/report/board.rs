//! Sections on the machine: the lead below the title, the host, and the numbers of cases.

use std::collections::BTreeSet;
use std::path::Path;

use maud::{Markup, html};

use super::{date, number};
use crate::results::files::Results;
use crate::results::row::{Row, Status};

/// Returns the sentence below the title: the number of cases, the files, and the time of measurement.
pub(super) fn lead(files: &[Results]) -> String {
    let names: Vec<String> = files.iter().map(|file| shown(file, files)).collect();
    let rows: Vec<&Row> = files.iter().flat_map(|file| &file.rows).collect();
    let cases = number::counted(rows.len(), "case");
    let measured = match first_and_last(&rows) {
        Some((first, last)) => format!(", measured {}", date::span(first, last)),
        None => String::new(),
    };
    format!("{cases} in {}{measured}", names.join(", "))
}

/// Returns the start times of the first case and of the last.
fn first_and_last<'a>(rows: &[&'a Row]) -> Option<(&'a str, &'a str)> {
    let times = || rows.iter().map(|row| row.started_at.as_str());
    let times = || times().filter(|time| !time.is_empty());
    times().min().zip(times().max())
}

/// Returns the name of a file on the page: without its directory, unless another file has the same name.
pub(super) fn shown(file: &Results, files: &[Results]) -> String {
    let base = |file: &Results| {
        let base = Path::new(&file.name).file_name();
        base.map_or_else(
            || file.name.clone(),
            |base| base.to_string_lossy().into_owned(),
        )
    };
    let name = base(file);
    let namesakes = files.iter().filter(|other| base(other) == name).count();
    if namesakes > 1 {
        file.name.clone()
    } else {
        name
    }
}

/// Returns the part of each file, under the file's name if there are several.
pub(super) fn each(files: &[Results], part: impl Fn(&Results) -> Markup) -> Markup {
    html! {
        @for file in files {
            @if files.len() > 1 { h4 { (shown(file, files)) } }
            (part(file))
        }
    }
}

/// Returns a list of facts about the machine, the kernel and the program.
pub(super) fn host(file: &Results) -> Markup {
    let entries = machine(&file.rows).into_iter();
    html! {
        dl {
            @for (name, value) in entries.filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Returns the number of cases of each status.
pub(super) fn cases(file: &Results) -> Markup {
    let rows = &file.rows;
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    let all = [
        Status::Ok,
        Status::Failed,
        Status::Interrupted,
        Status::Skipped,
    ];
    html! {
        ul .counts {
            @for status in all {
                @let count = count(status);
                li .bad[count > 0 && matches!(status, Status::Failed | Status::Interrupted)] {
                    b { (number::grouped(count as i128)) } " " (status)
                }
            }
        }
    }
}

fn machine(rows: &[Row]) -> Vec<(&'static str, String)> {
    let texts = |text: &dyn Fn(&Row) -> String| joined(rows, text);
    let times = first_and_last(&rows.iter().collect::<Vec<_>>());
    let measured = times.map(|(first, last)| date::span(first, last));
    vec![
        ("Board", texts(&|row| row.board.clone())),
        ("Model", texts(&|row| row.model.clone())),
        ("SoC", texts(&|row| row.soc.clone())),
        ("CPU", texts(&|row| row.cpu_model.clone())),
        (
            "Emulated or virtualised by",
            texts(&|row| row.virtualization.clone()),
        ),
        ("Kernel", texts(&|row| kernel(row))),
        (
            "Governor",
            texts(&|row| spaced(&[&row.governor, &row.cpufreq_driver])),
        ),
        ("Clock", texts(&clock)),
        ("Other host", texts(&remote_host)),
        (
            "Its kernel",
            texts(&|row| spaced(&[&row.remote_kernel, &row.remote_machine])),
        ),
        ("Its governor", texts(&|row| row.remote_governor.clone())),
        ("Slowest CPU", slowest(rows)),
        ("Temperature", temperature(rows)),
        ("Throttled", texts(&|row| row.throttled.to_string())),
        ("Windows", windows(rows)),
        (
            "Receive buffer",
            texts(&|row| {
                row.rcvbuf_bytes.map_or_else(String::new, |bytes| {
                    format!("{} B", number::grouped(bytes.into()))
                })
            }),
        ),
        ("Measured", measured.unwrap_or_default()),
        ("Seed", texts(&|row| row.seed.to_string())),
        (
            "udpbench",
            texts(&|row| spaced(&[&row.version, &row.target])),
        ),
    ]
}

/// Returns the distinct texts of the rows, limited to four: a file merged from many has more than fit.
fn joined(rows: &[Row], text: &dyn Fn(&Row) -> String) -> String {
    const MOST: usize = 4;
    let texts: BTreeSet<String> = rows
        .iter()
        .map(text)
        .filter(|text| !text.is_empty())
        .collect();
    let more = texts.len().saturating_sub(MOST);
    let mut shown: Vec<String> = texts.into_iter().take(MOST).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join("; ")
}

fn spaced(parts: &[&String]) -> String {
    let parts = parts
        .iter()
        .map(|part| part.as_str())
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<&str>>().join(", ")
}

fn kernel(row: &Row) -> String {
    let preemption = Some(&row.preemption).filter(|preemption| !preemption.is_empty());
    let preemption = preemption.map_or_else(String::new, |flavour| format!("preemption {flavour}"));
    spaced(&[&row.kernel, &row.machine, &preemption])
}

fn remote_host(row: &Row) -> String {
    spaced(&[&row.remote_board, &row.remote_model, &row.remote_cpu_model])
}

fn clock(row: &Row) -> String {
    match (row.freq_min_mhz, row.freq_max_mhz) {
        (Some(min), Some(max)) => format!("{min} to {max} MHz"),
        _ => String::new(),
    }
}

fn windows(rows: &[Row]) -> String {
    let span = |values: Vec<f64>| {
        let least = values.iter().copied().min_by(f64::total_cmp)?;
        let most = values.iter().copied().max_by(f64::total_cmp)?;
        let (least, most) = (number::short(least), number::short(most));
        Some(if least == most {
            least
        } else {
            format!("{least} to {most}")
        })
    };
    let measured = || rows.iter().filter(|row| row.window_ms.is_some());
    let count = span(measured().map(|row| f64::from(row.rounds)).collect());
    let length = span(measured().filter_map(|row| row.window_ms).collect());
    let shown = count
        .zip(length)
        .map(|(count, length)| format!("{count} of {length} ms per case"));
    shown.unwrap_or_default()
}

fn slowest(rows: &[Row]) -> String {
    let paces = rows.iter().filter_map(|row| row.clock_min_pct);
    let slowest = paces.min_by(f64::total_cmp);
    slowest.map_or_else(String::new, |pace| {
        format!("{pace} % of its clock at the start")
    })
}

fn temperature(rows: &[Row]) -> String {
    let start = rows
        .iter()
        .filter_map(|row| row.temp_c_start)
        .min_by(f64::total_cmp);
    let most = rows
        .iter()
        .filter_map(|row| row.temp_c_max)
        .max_by(f64::total_cmp);
    match (start, most) {
        (Some(start), Some(most)) => {
            format!("{start:.1} °C at the coolest start, {most:.1} °C at most")
        }
        (_, Some(most)) => format!("{most:.1} °C at most"),
        _ => String::new(),
    }
}
