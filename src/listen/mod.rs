//! What a listener heard: a row for each window, the log that keeps them, and their summary. `commands/listen` receives;
//! nothing here touches a socket.

pub mod log;
pub mod row;
pub mod sequence;
pub mod summary;
pub mod table;
