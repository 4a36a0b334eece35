//! Text to and from people: tables, digits, folded lines, units, quoted words, text files, JSON.

pub mod cpu_list;
pub mod digits;
pub mod duration;
pub mod escape;
pub mod fold;
pub mod json;
pub mod nearest;
pub mod percent;
pub(crate) mod sentences;
pub mod shell;
pub mod table;
pub mod text_file;
