//! `udpbench engines`: each engine, whether it can run here, and if not, why.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::columns::Columns;
use crate::engine::Selection;
use crate::engines::{self, Entry};

/// Lists the registry.
///
/// # Errors
/// When standard output is gone.
pub fn run() -> anyhow::Result<ExitCode> {
    let built = engines::ALL.iter().map(row);
    let left_out = engines::NOT_BUILT.iter();
    let left_out = left_out.map(|&(name, reason)| [name, "", "no", reason].map(str::to_owned));
    let rows: Vec<Vec<String>> = built.chain(left_out).map(Vec::from).collect();
    let mut out = TABLE.draw(&rows, super::width().into()).text();
    writeln!(
        out,
        "* in the default sweep; `udpbench plan` says why a case is skipped"
    )?;
    super::show(&out)?;
    Ok(ExitCode::SUCCESS)
}

const TABLE: Columns = Columns {
    headings: &["engine", "group", "here", "what it is"],
    words: 4,
    leaves: &[1],
    longest: 0,
};

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
