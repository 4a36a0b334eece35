//! Counters of the kernel at a network interface (`struct rtnl_link_stats64`, linux/if_link.h).

use serde::{Deserialize, Serialize};

use crate::sys::netlink::read_u64;

/// Counters of an interface since it was made. Drivers on 32-bit kernels may keep 32 bits of each.
///
/// The kernel's documentation separates `dropped`, `errors` and `missed`: no packet is in two of them. The kinds of
/// errors are part of `errors`, except `over` and `fifo`, which count events that need not be packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStatistics {
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Bad packets received.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Packets received and not processed: no memory, no protocol for them (`__netif_receive_skb_core`), or a full
    /// backlog (`enqueue_to_backlog`).
    pub rx_dropped: u64,
    /// Packets that the driver, not a qdisc, dropped before their transmission.
    pub tx_dropped: u64,
    /// Multicast packets received.
    pub multicast: u64,
    /// Collisions, on half-duplex links.
    pub collisions: u64,
    /// Packets received with a wrong length.
    pub rx_length_errors: u64,
    /// Packets received that did not fit into the host's buffers.
    pub rx_over_errors: u64,
    /// Frames received with a wrong checksum.
    pub rx_crc_errors: u64,
    /// Frames received with a wrong alignment.
    pub rx_frame_errors: u64,
    /// Overflows of the interface's own memory.
    pub rx_fifo_errors: u64,
    /// Packets that the interface dropped because the host had no buffers ready.
    pub rx_missed_errors: u64,
    /// Packets given up, for instance after too many collisions.
    pub tx_aborted_errors: u64,
    /// Packets sent while the carrier was gone.
    pub tx_carrier_errors: u64,
    /// Underruns of the interface's own memory.
    pub tx_fifo_errors: u64,
    /// Heartbeat errors on half-duplex links.
    pub tx_heartbeat_errors: u64,
    /// Late collisions.
    pub tx_window_errors: u64,
    /// Compressed packets received.
    pub rx_compressed: u64,
    /// Compressed packets sent.
    pub tx_compressed: u64,
    /// Packets received for nobody, on an interface that only listens (Linux 4.6).
    pub rx_nohandler: u64,
    /// Packets received for the MAC address of another host, and dropped by IP. `None`: before Linux 5.19.
    #[serde(default)]
    pub rx_otherhost_dropped: Option<u64>,
}

impl LinkStatistics {
    /// Returns the packets that this interface received and did not hand on: dropped, bad, or missed.
    pub fn in_drops(&self) -> u64 {
        self.rx_dropped + self.rx_errors + self.rx_missed_errors
    }

    /// Returns the counters of lost packets, with their names in `/sys/class/net/*/statistics`. Some contain others:
    /// see [`LinkStatistics`].
    pub fn losses(&self) -> [(&'static str, u64); 14] {
        [
            ("rx_errors", self.rx_errors),
            ("rx_dropped", self.rx_dropped),
            ("rx_missed_errors", self.rx_missed_errors),
            ("rx_length_errors", self.rx_length_errors),
            ("rx_over_errors", self.rx_over_errors),
            ("rx_crc_errors", self.rx_crc_errors),
            ("rx_frame_errors", self.rx_frame_errors),
            ("rx_fifo_errors", self.rx_fifo_errors),
            ("tx_errors", self.tx_errors),
            ("tx_dropped", self.tx_dropped),
            ("tx_aborted_errors", self.tx_aborted_errors),
            ("tx_carrier_errors", self.tx_carrier_errors),
            ("tx_fifo_errors", self.tx_fifo_errors),
            ("tx_window_errors", self.tx_window_errors),
        ]
    }

    /// Returns the packets that this interface did not send: dropped, or failed.
    pub fn out_drops(&self) -> u64 {
        self.tx_dropped + self.tx_errors
    }

    /// Reads `struct rtnl_link_stats64`.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        // An older kernel's array is shorter.
        let at = |index: usize| read_u64(bytes, 8 * index).unwrap_or(0);
        Self {
            rx_packets: at(0),
            tx_packets: at(1),
            rx_bytes: at(2),
            tx_bytes: at(3),
            rx_errors: at(4),
            tx_errors: at(5),
            rx_dropped: at(6),
            tx_dropped: at(7),
            multicast: at(8),
            collisions: at(9),
            rx_length_errors: at(10),
            rx_over_errors: at(11),
            rx_crc_errors: at(12),
            rx_frame_errors: at(13),
            rx_fifo_errors: at(14),
            rx_missed_errors: at(15),
            tx_aborted_errors: at(16),
            tx_carrier_errors: at(17),
            tx_fifo_errors: at(18),
            tx_heartbeat_errors: at(19),
            tx_window_errors: at(20),
            rx_compressed: at(21),
            tx_compressed: at(22),
            rx_nohandler: at(23),
            rx_otherhost_dropped: read_u64(bytes, 8 * 24),
        }
    }
}
