//! Load that clients put on their servers, where round trips were measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{CaseWarning, Row, Status, Warning};
use crate::data::{Arrivals, BlockKey, Connection, Outstanding, Workload};
use crate::plan::LOADS_PCT;

/// Load at which a row has round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Each client waits for its response before it sends the next request.
    Alone,
    /// A share of the rate of this engine, in percent: `latency` chose it.
    Share(u8),
    /// A given rate, which is in the block.
    Rate,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => f.write_str("alone"),
            Self::Share(pct) => write!(f, "{pct} %"),
            Self::Rate => f.write_str("given rate"),
        }
    }
}

/// Values that the rows of a block at any rate have in common.
type Block = (BlockKey, Connection, u32);
/// Values that the rows of an engine at several rates have in common.
type Series = (Block, Option<Arrivals>, String);

impl Load {
    /// Returns the load of each row of one machine. `None`: the row is measured by its throughput. That is every row
    /// of other workloads; clients that think, or have several requests outstanding; and blocks with ratios to std but
    /// without given rates.
    pub fn of_rows(rows: &[&Row]) -> Vec<Option<Self>> {
        let mut rates: BTreeMap<Series, BTreeSet<u32>> = BTreeMap::new();
        let mut with_ratios = BTreeSet::new();
        for row in rows.iter().filter(|row| row.workload == Workload::Rr) {
            let own = series(row);
            if let Some(rate) = row.target_pps {
                rates.entry(own).or_default().insert(rate.into());
            } else if row.status == Status::Ok && row.ratio_to_std.is_some() {
                with_ratios.insert(own.0);
            }
        }
        let load = |row: &&Row| match row.target_pps {
            _ if row.workload != Workload::Rr => None,
            Some(rate) => Some(at_rate(&series(row), rate.into(), &rates)),
            None => {
                let waits = row.outstanding.unwrap_or(Outstanding::DEFAULT) == Outstanding::DEFAULT
                    && row.think_time.is_none();
                let block = series(row).0;
                let has_rates = rates.keys().any(|(other, ..)| *other == block);
                (waits && (has_rates || !with_ratios.contains(&block))).then_some(Self::Alone)
            }
        };
        rows.iter().map(load).collect()
    }
}

/// Returns the share of the engine's rate if all its rates are in the proportions of [`LOADS_PCT`], and other engines
/// of the run had other rates. Engines that were all given the same rates were not loaded by a share of theirs.
fn at_rate(own: &Series, rate: u32, rates: &BTreeMap<Series, BTreeSet<u32>>) -> Load {
    let of_engine = &rates[own];
    let is_beside = |(block, arrivals, _): &&Series| (block, arrivals) == (&own.0, &own.1);
    let mut beside = rates.keys().filter(is_beside);
    let are_given = beside.clone().count() > 1 && beside.all(|one| rates[one] == *of_engine);
    let nth = shares(of_engine).filter(|_| !are_given).and_then(|shares| {
        let nth = of_engine.iter().position(|one| *one == rate)?;
        shares.get(nth).copied()
    });
    nth.map_or(Load::Rate, Load::Share)
}

/// Returns the shares of these rates in percent, if there is a rate of which they are [`LOADS_PCT`], but for rounding.
fn shares(rates: &BTreeSet<u32>) -> Option<[u8; LOADS_PCT.len()]> {
    let lowest = f64::from(*rates.first()?);
    let is_share = |(rate, pct): (&u32, &f64)| {
        let times = pct / LOADS_PCT[0];
        // Each of the two rates was rounded.
        (f64::from(*rate) - times * lowest).abs() <= f64::midpoint(times, 1.0)
    };
    let are_all = rates.len() == LOADS_PCT.len() && rates.iter().zip(&LOADS_PCT).all(is_share);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole percentages"
    )]
    are_all.then(|| LOADS_PCT.map(|pct| pct as u8))
}

fn series(row: &Row) -> Series {
    let key = row.block();
    let block = BlockKey {
        rate: None,
        arrivals: None,
        ..key
    };
    let block = (block, row.connection, row.seed);
    (block, key.arrivals, row.label())
}

impl Row {
    /// Returns whether this row is of the same case as another one, at a higher rate, and has round trips. If the other
    /// one seems overloaded, something disturbed its measurement.
    pub fn kept_up_above(&self, other: &Self) -> bool {
        self.target_pps > other.target_pps
            && self.rtt_p50_us.is_some()
            && series(self) == series(other)
    }

    /// Returns how many of the requests at a given rate got a response, in percent, if so few did that the row has no
    /// round trips. `None`: they kept up, there were too few requests to tell, or there is no given rate.
    pub fn answered_of_overload_pct(&self) -> Option<f64> {
        /// Requests from which on there is a median.
        const ENOUGH: u64 = 20;
        let asked = f64::from(u32::from(self.target_pps?));
        let is_mute =
            self.workload == Workload::Rr && self.status == Status::Ok && self.rtt_p50_us.is_none();
        let warned = self.warnings.iter().find_map(|warning| match warning {
            Warning::Case(
                CaseWarning::AboveCapacity { answered_rps, .. }
                | CaseWarning::RequestsLost { answered_rps, .. },
            ) => Some(*answered_rps),
            _ => None,
        });
        let answered = warned.or(self.received_pps).filter(|pps| pps.is_finite());
        let answered = answered.filter(|_| is_mute)? / asked;
        let counted = self.answered_requests.zip(self.unanswered_requests);
        let is_known = counted.is_some_and(|(answered, without)| answered + without >= ENOUGH);
        (is_known || answered < 0.98).then_some(100.0 * answered.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(rates: [u32; 3]) -> Option<[u8; 3]> {
        shares(&rates.into())
    }

    #[test]
    fn rates_are_shares_but_for_rounding() {
        assert_eq!(rates([1234, 6170, 11_106]), Some([10, 50, 90]));
        assert_eq!(rates([1234, 6173, 11_111]), Some([10, 50, 90]));
        assert_eq!(rates([1234, 6174, 11_106]), None);
        assert_eq!(rates([1000, 2000, 3000]), None);
        assert_eq!(shares(&[1000, 5000].into()), None);
        assert_eq!(shares(&BTreeSet::new()), None);
    }
}
