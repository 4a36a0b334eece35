//! Where results go. A format is one file here: something that takes [`Record`](crate::record::Record)s
//! and gives them a shape.

pub mod csv;
pub mod lines;
pub mod samples;
pub mod table;
