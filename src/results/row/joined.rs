//! Several texts in one CSV field.

use serde::Serializer;

const SEPARATOR: &str = "; ";

pub(super) fn serialize<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&texts.join(SEPARATOR))
}
