//! Whether a window can be kept as it is.

use anyhow::anyhow;

use super::NoSample;
use crate::data::{Sample, Traits};
use crate::log::Expected;

/// A window with impossible counts is an error: a reader would refuse the whole file.
pub(crate) fn possible(
    measured: Result<Sample, NoSample>,
    expected: Expected,
) -> Result<Sample, NoSample> {
    let sample = measured?;
    match expected.contradiction(&sample) {
        None => Ok(sample),
        Some(contradiction) => Err(NoSample::Failed(anyhow!(
            "impossible counts: {contradiction}"
        ))),
    }
}

/// Why a window is to be measured again, if it is: one bad window on a busy machine must not fail its case.
/// A receiver that is known to starve would do so again.
pub(crate) fn fault(receiver: &Traits, measured: &Result<Sample, NoSample>) -> Option<String> {
    match measured {
        Ok(sample) => {
            let is_expected = sample.books.unread > 0 && receiver.starves.is_some();
            sample.fault().filter(|_| !is_expected)
        }
        Err(NoSample::Failed(error)) => Some(format!("{error:#}")),
        Err(NoSample::Interrupted) => None,
    }
}
