//! The ranking for people, at most 100 columns wide.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets};

use super::estimate::Reading;
use super::measure::{By, Measure, Unit};
use super::over_all::OverAll;
use super::{BoardRanking, Place, Ranking, Setting, Standing};
use crate::export::table::WIDTH;

/// What is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// By what.
    pub by: By,
    /// How many engines of a setting; over all, it is all of them.
    pub top: usize,
}

/// Draws each machine's ranking, and what follows from it.
pub fn draw(ranking: &Ranking, view: View) -> String {
    let boards = ranking.boards.iter().map(|board| of_board(board, view));
    boards.collect::<Vec<String>>().join("\n")
}

/// What the columns say.
pub(crate) const LEGEND: &str = "
speed: datagrams received per second; CPU: CPU time per datagram received; both relative to std on
connected sockets in the same rounds (kpps, CPU ns: absolute, where std was not measured). Sorted by
value. Place: 1 + the number of engines that are surely better, held against each other round by
round (each pair at 5 %), so engines that cannot be told apart share a place; none (-) without an
interval. Over all: geometric mean over the settings that all listed engines have; loss %: in the
worst of them.
";

fn of_board(board: &BoardRanking, view: View) -> String {
    let rows = counted(board.rows, "row");
    let settings = counted(board.settings.len(), "setting");
    let heading = format!("== {}: {rows} in {settings}", board.machine);
    let mut text = format!("{}\n", cut(&heading, usize::from(WIDTH)));
    let layout = Layout::of(board);
    if !board.settings.is_empty() {
        text += &layout.header();
    }
    for ranking in &board.settings {
        let _ = writeln!(text, "-- {}", heading_of(&ranking.setting, board));
        let standings = ranking.standings.iter();
        for standing in standings.filter(|one| view.by.includes(one.measure)) {
            text += &layout.standing(standing, view.top);
        }
    }
    for over_all in board
        .over_all
        .iter()
        .filter(|one| view.by.includes(one.standing.measure))
    {
        let OverAll { settings, of, .. } = over_all;
        let by = match over_all.standing.measure {
            Measure::Speed => "speed",
            Measure::Cpu => "CPU time",
        };
        let _ = writeln!(
            text,
            "-- over all, by {by}: {settings} of {}",
            counted(*of, "setting")
        );
        text += &layout.standing(&over_all.standing, usize::MAX);
        text += &left_out(over_all);
    }
    if !board.settings.is_empty() {
        text += LEGEND;
    }
    for remark in &board.remarks {
        text += &wrapped("remark", remark);
    }
    text + &wrapped("->", &board.recommendation(view.by))
}

/// The setting; what was granted only where that is what tells it from another.
pub(crate) fn heading_of(setting: &Setting, board: &BoardRanking) -> String {
    let alike =
        |other: &Setting| (other.block, other.connection) == (setting.block, setting.connection);
    let settings = board.settings.iter().map(|ranking| &ranking.setting);
    let mut heading = format!("{}, {}", setting.block, setting.connection);
    if settings.filter(|other| alike(other)).count() > 1 {
        let bytes = |bytes: Option<u64>| {
            bytes.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string())
        };
        let (rcvbuf, sndbuf) = setting.granted;
        let _ = write!(heading, ", granted {} and {}", bytes(rcvbuf), bytes(sndbuf));
    }
    heading
}

/// How wide the columns are.
struct Layout {
    engine: usize,
}

impl Layout {
    fn of(board: &BoardRanking) -> Self {
        let in_settings = board.settings.iter().flat_map(|ranking| &ranking.standings);
        let standings = in_settings.chain(board.over_all.iter().map(|one| &one.standing));
        let labels = standings.flat_map(|standing| &standing.places);
        let longest = labels.map(|place| place.engine.chars().count()).max();
        Self {
            engine: longest.unwrap_or(0).clamp("engine".len(), MAX_LABEL),
        }
    }

    fn header(&self) -> String {
        let width = self.engine;
        format!(
            "        place  {:width$}  {:>9}  {:^21}  loss %\n",
            "engine", "value", "95 % interval"
        )
    }

    fn standing(&self, standing: &Standing, top: usize) -> String {
        let mut text = String::new();
        for (n, place) in standing.places.iter().take(top).enumerate() {
            let measure = if n == 0 { standing.name() } else { "" };
            let _ = writeln!(
                text,
                "{measure:<8}{}",
                self.line(standing, place).trim_end()
            );
        }
        let hidden = standing.places.iter().skip(top);
        let tied = hidden.clone().filter(|place| place.is_first()).count();
        let more = hidden.count();
        if more > 0 {
            let tied = match tied {
                0 => String::new(),
                tied => format!(", {tied} of them also on place 1"),
            };
            let _ = writeln!(text, "{:15}and {more} more{tied}", "");
        }
        text
    }

    fn line(&self, standing: &Standing, place: &Place) -> String {
        let width = self.engine;
        let interval = place.reading.interval();
        let interval = interval.map(|(low, high)| {
            format!(
                "{:>9} to {:>8}",
                standing.figure(low, &place.reading),
                standing.figure(high, &place.reading)
            )
        });
        let loss_pct = place.loss_pct.map(|loss_pct| format!("{loss_pct:.2}"));
        format!(
            "{:>5}  {:width$}  {:>9}  {:>21}  {:>6}",
            place
                .place
                .map_or_else(|| "-".to_owned(), |place| place.to_string()),
            cut(&place.engine, MAX_LABEL),
            standing.figure(place.reading.value(), &place.reading),
            interval.unwrap_or_default(),
            loss_pct.unwrap_or_default()
        )
    }
}

/// The longest label that leaves the table within 100 columns.
const MAX_LABEL: usize = 42;

impl Standing {
    fn name(&self) -> &'static str {
        match (self.measure, self.unit) {
            (Measure::Speed, Unit::TimesStd) => "speed",
            (Measure::Speed, Unit::Absolute) => "kpps",
            (Measure::Cpu, Unit::TimesStd) => "CPU",
            (Measure::Cpu, Unit::Absolute) => "CPU ns",
        }
    }

    /// A value as people read it, with the digits that the interval of `reading` allows: a ratio, thousands of
    /// datagrams per second, or nanoseconds.
    pub(crate) fn figure(&self, value: f64, reading: &Reading) -> String {
        let (unit, most) = match (self.unit, self.measure) {
            (Unit::TimesStd, _) => (1.0, 3),
            (Unit::Absolute, Measure::Speed) => (1000.0, 1),
            (Unit::Absolute, Measure::Cpu) => (1.0, 0),
        };
        let value = value / unit;
        let half = reading
            .interval()
            .map(|(low, high)| (high - low) / 2.0 / unit);
        let decimals = half.map_or(most, |half| decimals(half).min(most));
        match value {
            _ if value < 1e4 => format!("{value:.decimals$}"),
            _ if value < 1e6 => format!("{value:.0}"),
            _ => format!("{value:.1e}"),
        }
    }
}

/// So many that the first digit of half an interval shows, but one at least.
fn decimals(half_width: f64) -> usize {
    match half_width {
        _ if half_width >= 0.1 => 1,
        _ if half_width >= 0.01 => 2,
        _ => 3,
    }
}

fn left_out(over_all: &OverAll) -> String {
    if over_all.left_out.is_empty() {
        return String::new();
    }
    let engines = over_all.left_out.iter();
    let engines = engines.map(|(engine, settings)| format!("{engine} ({settings})"));
    let engines = engines.collect::<Vec<String>>().join(", ");
    wrapped(
        "",
        &format!("not ranked over all, too few settings: {engines}"),
    )
}

/// `1 case`, `2 cases`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        format!("{:.1$}...", text, most - 3)
    }
}

/// A remark with its kind before it, and as many lines as it takes.
fn wrapped(kind: &str, what: &str) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .add_row([&format!("{kind:<6}"), what]);
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}
