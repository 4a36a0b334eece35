//! The sheet about the machine: what one has to know to believe the numbers.

use rust_xlsxwriter::{Worksheet, XlsxError};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Formats, index, page, write};
use crate::export::circumstances::first_start;
use crate::export::table;
use crate::row::{Environment, Row};

/// What is longer does not make its column wider.
const WIDEST_PX: u16 = 700;

/// A line per fact, with a cell for each value where several machines' rows are in one file; then the remarks.
pub(super) fn fill(
    sheet: &mut Worksheet,
    rows: &[Row],
    formats: &Formats,
) -> Result<(), XlsxError> {
    let all: Vec<Map<String, Value>> = rows.iter().map(fields).collect();
    // The columns whose values are the same in all rows of a run.
    let shared = fields(&Environment::default());
    let shared = shared.keys().map(String::as_str);
    let facts = shared.map(|name| (name, distinct(&all, name)));
    // What is no column.
    let facts = facts.filter(|(name, _)| all.iter().any(|row| row.contains_key(*name)));
    // The columns of the other host, where there is one.
    let names = all.first().into_iter().flat_map(Map::keys);
    let there = names
        .map(String::as_str)
        .filter(|name| name.starts_with("there"));
    let there = there.map(|name| (name, distinct(&all, name)));
    let facts = facts.chain(there.filter(|(_, values)| !values.is_empty()));
    // Each row has its own.
    let started = (
        "started_at",
        first_start(rows).map(Value::from).into_iter().collect(),
    );
    let mut line = 0;
    for (name, values) in facts.chain([started]) {
        write(sheet, (line, 0), &name.into(), &formats.header)?;
        for (n, value) in values.iter().enumerate() {
            write(sheet, (line, index(1 + n)?), value, &formats.left)?;
        }
        line += 1;
    }
    remarks(sheet, rows, line + 1, formats)?;
    sheet.autofit_to_max_width(WIDEST_PX);
    page(sheet);
    Ok(())
}

fn fields(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn distinct(all: &[Map<String, Value>], name: &str) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for value in all.iter().filter_map(|fields| fields.get(name)) {
        let says = !value.is_null() && value != "";
        if says && !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

fn remarks(
    sheet: &mut Worksheet,
    rows: &[Row],
    mut line: u32,
    formats: &Formats,
) -> Result<(), XlsxError> {
    for (column, name) in ["remark", "what", "cases"].into_iter().enumerate() {
        write(sheet, (line, index(column)?), &name.into(), &formats.header)?;
    }
    for ((kind, what), count) in table::remarks(rows) {
        line += 1;
        write(sheet, (line, 0), &kind.into(), &formats.plain)?;
        write(sheet, (line, 1), &what.into(), &formats.plain)?;
        write(sheet, (line, 2), &count.into(), &formats.plain)?;
    }
    Ok(())
}
