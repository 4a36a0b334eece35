//! `udpbench rank`: ranks the engines by speed and by CPU time per packet.

use std::process::ExitCode;

use crate::cli::RankArgs;
use crate::error::UsageError;
use crate::results::files::Results;
use crate::term::output::{show, width};
use crate::verdict::rank::table::{self, View};
use crate::verdict::rank::{self, BoardRanking};

/// Ranks the engines of the files and prints the table.
///
/// # Errors
/// Fails if a file cannot be read, if no row can be ranked, or if standard output cannot be written.
pub fn run(args: &RankArgs) -> anyhow::Result<ExitCode> {
    let files = args.files.iter().map(|path| Results::open(path));
    let results = files.collect::<Result<Vec<Results>, UsageError>>()?;
    let ranking = rank::rank(&results);
    if ranking.iter().all(|board| board.groups.is_empty()) {
        return Err(nothing_to_rank(&results, &ranking).into());
    }
    let view = View {
        by: args.by,
        top: args.top.into(),
        details: args.details,
    };
    let text = table::draw(&ranking, view, width());
    show(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn nothing_to_rank(results: &[Results], boards: &[BoardRanking]) -> UsageError {
    let names: Vec<&str> = results.iter().map(|file| file.name.as_str()).collect();
    let remarks = boards.iter().flat_map(|board| &board.remarks);
    let mut reasons = remarks.map(String::as_str).collect::<Vec<_>>().join("; ");
    if reasons.is_empty() {
        "no rows".clone_into(&mut reasons);
    }
    let begun = results.iter().find_map(Results::resume_command);
    let fix = begun.map_or_else(
        || "use results with measured engines".to_owned(),
        |command| format!("measure what is missing: {command}"),
    );
    let problem = format!("nothing to rank: {reasons}; {fix}");
    UsageError::flag("rank", &names.join(" "), problem)
}
