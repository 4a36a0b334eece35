//! The first sheet: measurement conditions, advice, and one chart with its numbers. Engines are bars, with a colour
//! for each payload.

use std::collections::{BTreeMap, BTreeSet};

use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartFont, ChartLegendPosition, ChartRange,
    ChartType, Format, FormatAlign, Worksheet, XlsxError,
};

use super::{cut, heading, index, write};
use crate::data::{BlockKey, Payload};
use crate::results::export::circumstances::circumstances;
use crate::results::export::table;
use crate::results::row::{Machine, Row, Status};
use crate::term::fold;

pub(super) const SHEET: &str = "Summary";

/// Paper of the printed sheets, as workbooks number it.
pub(super) const A4: u8 = 9;
/// Largest number of engines in the chart. More bars are hard to tell apart.
const MOST_ENGINES: usize = 20;
/// Largest number of series in a chart in Excel.
const MOST_SERIES: usize = 255;

/// Quantity in the chart: its name, and the columns of estimate, lower and upper bound.
struct Quantity(&'static str, [fn(&Row) -> Option<f64>; 3]);

const RECEIVED: Quantity = Quantity(
    "Received Mb/s",
    [
        |row| row.received_mbps,
        |row| row.received_mbps_low,
        |row| row.received_mbps_high,
    ],
);
const ROUND_TRIP: Quantity = Quantity(
    "Median round trip in us",
    [
        |row| row.rtt_p50_us,
        |row| row.rtt_p50_us_low,
        |row| row.rtt_p50_us_high,
    ],
);

pub(super) fn fill(
    sheet: &mut Worksheet,
    rows: &[Row],
    advice: &[String],
) -> Result<(), XlsxError> {
    let plain = Format::new();
    write(sheet, (0, 0), &"UDP socket benchmark".into(), &heading())?;
    let mut facts = circumstances(rows);
    facts.push(("cases", cases(rows)));
    let mut top = 1;
    for (name, value) in facts {
        write(sheet, (top, 0), &name.into(), &plain)?;
        write(sheet, (top, 1), &value.into(), &plain)?;
        top += 1;
    }
    for line in advice.iter().flat_map(|line| folded(line)) {
        top += 1;
        write(sheet, (top, 0), &line.into(), &plain)?;
    }
    sheet.set_column_width(0, 34)?;
    // The table and the chart stay on one page.
    sheet.set_paper_size(A4).set_print_fit_to_pages(1, 1);
    match Drawn::of(rows) {
        Some(drawn) => drawn.write(sheet, top + 2),
        None => Ok(()),
    }
}

/// Rows in the chart. They differ in engine, connection and payload only.
struct Drawn<'a> {
    title: String,
    quantity: Quantity,
    payloads: Vec<Payload>,
    engines: Vec<(String, BTreeMap<Payload, &'a Row>)>,
}

impl<'a> Drawn<'a> {
    /// Picks the largest group of rows, and its fastest engines. `None`: no case has a rate.
    fn of(rows: &'a [Row]) -> Option<Self> {
        let mut groups: BTreeMap<(Machine, BlockKey), Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.received_mbps.is_some()) {
            let all_payloads = BlockKey {
                payload: Payload::MIN,
                ..row.block()
            };
            let group = (Machine::of(row), all_payloads);
            groups.entry(group).or_default().push(row);
        }
        let rows = groups.into_values().max_by_key(Vec::len)?;
        let (first, payloads): (_, BTreeSet<Payload>) = (
            rows.first()?,
            rows.iter().map(|row| row.payload_bytes).collect(),
        );
        let quantity = if first.rtt_p50_us.is_some() {
            ROUND_TRIP
        } else {
            RECEIVED
        };
        let what = format!(
            "{}: {}, {}{}, {:.100}",
            quantity.0,
            table::threads_in_words(first),
            first.ip,
            table::unusual_in_words(first),
            Machine::of(first).to_string(),
        );
        let mut engines: BTreeMap<String, BTreeMap<Payload, &Row>> = BTreeMap::new();
        for row in rows {
            let engine = engines.entry(format!("{} {}", row.label(), row.connection));
            engine.or_default().insert(row.payload_bytes, row);
        }
        let mut engines: Vec<_> = engines.into_iter().collect();
        let speed = |rows: &BTreeMap<Payload, &Row>| {
            let speeds = rows.values().filter_map(|row| row.received_mbps);
            speeds.fold(0.0, f64::max)
        };
        engines.sort_by(|(_, one), (_, other)| speed(other).total_cmp(&speed(one)));
        engines.truncate(MOST_ENGINES);
        Some(Self {
            // A `!` could make the title look like the address of a cell.
            title: what.replace('!', " "),
            quantity,
            payloads: payloads.into_iter().take(MOST_SERIES).collect(),
            engines,
        })
    }

    /// Returns the highest bar, with its interval.
    fn highest(&self) -> f64 {
        let rows = self.engines.iter().flat_map(|(_, rows)| rows.values());
        let [middle, _, high] = self.quantity.1;
        let ends = rows.filter_map(|row| high(row).or_else(|| middle(row)));
        ends.fold(0.0, f64::max)
    }

    /// Writes one line per engine, with the estimate for each payload and the distances to the bounds of its
    /// interval. The chart goes below.
    fn write(&self, sheet: &mut Worksheet, top: usize) -> Result<(), XlsxError> {
        write(sheet, (top, 0), &self.title.as_str().into(), &heading())?;
        let number = Format::new().set_num_format("#,##0.0");
        let (first, last) = (top + 2, top + 1 + self.engines.len());
        let range = |column: usize| -> Result<ChartRange, XlsxError> {
            let column = index(column)?;
            let (first, last) = (index(first)?, index(last)?);
            Ok(ChartRange::new_from_range(
                SHEET, first, column, last, column,
            ))
        };
        for (n, (name, _)) in self.engines.iter().enumerate() {
            write(sheet, (first + n, 0), &cut(name).into(), &Format::new())?;
        }
        // LibreOffice reverses the legend of horizontal bars.
        let mut chart = Chart::new(ChartType::Column);
        for (n, payload) in self.payloads.iter().enumerate() {
            let left = 1 + 3 * n;
            let heading = heading().set_align(FormatAlign::Right);
            for (place, name) in
                (left..).zip([format!("{payload} B"), "-".to_owned(), "+".to_owned()])
            {
                write(sheet, (top + 1, place), &name.into(), &heading)?;
            }
            for (line, (_, rows)) in (first..).zip(&self.engines) {
                let [middle, low, high] = self.quantity.1;
                let Some(row) = rows.get(payload) else {
                    continue;
                };
                let reach = |from: Option<f64>, to: Option<f64>| Some(to? - from?);
                let values = [
                    middle(row),
                    reach(low(row), middle(row)),
                    reach(middle(row), high(row)),
                ];
                for (place, value) in (left..).zip(values) {
                    write(sheet, (line, place), &value.into(), &number)?;
                }
            }
            let series = chart.add_series();
            series.set_name(format!("{payload} B").as_str());
            series.set_categories(&range(0)?).set_values(&range(left)?);
            let interval = ChartErrorBarsType::Custom(range(left + 2)?, range(left + 1)?);
            series.set_y_error_bars(ChartErrorBars::new().set_type(interval));
        }
        let font = ChartFont::new().set_size(11).set_bold().clone();
        chart.title().set_name(&self.title).set_font(&font);
        chart.legend().set_position(ChartLegendPosition::Top);
        // Every engine is named.
        chart.x_axis().set_label_interval(1);
        // By itself, the axis ends where the bars do, and cuts their intervals.
        let highest = round_up(self.highest());
        chart.y_axis().set_min(0).set_max(highest);
        let bars = self.engines.len() * (1 + self.payloads.len());
        chart
            .set_height(440)
            .set_width(index(760.max(100 + 14 * bars))?);
        sheet.insert_chart(index(last + 2)?, 0, &chart)?;
        Ok(())
    }
}

/// Returns the lines of a text that is longer than the sheet is wide.
fn folded(text: &str) -> Vec<String> {
    fold::text(text, 100).lines().map(str::to_owned).collect()
}

/// Returns the next number above with at most two digits that matter, the second one 0 or 5.
fn round_up(number: f64) -> f64 {
    let step = 10_f64.powf(number.max(1.0).log10().floor()) / 2.0;
    (number / step).ceil() * step
}

/// Counts the cases by status: `12 ok, 4 skipped`.
fn cases(rows: &[Row]) -> String {
    let all = [
        Status::Ok,
        Status::Interrupted,
        Status::Failed,
        Status::Skipped,
    ];
    let counted = all.map(|status| {
        (
            rows.iter().filter(|row| row.status == status).count(),
            status,
        )
    });
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let counted = counted.map(|(count, status)| format!("{count} {status}"));
    counted.collect::<Vec<String>>().join(", ")
}
