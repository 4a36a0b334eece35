//! Results of a listener: a row for each window, the log with the rows, and their summary. `commands/listen` receives;
//! nothing here touches a socket.

pub mod log;
pub mod row;
pub mod sequence;
pub mod summary;
pub mod table;
