//! A column of a CSV file: what its cells mean.

use serde_json::{Map, Number, Value};

use crate::results::export;
use crate::results::row::{self, Holds, Row};

/// A column of the file.
pub(super) struct Column {
    pub(super) name: String,
    /// Column of a row. `None`: unknown to udpbench.
    known: Option<&'static row::Column>,
}

impl Column {
    /// Returns the column of this name.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            known: row::Column::ALL.iter().find(|column| column.name == name),
        }
    }

    /// Type of the values. Columns that are unknown to udpbench hold texts.
    pub(super) fn holds(&self) -> Holds {
        self.known.map_or(Holds::Text, |column| column.holds)
    }

    /// Returns the value of a cell in the notation of udpbench. What is no number stays a text, which no number takes.
    pub(super) fn value(&self, cell: &str) -> Value {
        let number = match self.holds() {
            Holds::WholeNumbers => whole_number(cell),
            Holds::Decimals => cell.parse().ok().and_then(Number::from_f64),
            Holds::Text | Holds::Texts => None,
        };
        match (number, self.known) {
            (Some(number), _) => number.into(),
            (None, Some(column)) if cell.is_empty() && column.may_be_null => Value::Null,
            (None, _) => cell.into(),
        }
    }

    /// Returns whether a row accepts the value of a cell. serde reports a wrong value before it reports the missing other
    /// columns.
    pub(super) fn takes(&self, cell: &str) -> bool {
        let row = Map::from_iter([(self.name.clone(), self.value(cell))]);
        let error = serde_json::from_value::<Row>(row.into()).err();
        error.is_some_and(|error| error.to_string().starts_with("missing field"))
    }

    /// Returns the cell in the notation of udpbench.
    pub(super) fn plain(&self, cell: &str, mark: char) -> String {
        if self.holds().is_number() {
            cell.trim().replace(mark, ".")
        } else {
            export::csv::unguard_formula(cell).to_owned()
        }
    }
}

fn whole_number(text: &str) -> Option<Number> {
    let negative = || text.parse::<i64>().map(Number::from);
    text.parse::<u64>()
        .map(Number::from)
        .or_else(|_| negative())
        .ok()
}
