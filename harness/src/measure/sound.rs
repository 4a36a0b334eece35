//! Whether a window can be kept as it is.

use anyhow::anyhow;

use super::NoSample;
use crate::data::Sample;
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
