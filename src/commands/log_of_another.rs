//! The error for `--resume` with the log of another command or host.

use std::path::Path;

use crate::cli::peer::Words;
use crate::error::UsageError;
use crate::plan::Wire;
use crate::term::shell;

/// Returns the error for the log of another command or host. `command`: the subcommand that resumes it, and a blank.
pub(super) fn refused(command: &str, wire: Option<&Wire>, path: &Path) -> UsageError {
    let Words {
        before_subcommand: before,
        after_subcommand: after,
        ..
    } = wire.map_or_else(Words::default, Words::of_wire);
    let shown = shell::path(path);
    let how = format!("udpbench {before}{command}{after}--resume {shown}");
    let problem = format!("it is of another search or host: use {how}");
    UsageError::flag("--resume", &path.display(), problem)
}
