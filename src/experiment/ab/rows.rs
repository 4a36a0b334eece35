//! Results for programs: one row per engine, part and case. `null`: unknown, or not in this kind of row.

use serde_json::{Value, json};

use super::Record;
use crate::verdict::judge::{self, Judgement};

/// Returns the rows: objects with the same keys.
pub fn rows(record: &Record, judgement: &Judgement) -> Vec<Value> {
    let shared = json!({ "rounds": record.rounds() });
    judge::rows::rows(judgement, ["a_value", "b_value"], &shared)
}
