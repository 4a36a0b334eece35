//! `udpbench suites`: lists the suites, or shows one.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::cli::SuitesArgs;
use crate::experiment::suite::{self, Suite};
use crate::term::fold;

/// Lists the suites, or shows the file of one.
///
/// # Errors
/// Fails if the name is unknown or standard output cannot be written.
pub fn run(args: &SuitesArgs) -> anyhow::Result<ExitCode> {
    match &args.name {
        Some(name) => {
            let suite = suite::find("suites", name)?;
            super::show_file(suite::source(&suite.name).unwrap_or_default())?;
        }
        None => super::show(&list(&suite::all()?))?,
    }
    Ok(ExitCode::SUCCESS)
}

const HOW: &str = "
udpbench --suite NAME       runs one
udpbench plan --suite NAME  says what that is, and how long it takes
udpbench suites NAME        shows its file
";

fn list(suites: &[Suite]) -> String {
    let mut text = String::new();
    for suite in suites {
        let all = suite.sweeps.iter().chain(&suite.searches);
        let sweeps: Vec<&str> = all.map(|sweep| &*sweep.name).collect();
        let _ = writeln!(text, "{}", suite.name);
        let (title, source) = (&suite.title, &suite.source);
        let lines = format!(
            "  {title}\n  sweeps: {}\n  from {source}\n",
            sweeps.join(", ")
        );
        text += &fold::text(&lines, super::width().into());
    }
    text + HOW
}
