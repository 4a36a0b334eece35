//! The first sheet: what was measured, what to use, a chart of the fastest, and all Mb/s with their intervals.

use std::collections::BTreeMap;

use rust_xlsxwriter::{Worksheet, XlsxError};

use super::block::{Block, Drawing};
use super::charts::ROW_PX;
use super::{Formats, cut, index, page, write};
use crate::data::BlockKey;
use crate::export::circumstances::circumstances;
use crate::row::{Machine, Row, Status};

pub(super) const SHEET: &str = "Summary";

/// Bars that can be told apart at a glance.
const MOST_BARS: usize = 12;
/// Of a column, in characters.
const NAME_WIDTH: u16 = 34;
const NUMBER_WIDTH: u16 = 9;
/// As many columns as are below the chart.
const LEAST_COLUMNS: u16 = 9;

/// The fastest cases of one block.
pub(super) struct Fastest<'a> {
    rows: Vec<&'a Row>,
    /// How many the block has.
    of: usize,
}

impl<'a> Fastest<'a> {
    /// Of the block with the most cases; of several the one with the largest payload, and the first of those.
    pub(super) fn of(rows: &'a [Row]) -> Option<Self> {
        let mut blocks: BTreeMap<(Machine, BlockKey), Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.received_mbps.is_some()) {
            let block = (Machine::of(row), row.block());
            blocks.entry(block).or_default().push(row);
        }
        // Of equals, max_by_key takes the last.
        let blocks = blocks.into_iter().rev();
        let (_, mut rows) = blocks.max_by_key(|((_, key), rows)| (rows.len(), key.payload))?;
        let mbps = |row: &Row| row.received_mbps.unwrap_or_default();
        rows.sort_by(|one, other| mbps(other).total_cmp(&mbps(one)));
        let of = rows.len();
        rows.truncate(MOST_BARS);
        Some(Self { rows, of })
    }

    /// What their chart is drawn from.
    pub(super) fn block(&self) -> Block<'a> {
        Block::of(&self.rows, 0)
    }

    fn caption(&self) -> String {
        let shown = self.rows.len();
        if shown < self.of {
            format!("The fastest {shown} of {} cases:", self.of)
        } else {
            "The fastest:".to_owned()
        }
    }
}

/// Fills the sheet from the top down.
pub(super) struct Summary<'a> {
    sheet: &'a mut Worksheet,
    formats: &'a Formats,
    /// The last column.
    last: u16,
    /// The row that is next.
    row: u32,
}

impl<'a> Summary<'a> {
    /// With tables of these blocks below.
    pub(super) fn new(
        sheet: &'a mut Worksheet,
        blocks: &[Block],
        formats: &'a Formats,
    ) -> Result<Self, XlsxError> {
        let payloads = blocks.iter().map(|block| block.payloads.len());
        let last = index(payloads.max().unwrap_or(0) * VALUES.len())?;
        let last = LEAST_COLUMNS.max(last);
        sheet.set_column_width(0, NAME_WIDTH)?;
        sheet.set_column_range_width(1, last, NUMBER_WIDTH)?;
        Ok(Self {
            sheet,
            formats,
            last,
            row: 0,
        })
    }

    /// Says what was measured, and what follows.
    pub(super) fn head(&mut self, rows: &[Row], advice: &[String]) -> Result<(), XlsxError> {
        let title = &self.formats.title;
        self.sheet
            .write_string_with_format(0, 0, "UDP socket benchmark", title)?;
        self.row = 1;
        let mut facts = circumstances(rows);
        facts.push(("cases", cases(rows)));
        for (name, value) in facts {
            let (header, plain) = (&self.formats.header, &self.formats.plain);
            write(self.sheet, (self.row, 0), &name.into(), header)?;
            write(self.sheet, (self.row, 1), &value.into(), plain)?;
            self.row += 1;
        }
        self.row += 1;
        for line in advice {
            self.paragraph(line)?;
        }
        Ok(())
    }

    /// A text over the whole width.
    fn paragraph(&mut self, text: &str) -> Result<(), XlsxError> {
        let text = cut(text);
        let width = NAME_WIDTH + self.last * NUMBER_WIDTH;
        // A proportional font takes less than the width of a digit for most letters.
        let lines = text.chars().count().div_ceil(width.into()).max(1);
        let (row, last) = (self.row, self.last);
        let format = &self.formats.paragraph;
        self.sheet.merge_range(row, 0, row, last, text, format)?;
        let height = index(lines * ROW_PX as usize)?;
        self.sheet.set_row_height_pixels(row, height)?;
        self.row += 1;
        Ok(())
    }

    /// Draws the fastest.
    pub(super) fn chart(&mut self, fastest: &Fastest, drawing: &Drawing) -> Result<(), XlsxError> {
        self.row += 1;
        let caption = fastest.caption().into();
        write(self.sheet, (self.row, 0), &caption, &self.formats.plain)?;
        self.sheet.insert_chart(self.row + 1, 0, &drawing.chart)?;
        self.row += 2 + drawing.height_px.div_ceil(ROW_PX);
        Ok(())
    }

    /// A line per engine: for each payload Mb/s and their interval.
    pub(super) fn table(&mut self, block: &Block) -> Result<(), XlsxError> {
        self.row += 1;
        let title = format!("Received Mb/s: {}", block.title).into();
        write(self.sheet, (self.row, 0), &title, &self.formats.header)?;
        self.row += 1;
        for (n, payload) in block.payloads.iter().enumerate() {
            let names = [format!("{payload} B"), "low".to_owned(), "high".to_owned()];
            for (place, name) in (1 + n * names.len()..).zip(names) {
                let place = (self.row, index(place)?);
                write(self.sheet, place, &name.into(), &self.formats.heading)?;
            }
        }
        for line in &block.lines {
            self.row += 1;
            let name = line.name.as_str().into();
            write(self.sheet, (self.row, 0), &name, &self.formats.plain)?;
            for (n, payload) in block.payloads.iter().enumerate() {
                let Some(row) = line.rows.get(payload) else {
                    continue;
                };
                for (place, value) in (1 + n * VALUES.len()..).zip(VALUES) {
                    let place = (self.row, index(place)?);
                    write(self.sheet, place, &value(row).into(), &self.formats.number)?;
                }
            }
        }
        self.row += 1;
        Ok(())
    }

    /// Sets how it is printed.
    pub(super) fn finish(self) -> Result<(), XlsxError> {
        page(self.sheet);
        self.sheet.set_print_area(0, 0, self.row, self.last)?;
        self.sheet.set_repeat_rows(0, 0)?;
        Ok(())
    }
}

/// Of each payload.
const VALUES: [fn(&Row) -> Option<f64>; 3] = [
    |row| row.received_mbps,
    |row| row.received_mbps_low,
    |row| row.received_mbps_high,
];

/// `12 ok, 4 skipped`.
fn cases(rows: &[Row]) -> String {
    let all = [
        Status::Ok,
        Status::Interrupted,
        Status::Failed,
        Status::Skipped,
    ];
    let counted = all.map(|status| {
        let of_it = rows.iter().filter(|row| row.status == status);
        (of_it.count(), status)
    });
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let counted = counted.map(|(count, status)| format!("{count} {status}"));
    counted.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::ordinary_row;

    #[test]
    fn the_chart_has_the_fastest_of_the_largest_block() {
        let rows: Vec<Row> = (0..20_u32)
            .map(|n| Row {
                received_mbps: Some(f64::from(n)),
                // Blocks of seven, seven and six cases: of the largest, the last.
                payload_bytes: [100, 300, 900][n as usize * 3 / 21]
                    .try_into()
                    .expect("in range"),
                ..ordinary_row()
            })
            .collect();
        let fastest = Fastest::of(&rows).expect("there are some");
        let mbps = |row: &&Row| row.received_mbps.unwrap_or_default();
        let mbps: Vec<f64> = fastest.rows.iter().map(mbps).collect();
        assert_eq!(mbps, [13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0]);
        assert_eq!(fastest.caption(), "The fastest:");
        let many = vec![ordinary_row(); MOST_BARS + 1];
        let fastest = Fastest::of(&many).expect("there are some");
        assert_eq!(fastest.rows.len(), MOST_BARS);
        assert_eq!(fastest.caption(), "The fastest 12 of 13 cases:");
    }

    #[test]
    fn cases_are_counted_by_what_became_of_them() {
        let skipped = Row {
            status: Status::Skipped,
            ..ordinary_row()
        };
        let rows = [ordinary_row(), skipped, ordinary_row()];
        assert_eq!(cases(&rows), "2 ok, 1 skipped");
    }
}
