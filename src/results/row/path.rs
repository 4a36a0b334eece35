//! What happened to datagrams on their way between two hosts: counters by name, and warnings.

use std::collections::BTreeMap;

use super::derived::summed;
use super::input::safe;
use super::{CaseWarning, RowInput, derived};
use crate::data::{CLOSED_PORTS, DirectionCounts, Sample};
use crate::host::check::cause;
use crate::sys::loss_places::by_name;
use crate::sys::nic::{Way, Wireless, way};

/// Returns the warnings about the path. Empty on one host.
pub(super) fn warnings(input: &RowInput) -> Vec<CaseWarning> {
    let samples = input.samples;
    let mut warnings = Vec::new();
    warnings.extend(links_that_changed(samples));
    warnings.extend(surplus(input));
    warnings.extend(losses_of_others(samples));
    warnings.extend(damaged_frames(samples));
    warnings.extend(lost_in_driver(samples));
    warnings.extend(places_before_sockets(input));
    warnings.extend(radios(samples));
    let verified = input.verified.filter(|_| input.case.direction.is_some());
    let how = verified.and_then(|found| found.done_on_the_way());
    warnings.extend(how.map(|how| CaseWarning::PathReorders { how }));
    warnings
}

fn links_that_changed(samples: &[Sample]) -> Option<CaseWarning> {
    let mut faults = samples.iter().filter_map(Sample::link_fault);
    let fault = faults.next()?;
    Some(CaseWarning::LinkChanged {
        fault,
        changed: 1 + faults.count(),
        windows: samples.len(),
    })
}

/// Returns a warning if more datagrams were received than sent. Each duplicate may hide a lost one.
fn surplus(input: &RowInput) -> Option<CaseWarning> {
    let accounting = derived::total_accounting(input.samples);
    let packets = accounting.places.surplus;
    let loss_pct = derived::loss_pct(accounting).filter(|_| packets > 0)?;
    let is_told_apart = input.verified.is_some_and(|found| found.missing.is_some());
    Some(CaseWarning::Surplus {
        packets,
        loss_pct,
        can_be_told_apart: !is_told_apart && !input.case.is_rr(),
    })
}

/// Packets of other traffic per run that are negligible: ARP, neighbour discovery, ssh.
const FEW: u64 = 20;

/// Returns warnings about counters that other traffic moved or may have moved, although losses of the case are
/// attributed to them.
fn losses_of_others(samples: &[Sample]) -> Vec<CaseWarning> {
    let mut places: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let paths = samples.iter().flat_map(|sample| &sample.paths);
    // Such a counter may count a train of any length as one drop.
    for path in paths.filter(|path| !path.drops_may_be_trains) {
        for shared in path.shared_counters() {
            let sums = places.entry(shared.place).or_default();
            *sums = (sums.0 + shared.counted, sums.1 + shared.taken);
        }
    }
    let mut warnings = Vec::new();
    for (place, (counted, taken)) in places {
        if taken == 0 {
            continue;
        }
        if place == CLOSED_PORTS {
            warnings.push(CaseWarning::ClosedPorts { taken });
        } else if counted - taken > (taken / 100).max(FEW * samples.len() as u64) {
            warnings.push(CaseWarning::OtherTraffic {
                place: place.to_owned(),
                counted,
                taken,
            });
        }
    }
    warnings
}

/// Parts of the names of counters of damaged frames, which a bad cable causes.
const DAMAGED: [&str; 6] = [
    "crc",
    "fcs",
    "align",
    "symbol",
    "frame_errors",
    "frame_check",
];

/// Returns the counter of interfaces that moved most of those that `is_one` picks by end and name: its end, its name
/// and the packets. Several counters may count the same packets.
fn most_moved(
    samples: &[Sample],
    is_one: impl Fn(&str, &str) -> bool,
) -> Option<((&str, &str), u64)> {
    let counters = by_end(samples, |path| [&path.nic_at_receiver, &path.nic_at_sender]).into_iter();
    let picked = counters.filter(|((end, name), _)| is_one(end, name));
    picked.max_by_key(|(_, packets)| *packets)
}

/// Returns a warning that names where the receiver's host lost packets, if datagrams were lost meanwhile.
fn places_before_sockets(input: &RowInput) -> Option<CaseWarning> {
    let paths = paths(input.samples);
    let places = summed(paths.flat_map(|path| &path.places_at_receiver));
    let places = places.into_iter();
    let places = places.map(|(place, packets)| (place.clone(), packets));
    let accounting = derived::total_accounting(input.samples);
    let lost = accounting.sent.saturating_sub(accounting.received);
    let few = FEW * input.samples.len() as u64;
    let is_few = |packets: u64| packets <= few.min(lost / 100);
    let lost_at = by_name(&places.collect()).into_iter();
    let each = lost_at.filter(|(place, packets)| {
        // What is for nobody here comes every day.
        let is_usual = place.is_common && *packets <= few && 2 * packets < lost;
        !is_few(*packets) && !is_usual
    });
    let places: Vec<String> = each
        .map(|(place, packets)| {
            format!(
                "{} {packets} ({})",
                place.what,
                place.next_at("NIC").replace("; ", ", ")
            )
        })
        .collect();
    (lost > 0 && !places.is_empty()).then_some(CaseWarning::DroppedBeforeSockets { places })
}

fn damaged_frames(samples: &[Sample]) -> Option<CaseWarning> {
    let ((end, name), frames) = most_moved(samples, |_, name| is_damage(name))?;
    Some(CaseWarning::DamagedFrames {
        end: end.to_owned(),
        counter: name.to_owned(),
        frames,
    })
}

/// Returns a warning about packets that a driver lost on the way of the datagrams, by its own counters, with the
/// reason.
fn lost_in_driver(samples: &[Sample]) -> Option<CaseWarning> {
    let is_on_the_way = |end: &str, name: &str| match way(None, name) {
        Some(Way::In) => end == "receiver" && !is_damage(name),
        Some(Way::Out) => end == "sender",
        None => false,
    };
    let ((end, name), packets) = most_moved(samples, is_on_the_way)?;
    // Logs do not have the driver, and the counters of several have this name.
    let unknown = "what it counts depends on the driver";
    let means = cause(None, name).map_or(unknown, |cause| &cause.means);
    Some(CaseWarning::LostInDriver {
        end: end.to_owned(),
        counter: name.to_owned(),
        packets,
        means: means.to_owned(),
    })
}

fn is_damage(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.starts_with("tx") && DAMAGED.iter().any(|word| name.contains(word))
}

/// Smallest change of the bit rate between windows that makes them hard to compare, as a factor.
const CHANGED: f64 = 1.25;

/// Returns the warnings about the radios of both ends. Empty if they have none.
fn radios(samples: &[Sample]) -> Vec<CaseWarning> {
    let radios = paths(samples).map(|path| (path.radio_at_sender, path.radio_at_receiver));
    let (senders, receivers): (Vec<_>, Vec<_>) = radios.unzip();
    let mut warnings = Vec::new();
    for (end, radios) in [("sender", senders), ("receiver", receivers)] {
        let radios: Vec<Wireless> = radios.into_iter().flatten().collect();
        if radios.iter().any(|radio| radio.power_save == Some(true)) {
            warnings.push(CaseWarning::RadioSavesPower {
                end: end.to_owned(),
            });
        }
        warnings.extend(changed(end, &radios));
    }
    warnings
}

/// Returns a warning if the radio changed its channel or its bit rate between windows.
fn changed(end: &str, radios: &[Wireless]) -> Option<CaseWarning> {
    let kbps = range(radios.iter().map(|radio| radio.tx_kbps))?;
    let channel_mhz = range(radios.iter().map(|radio| radio.frequency_mhz));
    let channel_mhz = channel_mhz.filter(|(first, last)| first != last);
    let is_steady = f64::from(kbps.1) < CHANGED * f64::from(kbps.0);
    if is_steady && channel_mhz.is_none() {
        return None;
    }
    Some(CaseWarning::RadioChanged {
        end: end.to_owned(),
        kbps,
        signal_dbm: range(radios.iter().map(|radio| radio.signal_dbm)),
        channel_mhz,
    })
}

/// Returns the lowest and the highest of the known values.
fn range<T: Copy + Ord>(values: impl Iterator<Item = Option<T>>) -> Option<(T, T)> {
    let known: Vec<T> = values.flatten().collect();
    Some((*known.iter().min()?, *known.iter().max()?))
}

/// Returns the kernels' reasons for dropped packets in all windows: `sender: QDISC_DROP 112; receiver: NO_SOCKET 6`.
/// Empty: not requested, or nothing dropped.
pub(super) fn drop_reasons(samples: &[Sample]) -> String {
    in_words(&by_end(samples, |path| {
        [&path.reasons_at_receiver, &path.reasons_at_sender]
    }))
}

/// Returns the counters of lost packets at both interfaces in all windows: `receiver: rx_missed_errors 112`. Empty:
/// none moved.
pub(super) fn counters_of_nics(samples: &[Sample]) -> String {
    in_words(&by_end(samples, |path| {
        [&path.nic_at_receiver, &path.nic_at_sender]
    }))
}

/// Ends of a path.
const ENDS: [&str; 2] = ["receiver", "sender"];

/// Sums of counters in all windows, by the end and their name.
type Counters<'a> = BTreeMap<(&'static str, &'a str), u64>;

/// Sums up the counters of each of [`ENDS`].
fn by_end(
    samples: &[Sample],
    counters: fn(&DirectionCounts) -> [&BTreeMap<String, u64>; 2],
) -> Counters<'_> {
    summed(paths(samples).flat_map(move |path| {
        let ends = ENDS.into_iter().zip(counters(path));
        ends.flat_map(|(end, named)| {
            let named = named.iter();
            named.map(move |(name, packets)| ((end, name.as_str()), packets))
        })
    }))
}

fn in_words(counters: &Counters) -> String {
    let ends = ENDS.into_iter().rev().filter_map(|end| {
        let own = counters.iter().filter(|((at, _), _)| *at == end);
        let words = own.map(|((_, name), packets)| format!("{name} {packets}"));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("{end}: {}", words.join(", ")))
    });
    safe(&ends.collect::<Vec<_>>().join("; "))
}

/// Returns the path of each window. The two directions of a case have the same two machines, so one is enough.
fn paths(samples: &[Sample]) -> impl Iterator<Item = &DirectionCounts> {
    samples.iter().filter_map(|sample| sample.paths.first())
}
