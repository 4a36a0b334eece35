//! Several texts in one CSV field.

use serde::Serializer;

use super::Warning;

const SEPARATOR: &str = "; ";

pub(super) fn serialize<S: Serializer>(
    warnings: &[Warning],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = warnings.iter().map(Warning::to_string).collect();
    serializer.serialize_str(&texts.join(SEPARATOR))
}
