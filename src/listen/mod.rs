//! Results of a listener: a row for each window, the log with the rows, and what the numbers of each source tell.
//! `commands/listen` receives; nothing here touches a socket.

pub mod log;
pub mod row;
pub mod sequence;
