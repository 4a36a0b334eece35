//! Drivers whose counters of lost packets (`ethtool -S`) are known, with these counters.

/// Drivers with the same counters.
pub(super) struct Family {
    /// Names in sysfs and of `ethtool -i`. `*` stands for any text. The first one names the family.
    pub(super) drivers: &'static [&'static str],
    /// Counters of packets lost on the way in. `#` stands for a number.
    pub(super) into: &'static [&'static str],
    /// Counters of packets lost on the way out.
    pub(super) out: &'static [&'static str],
}

impl Family {
    /// Returns whether a driver of this name has these counters.
    pub(super) fn has(&self, driver: &str) -> bool {
        let fits = |pattern: &&str| match pattern.split_once('*') {
            None => driver == *pattern,
            Some((before, after)) => {
                let rest = driver.strip_prefix(before);
                rest.is_some_and(|rest| rest.contains(after))
            }
        };
        self.drivers.iter().any(fits)
    }
}

/// Frames that a radio gave up after all retries ([`Wireless::tx_failed`](super::Wireless::tx_failed)). It is a counter
/// of nl80211, and of no driver.
pub(super) const WIFI_TX_FAILED: &str = "wifi_tx_failed";

/// Known drivers: names in the kernel's `drivers/net`, of Linux 6.18 (2026-11), and of Realtek's own drivers.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        drivers: &["bcmgenet"],
        into: &[
            "rbuf_ovflow_cnt",
            "alloc_rx_buff_failed",
            "rx_dma_failed",
            "rx_fcs",
            "rx_align",
        ],
        out: &[
            "tx_dma_failed",
            "tx_realloc_tsb_failed",
            "tx_late_col",
            "tx_excess_col",
        ],
    },
    Family {
        drivers: &["macb"],
        into: &[
            "rx_frame_check_sequence_errors",
            "rx_length_field_frame_errors",
            "rx_alignment_errors",
            "rx_resource_errors",
            "rx_overruns",
            "rx_oversize_frames",
            "rx_undersized_frames",
            "rx_jabbers",
            "rx_ip_header_checksum_errors",
            "rx_udp_checksum_errors",
        ],
        out: &[
            "tx_underrun",
            "tx_excessive_collisions",
            "tx_late_collisions",
        ],
    },
    Family {
        drivers: &["lan78xx"],
        into: &[
            "RX FCS Errors",
            "RX Alignment Errors",
            "RX Jabber Errors",
            "RX Undersize Frame Errors",
            "RX Oversize Frame Errors",
            "RX Dropped Frames",
        ],
        out: &[
            "TX FCS Errors",
            "TX Excess Deferral Errors",
            "TX Carrier Errors",
            "TX Excessive Collision",
            "TX Late Collisions",
        ],
    },
    Family {
        drivers: &["r8169", "r8101", "r8125", "r8126", "r8127", "r8168"],
        into: REALTEK_IN,
        out: REALTEK_OUT,
    },
    // A chip behind USB: its counters have the same names, and other reasons.
    Family {
        drivers: &["r8152"],
        into: REALTEK_IN,
        out: REALTEK_OUT,
    },
    Family {
        drivers: &[
            "stmmac",
            "*dwmac",
            "st_gmac",
            "st_mac100",
            "st_xgmac",
            "qcom-ethqos",
            "tegra-mgbe",
        ],
        into: &[
            "rx_missed_cntr",
            "mmc_rx_crc_error",
            "mmc_rx_align_error",
            "mmc_rx_fifo_overflow",
            "mmc_rx_length_error",
            "mmc_rx_watchdog_error",
        ],
        out: &[
            "mmc_tx_underflow_error",
            "mmc_tx_latecol",
            "mmc_tx_exesscol",
            "mmc_tx_carrier_error",
            "mmc_tx_excessdef",
        ],
    },
    Family {
        drivers: &["fec"],
        into: &[
            "IEEE_rx_drop",
            "IEEE_rx_crc",
            "IEEE_rx_align",
            "IEEE_rx_macerr",
        ],
        out: &["IEEE_tx_macerr", "IEEE_tx_lcol", "IEEE_tx_excol"],
    },
    Family {
        drivers: &["cpsw", "cpsw-switch", "TI CPSW Driver*"],
        into: &[
            "Rx CRC Errors",
            "Rx Align/Code Errors",
            "Oversize Rx Frames",
            "Rx Jabbers",
            "Undersize (Short) Rx Frames",
            "Rx Fragments",
            "Rx Start of Frame Overruns",
            "Rx Middle of Frame Overruns",
        ],
        out: &["Excessive Collisions", "Late Collisions", "Tx Underrun"],
    },
    Family {
        drivers: &["am65-cpsw-nuss"],
        into: &[
            "rx_align_code_errors",
            "rx_oversized_frames",
            "rx_jabber_frames",
            "rx_undersized_frames",
            "ale_overrun_drop",
            "rx_bottom_fifo_drop",
            "rx_top_fifo_drop",
        ],
        out: &[
            "tx_excessive_collisions",
            "tx_late_collisions",
            "tx_pri#_drop",
        ],
    },
    // `rx_queue_` are older names of virtio_net: see `drops`.
    Family {
        drivers: &["virtio_net"],
        into: &[
            "rx#_drops",
            "rx_queue_#_drops",
            "rx_queue_#_xdp_drops",
            "rx#_hw_drops",
        ],
        out: &["tx#_hw_drops"],
    },
    Family {
        drivers: &["veth"],
        into: &["rx_queue_#_drops", "rx_queue_#_xdp_drops"],
        out: &["tx_queue_#_xdp_xmit_errors"],
    },
    Family {
        drivers: &["mvneta"],
        into: &[
            "rx_discard",
            "rx_overrun",
            "bad_crc_event",
            "mac_receive_error",
            "skb_alloc_errors",
        ],
        out: &["internal_mac_transmit_err", "late_collision"],
    },
    Family {
        drivers: &["mvpp2"],
        into: &[
            "bad_crc_event",
            "mac_receive_error",
            "rx_fifo_or_parser_overrun_drops",
            "rxq_#_queue_full_drops",
            "rxq_#_packets_early_drops",
            "rxq_#_packets_bm_drops",
        ],
        out: &[
            "late_collision",
            "internal_mac_transmit_err",
            "txq_#_queue_full_drops",
            "txq_#_packets_early_drops",
            "txq_#_packets_bm_drops",
        ],
    },
];

const REALTEK_IN: &[&str] = &["rx_missed", "align_errors"];
const REALTEK_OUT: &[&str] = &["tx_aborted", "tx_underrun"];
