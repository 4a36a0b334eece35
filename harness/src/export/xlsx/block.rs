//! One block of the charts' data, and the charts of it.

use std::collections::{BTreeMap, BTreeSet};

use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartFont, ChartLegendPosition, ChartRange,
    ChartType, Worksheet, XlsxError,
};

use super::{Formats, index, write};
use crate::data::Payload;
use crate::export::table;
use crate::row::Row;

/// The sheet that it is in.
pub(super) const SHEET: &str = "chart data";

/// A chart, and the space that it takes.
pub(super) struct Drawing {
    pub(super) chart: Chart,
    pub(super) height_px: u32,
}

/// What is drawn.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    Received,
    Cpu,
}

/// A title, a header, and a line per engine: its name, then a column per payload of received Mb/s, of how far
/// their intervals reach below and above, and of CPU time per datagram.
pub(super) struct Block<'a> {
    pub(super) title: String,
    pub(super) payloads: Vec<Payload>,
    pub(super) lines: Vec<Line<'a>>,
    top: usize,
}

/// An engine, and its row of each payload.
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) rows: BTreeMap<Payload, &'a Row>,
}

type Column = (&'static str, fn(&Row) -> Option<f64>);

const RECEIVED: usize = 0;
const BELOW: usize = 1;
const ABOVE: usize = 2;
const CPU: usize = 3;
const COLUMNS: [Column; 4] = [
    ("Mb/s", |row| row.received_mbps),
    ("Mb/s below", |row| {
        Some(row.received_mbps? - row.received_mbps_low?)
    }),
    ("Mb/s above", |row| {
        Some(row.received_mbps_high? - row.received_mbps?)
    }),
    ("CPU ns", |row| row.cpu_ns_per_packet),
];

impl<'a> Block<'a> {
    /// Of these rows, from the sheet's row `top` on, counted from 0.
    pub(super) fn of(rows: &[&'a Row], top: usize) -> Self {
        let payloads: BTreeSet<Payload> = rows.iter().map(|row| row.payload_bytes).collect();
        let mut lines: Vec<Line> = Vec::new();
        for row in rows {
            let name = format!("{} {}", row.label(), row.connection);
            let payload = row.payload_bytes;
            // A case may be there twice, when two runs were merged.
            let fits = |line: &&mut Line| line.name == name && !line.rows.contains_key(&payload);
            if let Some(line) = lines.iter_mut().find(fits) {
                line.rows.insert(payload, row);
            } else {
                let rows = BTreeMap::from([(payload, *row)]);
                lines.push(Line { name, rows });
            }
        }
        Self {
            title: rows.first().map(|row| title(row)).unwrap_or_default(),
            payloads: payloads.into_iter().collect(),
            lines,
            top,
        }
    }

    /// The row from which on there is space again: one stays free.
    pub(super) fn below(&self) -> usize {
        self.first() + self.lines.len() + 1
    }

    pub(super) fn write(&self, sheet: &mut Worksheet, formats: &Formats) -> Result<(), XlsxError> {
        let header = &formats.header;
        let title = self.title.as_str().into();
        write(sheet, (index(self.top)?, 0), &title, header)?;
        for (n, line) in self.lines.iter().enumerate() {
            let place = (index(self.first() + n)?, 0);
            write(sheet, place, &line.name.as_str().into(), &formats.plain)?;
        }
        for (kind, (what, value)) in COLUMNS.into_iter().enumerate() {
            for (n, payload) in self.payloads.iter().enumerate() {
                let column = self.column(kind, n)?;
                let name = format!("{what}, {payload} B").into();
                write(sheet, (index(self.top + 1)?, column), &name, header)?;
                for (m, line) in self.lines.iter().enumerate() {
                    let value = line.rows.get(payload).and_then(|row| value(row)).into();
                    let place = (index(self.first() + m)?, column);
                    write(sheet, place, &value, &formats.number)?;
                }
            }
        }
        Ok(())
    }

    /// Draws one quantity.
    pub(super) fn draw(&self, quantity: Quantity) -> Result<Drawing, XlsxError> {
        let (kind, what) = match quantity {
            Quantity::Received => (RECEIVED, "Received Mb/s"),
            Quantity::Cpu => (CPU, "CPU ns per datagram received"),
        };
        let bars = self.lines.len() * self.payloads.len();
        let height_px = 150 + index::<u32>(14 * bars + 6 * self.lines.len())?;
        // With a `!` in it, it could be taken for the address of a cell.
        let title = format!("{what}: {}", self.title).replace('!', " ");
        let mut chart = Chart::new(ChartType::Bar);
        chart.set_width(WIDTH_PX).set_height(height_px);
        chart.set_alt_text(format!("{title}. The numbers are in the sheet {SHEET}."));
        chart
            .title()
            .set_name(&title)
            .set_font(ChartFont::new().set_size(12));
        chart.legend().set_position(ChartLegendPosition::Top);
        // The first line on top, as in the sheet.
        chart.y_axis().set_reverse();
        chart.x_axis().set_num_format("#,##0");
        for (n, payload) in self.payloads.iter().enumerate().take(MOST_SERIES) {
            let series = chart.add_series();
            series.set_name(format!("{payload} B").as_str());
            series.set_categories(&self.range(0)?);
            series.set_values(&self.range(self.column(kind, n)?)?);
            if matches!(quantity, Quantity::Received) {
                let above = self.range(self.column(ABOVE, n)?)?;
                let below = self.range(self.column(BELOW, n)?)?;
                let intervals = ChartErrorBarsType::Custom(above, below);
                // Bars lie: x is along them.
                series.set_x_error_bars(ChartErrorBars::new().set_type(intervals));
            }
        }
        Ok(Drawing { chart, height_px })
    }

    /// The first row with numbers.
    fn first(&self) -> usize {
        self.top + 2
    }

    fn column(&self, kind: usize, payload: usize) -> Result<u16, XlsxError> {
        index(1 + kind * self.payloads.len() + payload)
    }

    fn range(&self, column: u16) -> Result<ChartRange, XlsxError> {
        let (first, last) = (self.first(), self.first() + self.lines.len() - 1);
        let (first, last) = (index(first)?, index(last)?);
        Ok(ChartRange::new_from_range(
            SHEET, first, column, last, column,
        ))
    }
}

const WIDTH_PX: u32 = 760;

/// Of a chart, as Excel has it.
const MOST_SERIES: usize = 255;

/// Short enough for what describes a chart, which spreadsheets end after 255 characters.
fn title(row: &Row) -> String {
    let boards = match row.there_board.as_str() {
        "" => row.board.clone(),
        there => format!("{} to {there}", row.board),
    };
    format!(
        "{}, {}{}, {boards:.60}",
        table::threads_in_words(row),
        row.ip,
        table::unusual_in_words(row),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{ordinary_row, row_of_a_wire};

    #[test]
    fn a_chart_of_a_wire_names_both_boards() {
        assert_eq!(
            title(&row_of_a_wire()),
            "2 threads, v4, direction up, generic to rpi-4b"
        );
    }

    #[test]
    fn a_line_is_an_engine_and_no_row_is_lost() {
        let other = Row {
            payload_bytes: 26.try_into().expect("in range"),
            ..ordinary_row()
        };
        let twice = other.clone();
        let (first, other, twice) = (ordinary_row(), other, twice);
        let block = Block::of(&[&first, &other, &twice], 5);
        assert_eq!(block.payloads.len(), 2);
        let rows: Vec<usize> = block.lines.iter().map(|line| line.rows.len()).collect();
        assert_eq!(rows, [2, 1]);
        assert_eq!((block.first(), block.below()), (7, 10));
    }
}
