//! The charts, which the spreadsheet draws from a sheet of its own beside them: whoever changes a number
//! there sees it move.
//!
//! Bars, engine below engine, one colour per payload: engines are what is compared, there may be forty of
//! them, and their names are long.

use std::collections::BTreeMap;

use rust_xlsxwriter::{Worksheet, XlsxError};

use super::Formats;
use super::block::{Block, Drawing, Quantity};
use crate::data::{BlockKey, Payload};
use crate::row::Row;

pub(super) const SHEET: &str = "charts";

/// Of a row of a sheet, as spreadsheets have it.
const ROW_PX: u32 = 20;

/// What is in one chart: cases that differ in engine, connection and payload alone.
type Group<'a> = (&'a str, BlockKey);

/// Writes what the charts are drawn from, and draws them.
pub(super) fn fill(
    sheet: &mut Worksheet,
    rows: &[Row],
    formats: &Formats,
) -> Result<Vec<Drawing>, XlsxError> {
    let mut groups: BTreeMap<Group, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.received_mbps.is_some()) {
        let all_payloads = BlockKey {
            payload: Payload::MIN,
            ..row.block()
        };
        let group = (row.board.as_str(), all_payloads);
        groups.entry(group).or_default().push(row);
    }
    let mut drawings = Vec::new();
    let mut top = 0;
    for of_group in groups.values() {
        let block = Block::of(of_group, top);
        block.write(sheet, formats)?;
        drawings.push(block.draw(Quantity::Received)?);
        drawings.push(block.draw(Quantity::Cpu)?);
        top = block.below();
    }
    sheet.autofit();
    Ok(drawings)
}

/// Puts the charts below each other.
pub(super) fn place(sheet: &mut Worksheet, drawings: &[Drawing]) -> Result<(), XlsxError> {
    let mut top = 0;
    for drawing in drawings {
        sheet.insert_chart(top, 0, &drawing.chart)?;
        top += drawing.height_px.div_ceil(ROW_PX) + 1;
    }
    if drawings.is_empty() {
        sheet.write_string(0, 0, "no case has a speed")?;
    }
    // As wide as a page, and as long as it takes.
    sheet.set_print_fit_to_pages(1, 0);
    Ok(())
}
