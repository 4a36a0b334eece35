//! Busy polling in a row: what polled, and whether there was anything to poll.

use super::CaseWarning;
use crate::data::{BusyPolled, Sample};

/// Returns what was found in all windows together. `None`: nothing was to poll.
fn all(samples: &[Sample]) -> Option<BusyPolled> {
    let found = samples
        .iter()
        .filter_map(|sample| sample.busy_polled.clone());
    found.reduce(|mut all, one| {
        all.add(&one);
        all
    })
}

/// Returns the names of what polled, `+`-joined.
pub(super) fn by(samples: &[Sample]) -> String {
    let by = all(samples).unwrap_or_default().by;
    let names: Vec<String> = by.iter().map(ToString::to_string).collect();
    names.join("+")
}

/// Returns the share of the receiving sockets that had a NAPI, in percent.
pub(super) fn napi_pct(samples: &[Sample]) -> Option<f64> {
    let found = all(samples).filter(|found| found.sockets > 0)?;
    Some(100.0 * f64::from(found.napi_sockets) / f64::from(found.sockets))
}

/// Returns a warning if busy polling had no effect.
pub(super) fn no_effect(samples: &[Sample]) -> Option<CaseWarning> {
    let found = all(samples)?;
    if found.by.is_empty() {
        return Some(CaseWarning::BusyPollUndone);
    }
    (found.napi_sockets == 0).then_some(CaseWarning::NothingToPoll)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PolledBy;
    use crate::results::row::tests::window;

    #[test]
    fn a_row_says_what_polled_and_whether_that_had_an_effect() {
        let polled = |by: &[PolledBy], napi_sockets| Sample {
            busy_polled: Some(BusyPolled {
                by: by.iter().copied().collect(),
                sockets: 2,
                napi_sockets,
            }),
            ..window(1)
        };
        let both = [PolledBy::Epoll, PolledBy::Socket];
        let half = [polled(&both, 2), polled(&both, 0)];
        assert_eq!(
            (by(&half), napi_pct(&half)),
            ("socket+epoll".to_owned(), Some(50.0))
        );
        assert_eq!(no_effect(&half), None);
        let loopback = [polled(&both, 0)];
        assert_eq!(no_effect(&loopback), Some(CaseWarning::NothingToPoll));
        let undone = [polled(&[], 2)];
        assert_eq!(no_effect(&undone), Some(CaseWarning::BusyPollUndone));
        let off = [window(1)];
        assert_eq!(
            (by(&off), napi_pct(&off), no_effect(&off)),
            (String::new(), None, None)
        );
    }
}
