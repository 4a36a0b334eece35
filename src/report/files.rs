//! The files of the page: their names, and what was measured where, when and how.

use std::path::Path;

use maud::{Markup, html};

use super::number::grouped;
use crate::results::export::markdown::circumstances;
use crate::results::files::Results;
use crate::results::log::Run;
use crate::term::shell;
use crate::text::digits::counted;

/// Returns the name of a file on the page: without its directory, unless another file has the same name.
pub(super) fn name(file: &Results, files: &[Results]) -> String {
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

/// Returns the paragraph on a file.
pub(super) fn about(file: &Results, files: &[Results]) -> Markup {
    let cases = counted(grouped(file.rows.len() as i128), "case");
    html! {
        p { (name(file, files)) ": " (cases) ". " (begun(&file.run, &circumstances(&file.rows))) }
        (command(&file.run))
    }
}

/// Returns the sentence on the start of a run.
pub(super) fn begun(run: &Run, machine: &str) -> Markup {
    html! { "Begun " (run.started_at) " on " (machine) ", by udpbench " (run.version) "." }
}

/// Returns the command of a run, to be pasted into a shell.
pub(super) fn command(run: &Run) -> Markup {
    let words = run.command_line.iter().map(|word| shell::word(word));
    let words: Vec<_> = words.collect();
    html! { @if !words.is_empty() { p { code { (words.join(" ")) } } } }
}
