//! Text to and from people at a terminal: tables, digits, folded lines, units, quoted words.

pub mod digits;
pub mod duration;
pub mod escape;
pub mod fold;
pub mod nearest;
pub mod percent;
pub mod shell;
pub mod table;
pub mod text;
