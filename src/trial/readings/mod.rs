//! What is read of the kernel, of interfaces and of threads beside the threads' own counts.

pub(crate) mod losses;
pub mod remote_facts;
pub(crate) mod snapshot;
