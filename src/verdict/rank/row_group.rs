//! Groups of rows whose engines can be compared.

use super::SharedCpus;
use crate::data::{BlockKey, Connection};
use crate::results::row::{Load, Row};

/// Values that rows have in common if their engines can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowGroup {
    /// Threads, payload, IP version, and the buffer sizes that were requested.
    pub block: BlockKey,
    /// Connected or unconnected sockets.
    pub connection: Connection,
    /// `SO_RCVBUF` and `SO_SNDBUF` as granted, in bytes. Loss, and so speed, depends on them.
    pub granted: (Option<u64>, Option<u64>),
    /// Load and CPUs, if the group has round trips. The rate in `block` is unset if the load is a share of a rate.
    pub asked: Option<Asked>,
}

/// Circumstances in which clients ask servers. They decide round trips more than engines do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// The load.
    pub load: Load,
    /// The CPUs of clients and servers.
    pub cpus: SharedCpus,
}

impl RowGroup {
    pub(super) fn new(row: &Row, load: Option<Load>) -> Self {
        let mut block = row.block();
        if matches!(load, Some(Load::Share(_))) {
            block.rate = None;
        }
        Self {
            block,
            connection: row.connection,
            granted: (row.rcvbuf_bytes, row.sndbuf_bytes),
            asked: load.map(|load| Asked {
                load,
                cpus: SharedCpus::of(row),
            }),
        }
    }
}
