//! Text that people read at a terminal and type there: tables, folded lines, messages, escaped and quoted words, JSON.

pub mod escape;
pub mod fold;
pub mod json;
pub mod output;
pub mod percent;
pub mod shell;
pub mod table;
pub mod words;
