//! The charts, which the spreadsheet draws from a sheet of its own beside them: whoever changes a number
//! there sees it move.
//!
//! Bars, engine below engine, one colour per payload: engines are what is compared, there may be forty of
//! them, and their names are long.

use std::collections::BTreeMap;

use rust_xlsxwriter::{Worksheet, XlsxError};

use super::block::{Block, Drawing, Quantity};
use super::{index, page};
use crate::data::{BlockKey, Payload};
use crate::row::{Machine, Row};

pub(super) const SHEET: &str = "charts";

/// Of a row of a sheet, as spreadsheets have it.
pub(super) const ROW_PX: u32 = 20;

/// What is in one chart: cases that differ in engine, connection and payload alone.
type Group = (Machine, BlockKey);

/// What is in each chart, from the row `top` of the sheet on.
pub(super) fn blocks(rows: &[Row], mut top: usize) -> Vec<Block<'_>> {
    let mut groups: BTreeMap<Group, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.received_mbps.is_some()) {
        let all_payloads = BlockKey {
            payload: Payload::MIN,
            ..row.block()
        };
        let group = (Machine::of(row), all_payloads);
        groups.entry(group).or_default().push(row);
    }
    let blocks = groups.values().map(|rows| {
        let block = Block::of(rows, top);
        top = block.below();
        block
    });
    blocks.collect()
}

/// Draws them.
pub(super) fn draw(blocks: &[Block]) -> Result<Vec<Drawing>, XlsxError> {
    let both = [Quantity::Received, Quantity::Cpu];
    let drawings = blocks
        .iter()
        .flat_map(|block| both.map(|quantity| block.draw(quantity)));
    drawings.collect()
}

/// Puts the charts below each other, no smaller than they have to be for a page each.
pub(super) fn place(sheet: &mut Worksheet, drawings: &[Drawing]) -> Result<(), XlsxError> {
    let heights = drawings
        .iter()
        .map(|drawing| drawing.height_px.div_ceil(ROW_PX) + 1);
    let tallest = heights.clone().max().unwrap_or(1);
    let scale = (LARGEST_SCALE * ROWS_PER_PAGE / tallest).clamp(SMALLEST_SCALE, LARGEST_SCALE);
    let rows_per_page = ROWS_PER_PAGE * LARGEST_SCALE / scale;
    let (mut top, mut page_top) = (0, 0);
    let mut breaks = Vec::new();
    for (drawing, height) in drawings.iter().zip(heights) {
        if top + height > page_top + rows_per_page && top > page_top {
            breaks.push(top);
            page_top = top;
        }
        sheet.insert_chart(top, 0, &drawing.chart)?;
        top += height;
    }
    if drawings.is_empty() {
        sheet.write_string(0, 0, "no case has a speed")?;
    }
    page(sheet);
    // Not to the width of a page: Excel would take no notice of where a page ends.
    sheet.set_portrait().set_print_scale(index(scale as usize)?);
    sheet.set_page_breaks(&breaks)?;
    Ok(())
}

/// In percent: a chart is then less wide than a page, A4 or Letter, also where a font makes columns wider.
const LARGEST_SCALE: u32 = 70;
const SMALLEST_SCALE: u32 = 40;
/// That a page of either has at the largest.
const ROWS_PER_PAGE: u32 = 62;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row_of_a_wire;

    #[test]
    fn wires_to_different_boards_are_in_different_charts() {
        let wire = row_of_a_wire();
        let other = Row {
            there_board: "rpi-5".to_owned(),
            ..wire.clone()
        };
        assert_eq!(blocks(&[wire.clone(), other, wire], 0).len(), 2);
    }
}
