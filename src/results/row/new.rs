//! Makes rows.

use super::computed::Computed;
use super::{Environment, Machine, Row, RowInput};
use crate::data::Case;

impl Row {
    /// Computes a row.
    pub fn new(input: &RowInput, environment: &Environment) -> Self {
        let mut row = Self::of(&Computed::new(input, environment));
        row.machine_id = Machine::of(&row).to_string();
        row
    }

    /// Returns the row that follows from a case alone. Columns that need more are empty.
    pub fn of_case(case: &Case) -> Self {
        let input = RowInput::skipped(case, String::new());
        Self {
            machine_id: String::new(),
            ..Self::new(&input, &Environment::default())
        }
    }
}
