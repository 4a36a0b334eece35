//! Text for people at a terminal, and from them: tables, digits, folded lines, typed units, quoted words.

pub mod digits;
pub mod duration;
pub mod escape;
pub mod fold;
pub mod nearest;
pub mod percent;
pub mod shell;
pub mod table;
pub mod text;
