//! Text in the width of a terminal: tables, folded lines, escaped and quoted words, JSON.

pub mod escape;
pub mod fold;
pub mod json;
pub mod percent;
pub mod shell;
pub mod table;
