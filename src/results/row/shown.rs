//! Rows for display on a terminal.

use csv::StringRecord;
use serde_json::Value;

use super::Row;
use crate::term::escape;

impl Row {
    /// Returns the row with line breaks and control characters escaped in every text: see [`escape`]. For display;
    /// files have the original texts.
    #[must_use]
    pub fn shown(&self) -> Self {
        // Go through the columns, so that none is forgotten. Read them like those of a CSV, because a JSON reader
        // for this many columns adds 68 kB to the program.
        let Ok(Value::Object(columns)) = serde_json::to_value(self) else {
            return self.clone();
        };
        let names: StringRecord = columns.keys().collect();
        let fields: StringRecord = columns.values().map(shown).collect();
        let warnings = self.warnings.iter().map(|text| escape::line(text).into());
        let warnings: Vec<String> = warnings.collect();
        match fields.deserialize::<Self>(Some(&names)) {
            Ok(row) => Self { warnings, ..row },
            Err(_) => self.clone(),
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escape::line(text).into_owned(),
        number => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn every_text_of_a_row_is_shown_without_what_steers_a_terminal() {
        let steering = "a\u{1b}[2J\nb\u{202e}";
        let text = serde_json::to_string(
            &Row {
                case: steering.to_owned(),
                reason: steering.to_owned(),
                model: steering.to_owned(),
                version: steering.to_owned(),
                warnings: vec![steering.to_owned(), "one; not two".to_owned()],
                ..ordinary_row()
            }
            .shown(),
        );
        let text = text.expect("it has a shape");
        assert!(
            !text.contains(['\u{1b}', '\u{202e}']) && !text.contains(r"\u001b"),
            "{text}"
        );
        assert_eq!(text.matches("{202e}").count(), 5, "{text}");
    }

    #[test]
    fn a_row_that_steers_nothing_is_shown_as_it_is() {
        let row = Row {
            warnings: vec!["one; not two".to_owned(), "µ".to_owned()],
            cv_pct: Some(0.1 + 0.2),
            ..ordinary_row()
        };
        assert_eq!(row.shown(), row);
    }
}
