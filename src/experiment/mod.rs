//! Experiments: each decides which trial is next and what is known so far, from events alone. None of them opens a socket.

pub mod ab;
pub mod find;
pub mod register;
pub mod suite;
pub mod sweep;
