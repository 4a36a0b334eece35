//! Counters of the kernel at a network interface (`struct rtnl_link_stats64`, linux/if_link.h).

use crate::sys::netlink::read_u64;

/// Counters of an interface since it was made. Drivers on 32-bit kernels may keep 32 bits of each.
///
/// The kernel's documentation separates `dropped`, `errors` and `missed`: no packet is in two of them. The kinds of
/// errors are part of `errors`, except `over` and `fifo`, which count events that need not be packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bad packets received.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Packets received and not processed: no memory, no protocol for them (`__netif_receive_skb_core`), or a full
    /// backlog (`enqueue_to_backlog`).
    pub rx_dropped: u64,
    /// Packets that the driver, not a qdisc, dropped before their transmission.
    pub tx_dropped: u64,
    /// Packets that the interface dropped because the host had no buffers ready.
    pub rx_missed_errors: u64,
    /// Packets received for nobody, on an interface that only listens (Linux 4.6).
    pub rx_nohandler: u64,
    /// Packets received for the MAC address of another host, and dropped by IP. `None`: before Linux 5.19.
    pub rx_otherhost_dropped: Option<u64>,
    /// Counters of lost packets, with their names in `/sys/class/net/*/statistics`. Some contain others.
    pub losses: Vec<(&'static str, u64)>,
}

/// Counters of lost packets, with their places in the structure.
const LOSSES: [(&str, usize); 14] = [
    ("rx_errors", 4),
    ("rx_dropped", 6),
    ("rx_missed_errors", 15),
    ("rx_length_errors", 10),
    ("rx_over_errors", 11),
    ("rx_crc_errors", 12),
    ("rx_frame_errors", 13),
    ("rx_fifo_errors", 14),
    ("tx_errors", 5),
    ("tx_dropped", 7),
    ("tx_aborted_errors", 16),
    ("tx_carrier_errors", 17),
    ("tx_fifo_errors", 18),
    ("tx_window_errors", 20),
];

impl LinkStatistics {
    /// Returns the packets that this interface received and did not hand on: dropped, bad, or missed.
    pub fn in_drops(&self) -> u64 {
        self.rx_dropped + self.rx_errors + self.rx_missed_errors
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
            rx_errors: at(4),
            tx_errors: at(5),
            rx_dropped: at(6),
            tx_dropped: at(7),
            rx_missed_errors: at(15),
            rx_nohandler: at(23),
            rx_otherhost_dropped: read_u64(bytes, 8 * 24),
            losses: LOSSES.map(|(name, index)| (name, at(index))).to_vec(),
        }
    }
}
