//! Warnings about radios at the ends of a path.

use crate::data::Sample;
use crate::sys::nic::Wireless;

/// Smallest change of the bit rate between windows that makes them hard to compare, as a factor.
const CHANGED: f64 = 1.25;

/// Returns the warnings about the radios of both ends. Empty if they have none.
pub(super) fn warnings(samples: &[Sample]) -> Vec<String> {
    // The two directions of a case have the same two machines, so one is enough.
    let paths = samples.iter().filter_map(|sample| sample.paths.first());
    let (senders, receivers): (Vec<_>, Vec<_>) = paths
        .map(|path| (path.radio_at_sender, path.radio_at_receiver))
        .unzip();
    let mut warnings = Vec::new();
    for (end, radios) in [("sender", senders), ("receiver", receivers)] {
        let radios: Vec<Wireless> = radios.into_iter().flatten().collect();
        warnings.extend(saves_power(end, &radios));
        warnings.extend(changed(end, &radios));
    }
    warnings
}

fn saves_power(end: &str, radios: &[Wireless]) -> Option<String> {
    let saves = radios.iter().any(|radio| radio.power_save == Some(true));
    saves.then(|| {
        format!(
            "the {end}'s radio saves power: it sleeps between beacons, for up to 102 ms each; off with iw dev NIC set \
             power_save off there"
        )
    })
}

/// Returns a warning if the radio changed its channel or its bit rate between windows.
fn changed(end: &str, radios: &[Wireless]) -> Option<String> {
    let (slowest, fastest) = range(radios.iter().map(|radio| radio.tx_kbps))?;
    let (first, last) = range(radios.iter().map(|radio| radio.frequency_mhz)).unwrap_or((0, 0));
    let is_steady = f64::from(fastest) < CHANGED * f64::from(slowest);
    if is_steady && first == last {
        return None;
    }
    let mbps = |kbps: u32| format!("{:.1}", f64::from(kbps) / 1e3);
    let signals = radios.iter().map(|radio| radio.signal_dbm);
    let signal = range(signals).map_or_else(String::new, |(weakest, strongest)| {
        format!(", its signal from {weakest} to {strongest} dBm")
    });
    let channels = if first == last {
        String::new()
    } else {
        format!(", its channel from {first} to {last} MHz")
    };
    Some(format!(
        "the {end}'s radio changed between windows: its bit rate went from {} to {} Mb/s{signal}{channels}",
        mbps(slowest),
        mbps(fastest)
    ))
}

/// Returns the lowest and the highest of the known values.
fn range<T: Copy + Ord>(values: impl Iterator<Item = Option<T>>) -> Option<(T, T)> {
    let known: Vec<T> = values.flatten().collect();
    Some((*known.iter().min()?, *known.iter().max()?))
}
