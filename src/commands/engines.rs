//! `udpbench engines`: lists the engines and whether each can run here, with the reason if it cannot.

use std::process::ExitCode;

use super::remote_host::run_there;
use crate::cli::EnginesArgs;
use crate::engine::Selection;
use crate::engines::{self, Entry};
use crate::term::output::{show, width};
use crate::term::table::Columns;

/// Prints a table of all engines, including those left out of this build.
///
/// # Errors
/// Fails if standard output cannot be written, or if the host of `--on` cannot be asked.
pub fn run(args: &EnginesArgs) -> anyhow::Result<ExitCode> {
    if let Some(code) = run_there(&args.remote)? {
        return Ok(code);
    }
    let built = engines::all().map(row);
    let left_out = engines::not_built();
    let left_out = left_out.map(|(name, reason)| [name, "", "no", reason].map(str::to_owned));
    let columns = Columns::<[String; 4]>::default()
        .word("engine", |row| row[0].clone())
        .word("group", |row| row[1].clone())
        .leaves(1)
        .word("here", |row| row[2].clone())
        .text("what it is", |row| row[3].clone());
    let mut table = columns.table(built.chain(left_out));
    table.text("exec:PROGRAM, in the place of an engine, is a loop of yours in any language: docs/OWN-LOOP.md");
    table.text("* in the default sweep; `udpbench plan` says why a case is skipped");
    show(&table.draw(width().into()))?;
    Ok(ExitCode::SUCCESS)
}

fn row(entry: &Entry) -> [String; 4] {
    let about = entry.about;
    let is_default = matches!(about.selection, Selection::Default);
    let default = if is_default { " *" } else { "" };
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
