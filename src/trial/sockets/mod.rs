//! The sockets of one end, and the flows between the two ends.

pub(crate) mod bind;
pub(crate) mod connections;
pub(crate) mod end_sockets;
pub mod flows;
pub(crate) mod udp_sockets;
