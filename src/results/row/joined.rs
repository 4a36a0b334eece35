//! Several texts in one CSV field.

use serde::{Deserialize, Deserializer, Serializer};

const SEPARATOR: &str = "; ";

pub(super) fn serialize<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&texts.join(SEPARATOR))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let texts = text.split(SEPARATOR).filter(|text| !text.is_empty());
    Ok(texts.map(str::to_owned).collect())
}
