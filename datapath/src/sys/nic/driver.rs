//! Selects the counters of a driver (`ethtool -S`) that count lost packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Direction of a packet when it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// On its way in.
    In,
    /// On its way out.
    Out,
}

/// Returns the direction of the lost packets that a counter of this name counts. `None`: it counts no lost packets, or
/// is not known here.
///
/// Names that repeat the kernel's own counters (`rx_dropped`) are not known, nor are counters of events
/// (`rx_buf_unav_irq`) or counters that contain another, or are contained in it: `rx0_hw_drop_overruns`; `Rx DMA
/// Overruns` of cpsw (AM335x reference manual, CPSW_STATS); `rx_symbol_errors` of macb (manuals of Microchip's GMAC);
/// `mmc_rx_run_error` and `mmc_rx_jabber_error` of stmmac, which have a wrong CRC as well (manuals of Intel's EMAC).
/// Others may be: `rbuf_err_cnt` of bcmgenet, which no manual defines, and `Rx Fragment Errors` of lan78xx, which its
/// sibling lan743x does not add to its errors.
pub fn way(name: &str) -> Option<Way> {
    let is_like = |patterns: &[&str]| patterns.iter().any(|pattern| is_named(name, pattern));
    if is_like(IN) {
        Some(Way::In)
    } else if is_like(OUT) {
        Some(Way::Out)
    } else {
        None
    }
}

/// Returns the sums of lost packets in the counters of a driver, by their names: in and out.
///
/// Of a queue's `drops` and `xdp_drops` the larger counts: in virtio_net the former contain the latter, in veth not.
pub fn drops<'a>(counters: impl IntoIterator<Item = (&'a String, &'a u64)>) -> (u64, u64) {
    let counters: BTreeMap<&str, u64> = counters
        .into_iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let (mut on_the_way_in, mut on_the_way_out) = (0_u64, 0_u64);
    for (&name, &value) in &counters {
        let queue = name.strip_suffix("_xdp_drops");
        let containing = queue.and_then(|queue| counters.get(format!("{queue}_drops").as_str()));
        let value = value.saturating_sub(containing.copied().unwrap_or(0));
        match way(name) {
            Some(Way::In) => on_the_way_in = on_the_way_in.wrapping_add(value),
            Some(Way::Out) => on_the_way_out = on_the_way_out.wrapping_add(value),
            None => {}
        }
    }
    (on_the_way_in, on_the_way_out)
}

/// Names in the kernel's `drivers/net` that count packets lost on the way in. `#` stands for a number.
const IN: &[&str] = &[
    // bcmgenet
    "rbuf_ovflow_cnt",
    "alloc_rx_buff_failed",
    "rx_dma_failed",
    "rx_fcs",
    "rx_align",
    // macb
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
    // lan78xx
    "RX FCS Errors",
    "RX Alignment Errors",
    "RX Jabber Errors",
    "RX Undersize Frame Errors",
    "RX Oversize Frame Errors",
    "RX Dropped Frames",
    // r8169
    "rx_missed",
    "align_errors",
    // stmmac
    "rx_missed_cntr",
    "mmc_rx_crc_error",
    "mmc_rx_align_error",
    "mmc_rx_fifo_overflow",
    "mmc_rx_length_error",
    "mmc_rx_watchdog_error",
    // fec
    "IEEE_rx_drop",
    "IEEE_rx_crc",
    "IEEE_rx_align",
    "IEEE_rx_macerr",
    // cpsw and am65-cpsw (rx_undersized_frames: above)
    "Rx CRC Errors",
    "Rx Align/Code Errors",
    "Oversize Rx Frames",
    "Rx Jabbers",
    "Undersize (Short) Rx Frames",
    "Rx Fragments",
    "Rx Start of Frame Overruns",
    "Rx Middle of Frame Overruns",
    "rx_align_code_errors",
    "rx_oversized_frames",
    "rx_jabber_frames",
    "ale_overrun_drop",
    "rx_bottom_fifo_drop",
    "rx_top_fifo_drop",
    // virtio_net and veth. `rx_queue_` are older names of virtio_net: see `drops`.
    "rx#_drops",
    "rx_queue_#_drops",
    "rx_queue_#_xdp_drops",
    "rx#_hw_drops",
    // mvneta
    "rx_discard",
    "rx_overrun",
    "bad_crc_event",
    "mac_receive_error",
    "skb_alloc_errors",
    // mvpp2
    "rx_fifo_or_parser_overrun_drops",
    "rxq_#_queue_full_drops",
    "rxq_#_packets_early_drops",
    "rxq_#_packets_bm_drops",
];

/// Frames that a radio gave up after all retries ([`Wireless::tx_failed`](super::Wireless::tx_failed)).
pub(super) const WIFI_TX_FAILED: &str = "wifi_tx_failed";

const OUT: &[&str] = &[
    // bcmgenet
    "tx_dma_failed",
    "tx_realloc_tsb_failed",
    "tx_late_col",
    "tx_excess_col",
    // macb
    "tx_underrun",
    "tx_excessive_collisions",
    "tx_late_collisions",
    // lan78xx
    "TX FCS Errors",
    "TX Excess Deferral Errors",
    "TX Carrier Errors",
    "TX Excessive Collision",
    "TX Late Collisions",
    // r8169 (tx_underrun: above)
    "tx_aborted",
    // stmmac
    "mmc_tx_underflow_error",
    "mmc_tx_latecol",
    "mmc_tx_exesscol",
    "mmc_tx_carrier_error",
    "mmc_tx_excessdef",
    // fec
    "IEEE_tx_macerr",
    "IEEE_tx_lcol",
    "IEEE_tx_excol",
    // cpsw and am65-cpsw
    "Excessive Collisions",
    "Late Collisions",
    "Tx Underrun",
    "tx_pri#_drop",
    // virtio_net and veth
    "tx#_hw_drops",
    "tx_queue_#_xdp_xmit_errors",
    // mvneta
    "internal_mac_transmit_err",
    "late_collision",
    // Wi-Fi: of nl80211, not of `ethtool -S`
    WIFI_TX_FAILED,
    // mvpp2
    "txq_#_queue_full_drops",
    "txq_#_packets_early_drops",
    "txq_#_packets_bm_drops",
];

/// Returns the names of all known counters of lost packets. `#` stands for a number.
pub fn loss_counters() -> impl Iterator<Item = &'static str> {
    IN.iter().chain(OUT).copied()
}

/// Returns whether a name matches the pattern, in which `#` stands for digits.
pub fn is_named(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('#') else {
        return name == pattern;
    };
    let between = name
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    between.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_passed_over() {
        assert!(is_named("rx_queue_12_drops", "rx_queue_#_drops"));
        assert!(!is_named("rx_queue__drops", "rx_queue_#_drops"));
        assert!(!is_named("rx_queue_x_drops", "rx_queue_#_drops"));
        assert!(!is_named("rx0_hw_drop_overruns", "rx#_hw_drops"));
    }

    #[test]
    fn no_name_is_of_both_ways() {
        for name in IN {
            assert!(!OUT.contains(name), "{name}");
        }
    }

    #[test]
    fn what_others_count_already_is_not_counted() {
        let statistics = [
            ("rx_dropped", 1000),
            ("rx_errors", 1000),
            ("tx_dropped", 1000),
            ("rx_no_buffer_count", 1000),
            ("some_new_errors", 1000),
            ("rbuf_ovflow_cnt", 7),
            ("rx_queue_0_drops", 20),
            ("rx_queue_1_xdp_drops", 3),
            ("Rx DMA Overruns", 1000),
            ("tx_pri3_drop", 5),
        ];
        let statistics = statistics.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(drops(&BTreeMap::from(statistics)), (30, 5));
    }

    #[test]
    fn what_xdp_drops_counts_once() {
        let of_queue = |by_driver, by_xdp| {
            let counters = [
                ("rx_queue_0_drops", by_driver),
                ("rx_queue_0_xdp_drops", by_xdp),
            ];
            let counters = counters.map(|(name, value)| (name.to_owned(), value));
            drops(&BTreeMap::from(counters)).0
        };
        assert_eq!(of_queue(20, 3), 20, "as virtio_net counts");
        assert_eq!(of_queue(0, 3), 3, "as veth counts");
    }
}
