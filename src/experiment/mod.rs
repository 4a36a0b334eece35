//! Experiments: state machines that choose the next trial and keep the results. They work on events alone and open no
//! socket.

pub mod ab;
pub mod find;
pub mod register;
pub mod suite;
pub mod sweep;
