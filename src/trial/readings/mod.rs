//! What is read of the kernel, of interfaces and of threads beside the threads' own counts.

pub mod idle_counters;
pub(crate) mod loss_watch;
pub(crate) mod path_watch;
pub(crate) mod queue_probes;
pub(crate) mod reason_watch;
pub mod remote_facts;
pub(crate) mod snapshot;
