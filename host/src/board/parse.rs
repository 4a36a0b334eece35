//! Parses the text of a profile.

use super::Board;
use super::rules;
use crate::error::UsageError;

impl Board {
    /// Parses a profile. `file` is the name in error messages.
    ///
    /// # Errors
    /// Fails if the text is malformed or breaks a rule. The message has the file, the line, and the problem.
    pub fn parse(text: &str, file: &str) -> Result<Self, UsageError> {
        let at = |start: usize, message: &str| {
            let line = text[..start.min(text.len())].matches('\n').count() + 1;
            UsageError::file(file, line, message)
        };
        let board: Self = toml::from_str(text)
            .map_err(|error| at(error.span().map_or(0, |span| span.start), error.message()))?;
        rules::check(&board).map_err(|fault| at(fault.start(text), &fault.message))?;
        Ok(board)
    }
}
