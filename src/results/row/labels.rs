//! What people call a row.

use super::Row;
use crate::data::{BlockKey, Case, EngineName, Sharing, SharingKind};

impl Row {
    /// What tells the row from those beside it, but for the connection: see [`Case::label`].
    pub fn label(&self) -> String {
        let case = self.case_between(&self.sender, &self.receiver);
        case.map_or_else(
            || format!("{}>{}", self.sender, self.receiver),
            |case| case.label(),
        )
    }

    /// What it is held side by side with.
    ///
    /// # Panics
    /// Never: its columns are those of a case.
    pub fn block(&self) -> BlockKey {
        let std = EngineName::REFERENCE;
        let case = self.case_between(std.as_str(), std.as_str());
        case.expect("columns of a case").block()
    }

    /// Its case, if it was between these engines: its columns, and what its key says besides them. `None`: these are
    /// no names of engines.
    fn case_between(&self, sender: &str, receiver: &str) -> Option<Case> {
        let columns = format!(
            "{sender}:{receiver}/{}t/{}B/{}/{}",
            self.threads, self.payload_bytes, self.connection, self.ip
        );
        let besides = self.case.splitn(6, '/').nth(5);
        let whole = besides.and_then(|besides| Case::of_key(&format!("{columns}/{besides}")));
        whole.or_else(|| Case::of_key(&columns))
    }

    /// How many windows its estimates are made of.
    pub fn counted_windows(&self) -> usize {
        usize::try_from(self.rounds).unwrap_or(usize::MAX)
    }

    /// Whether the program was built for finding faults, which is slower.
    pub fn is_debug(&self) -> bool {
        self.version.ends_with("-debug")
    }

    /// How several receivers shared the port. `None`: there was one.
    pub fn sharing(&self) -> Option<Sharing> {
        Some(match self.sharing? {
            SharingKind::Reuseport => Sharing::Reuseport(self.spread.unwrap_or_default()),
            SharingKind::Reuseaddr => Sharing::Reuseaddr,
            SharingKind::Separate => Sharing::Separate,
        })
    }

    /// Whether half of each of its intervals is at most so many percent of its estimate. One that has no
    /// interval is as narrow as it gets; one around 0 is not.
    pub fn is_narrow(&self, half_width_pct: f64) -> bool {
        let is_narrow = |middle: Option<f64>, low: Option<f64>, high: Option<f64>| {
            let is_wide = || Some(50.0 * (high? - low?) > half_width_pct * middle?);
            !is_wide().unwrap_or(false)
        };
        is_narrow(
            self.received_pps,
            self.received_pps_low,
            self.received_pps_high,
        ) && is_narrow(
            self.ratio_to_std,
            self.ratio_to_std_low,
            self.ratio_to_std_high,
        ) && is_narrow(self.rtt_p50_us, self.rtt_p50_us_low, self.rtt_p50_us_high)
    }

    /// The place between two hosts at which most of what did not arrive was lost, and its share of that in percent.
    /// `None`: all is on one host, or nothing was lost.
    pub fn lost_at(&self) -> Option<(&'static str, f64)> {
        self.direction?;
        let places = [
            ("kernel out", self.dropped_kernel_out_packets),
            ("qdisc", self.dropped_qdisc_packets),
            ("NIC out", self.dropped_nic_out_packets),
            ("path", self.lost_on_path_packets),
            ("NIC in", self.dropped_nic_in_packets),
            ("backlog", self.dropped_backlog_packets),
            ("kernel in", self.dropped_kernel_in_packets),
            ("protocol", self.dropped_protocol_packets),
            ("socket", self.dropped_socket_packets),
        ];
        let all: u64 = places.iter().filter_map(|(_, lost)| *lost).sum();
        let (place, lost) = places.into_iter().max_by_key(|(_, lost)| *lost)?;
        let lost = lost.filter(|&lost| lost > 0)?;
        Some((place, 100.0 * lost as f64 / all as f64))
    }

    /// Whether it is the row that the others of its block are held against.
    pub fn is_reference(&self) -> bool {
        let case = self.case_between(&self.sender, &self.receiver);
        case.is_some_and(|case| case.is_reference())
    }
}
