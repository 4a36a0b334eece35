//! Reads JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses a value of any type, by way of [`Value`]. Parsing the text directly would be sooner, but the compiler would
/// make that code for each type a second time: 0.3 MB of the program.
///
/// # Errors
/// Fails if the text is no JSON, which names the column, or another value.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice::<Value>(text).and_then(serde_json::from_value)
}
