//! `udpbench engines`: each engine, whether it can run here, and if not, why.

use std::fmt::Write as _;
use std::process::ExitCode;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

use crate::engine::Selection;
use crate::engines::{self, Entry};
use crate::export::table::WIDTH;

/// Lists the registry.
///
/// # Errors
/// When standard output is gone.
pub fn run() -> anyhow::Result<ExitCode> {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    for entry in engines::ALL {
        table.add_row(row(entry));
    }
    for &(name, reason) in engines::NOT_BUILT {
        table.add_row([name, "", "no", reason]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().take(3) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let mut out = String::new();
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(
        out,
        "* in the default sweep; `udpbench plan` says why a case is skipped"
    )?;
    super::show(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn row(entry: &Entry) -> [String; 4] {
    let about = entry.about;
    let default = match about.selection {
        Selection::Default => " *",
        Selection::ByName => "",
    };
    let mut text = about.summary.to_owned();
    let state = match entry.probe() {
        Ok(()) => "yes",
        Err(reason) => {
            text += &["\nnot here: ", &reason].concat();
            "no"
        }
    };
    if let Err(reason) = about.one_thread {
        text += &["\nnot with --threads 1: ", reason].concat();
    }
    [
        [about.name, default].concat(),
        about.group.to_string(),
        state.to_owned(),
        text,
    ]
}
