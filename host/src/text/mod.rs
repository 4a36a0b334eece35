//! Text to and from people: digits, units, lists of CPUs, names that were probably meant, text files, sentences with
//! data, templates.

pub mod cpu_list;
pub mod digits;
pub mod duration;
pub mod nearest;
pub mod number;
mod sentences;
pub mod text_file;

use serde_json::Value;

pub use self::sentences::sentences;

/// Replaces `{NAME}` in a template by the value of this name, and `{NAME.FIELD}` by a field of it.
pub(crate) fn fill(template: &str, values: &Value) -> String {
    let mut parts = template.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for (path, rest) in parts.filter_map(|part| part.split_once('}')) {
        let value = path.split('.').fold(values, |value, key| &value[key]);
        filled += &value.as_str().map_or(value.to_string(), str::to_owned);
        filled += rest;
    }
    filled
}
