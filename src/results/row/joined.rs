//! Values in one CSV field that are no plain texts or numbers.

use std::fmt::Display;

use serde::Serializer;

use super::Warning;
use crate::data::Case;

const SEPARATOR: &str = "; ";

pub(super) fn serialize<S: Serializer>(
    warnings: &[Warning],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = warnings.iter().map(Warning::to_string).collect();
    serializer.serialize_str(&texts.join(SEPARATOR))
}

/// Writes a text, which is empty if there is no value.
#[expect(clippy::ref_option, reason = "serde passes it so")]
pub(super) fn or_empty<S: Serializer>(
    value: &Option<impl Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_str(""),
    }
}

/// Writes a text.
pub(super) fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Writes the key of a case.
pub(super) fn key<S: Serializer>(case: &Case, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&case.key())
}
