//! Text to and from people: digits, units, lists of CPUs, names that were probably meant, text files, sentences with data.

pub mod cpu_list;
pub mod cpu_mask;
pub mod digits;
pub mod duration;
pub mod nearest;
mod sentences;
pub mod text_file;

pub use self::sentences::sentences;
