//! Reads JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses a value of any type, by way of [`Value`]. Parsing the text directly is faster, but compiles the code of each
/// type a second time, which is 0.3 MB.
///
/// # Errors
/// Fails if the text is not JSON (the error names the column) or not such a value.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice::<Value>(text).and_then(serde_json::from_value)
}
