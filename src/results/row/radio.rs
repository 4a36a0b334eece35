//! Warnings about radios at the ends of a path.

use super::CaseWarning;
use super::counters_by_name::paths;
use crate::data::Sample;
use crate::sys::nic::Wireless;

/// Smallest change of the bit rate between windows that makes them hard to compare, as a factor.
const CHANGED: f64 = 1.25;

/// Returns the warnings about the radios of both ends. Empty if they have none.
pub(super) fn warnings(samples: &[Sample]) -> Vec<CaseWarning> {
    let radios = paths(samples).map(|path| (path.radio_at_sender, path.radio_at_receiver));
    let (senders, receivers): (Vec<_>, Vec<_>) = radios.unzip();
    let mut warnings = Vec::new();
    for (end, radios) in [("sender", senders), ("receiver", receivers)] {
        let radios: Vec<Wireless> = radios.into_iter().flatten().collect();
        warnings.extend(saves_power(end, &radios));
        warnings.extend(changed(end, &radios));
    }
    warnings
}

fn saves_power(end: &str, radios: &[Wireless]) -> Option<CaseWarning> {
    let saves = radios.iter().any(|radio| radio.power_save == Some(true));
    saves.then(|| CaseWarning::RadioSavesPower {
        end: end.to_owned(),
    })
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
