//! Receives the events and rows of an experiment, writes them to the output files and shows progress.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::outputs::Outputs;
use crate::cli::OutputArgs;
use crate::commands::about;
use crate::results::export::table;
use crate::results::log::Event;
use crate::results::row::Row;
use crate::session::{Journal, Work};
use crate::term::output::{say, show, width};

/// Shortest time between two progress lines where there is no terminal.
const LEAST: Duration = Duration::from_secs(10);
/// Upper limit of these lines per sweep.
const MOST_LINES: u32 = 20;

/// Destination of an experiment's events and rows: the output files and the progress display.
///
/// Nothing draws by itself: a window is measured while the main thread sleeps, and drawing would disturb it.
pub(crate) struct Progress {
    pub(crate) outputs: Outputs,
    /// Rows so far.
    pub(crate) rows: Vec<Row>,
    bar: ProgressBar,
    /// Time and parts when the first new part began.
    begun: (Instant, u64),
    /// Time between two progress lines where there is no terminal, which only sweeps have, and when the last one came.
    pulse: Option<(Duration, Instant)>,
    pub(crate) quiet: bool,
    shows_warnings: bool,
}

impl Progress {
    /// Returns the progress of an experiment of which `work.done` windows are measured.
    pub(crate) fn new(outputs: Outputs, quiet: bool, work: Work) -> Self {
        let bar = ProgressBar::new(work.all);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = "{wide_bar} {percent:>3} % {prefix:>13}  {msg:36!}";
        bar.set_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_position(work.done);
        Self {
            outputs,
            rows: Vec::new(),
            bar,
            begun: (Instant::now(), work.done),
            pulse: None,
            quiet,
            shows_warnings: true,
        }
    }

    /// Returns the progress of a sweep.
    pub(crate) fn of_sweep(outputs: Outputs, args: &OutputArgs, work: Work) -> Self {
        let windows = u32::try_from(work.all).unwrap_or(u32::MAX);
        let all = work.each.saturating_mul(windows);
        let every = LEAST.max(all / MOST_LINES);
        Self {
            shows_warnings: args.warnings,
            pulse: (!args.quiet).then(|| (every, Instant::now())),
            ..Self::new(outputs, args.quiet, work)
        }
    }

    /// Returns the time left: by the model, then by the time that parts have taken, with slow processes, repeated
    /// trials and cool-downs.
    fn time_left(&mut self, work: Work) -> Duration {
        if work.done == self.begun.1 {
            // Heating up and the first cool-down are no part.
            self.begun.0 = Instant::now();
        }
        let (since, before) = self.begun;
        let each = match work.done.saturating_sub(before) {
            0 => work.each.as_secs_f64(),
            parts => since.elapsed().as_secs_f64() / parts as f64,
        };
        let left = each * work.all.saturating_sub(work.done) as f64;
        Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX)
    }

    /// Returns the number of warnings that the table leaves out.
    pub(crate) fn hidden_warnings(&self) -> usize {
        let all = self.rows.iter().map(|row| row.warnings.len()).sum();
        if self.shows_warnings { 0 } else { all }
    }

    /// Removes the progress display. For an incomplete experiment the table shows the warnings, since no answer follows
    /// that would count them.
    pub(super) fn clear(&mut self, is_complete: bool) {
        self.bar.finish_and_clear();
        self.shows_warnings |= !is_complete;
    }

    /// Shows the table of all rows. Warnings in it are left out unless `--warnings` was given. The
    /// answer gives their number.
    pub(crate) fn show_rows(&self) {
        let mut rows = self.rows.clone();
        if !self.shows_warnings {
            for row in &mut rows {
                row.warnings.clear();
            }
        }
        self.present(&table::draw(&rows, width()));
    }

    /// Shows text that is no row: on standard output, or on standard error if rows go to standard output and standard
    /// error is a terminal.
    pub(crate) fn present(&self, text: &str) {
        if self.quiet {
            return;
        }
        if !self.outputs.to_stdout {
            // A closed terminal must not change the outcome of the sweep.
            if let Err(error) = show(text) {
                say(&format!("the table is not shown: {error:#}"));
            }
        } else if io::stderr().is_terminal() {
            text.lines().for_each(say);
        }
    }
}

impl Journal for Progress {
    fn show_step(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn show_wait(&mut self, what: &str) {
        // On a terminal the bar shows it. Elsewhere nothing else would.
        if self.bar.is_hidden() && !self.quiet {
            say(what);
        }
    }

    fn record_event(&mut self, event: &Event, work: Work) -> anyhow::Result<()> {
        self.outputs.event(event)?;
        let left = self.time_left(work);
        self.bar.set_length(work.all);
        self.bar.set_position(work.done);
        self.bar
            .set_prefix(format!("{} left", FormattedDuration(left)));
        // On a terminal the bar shows it.
        let pulse = self.pulse.as_mut().filter(|_| self.bar.is_hidden());
        if let (Some((every, last)), Event::Window(_)) = (pulse, event) {
            if last.elapsed() >= *every && work.done < work.all {
                *last = Instant::now();
                let percent = 100 * work.done / work.all;
                say(&format!("{percent} % measured, {} left", about(left)));
            }
        }
        Ok(())
    }

    fn record_rows(&mut self, rows: Vec<Row>) -> anyhow::Result<()> {
        self.outputs.rows(&rows)?;
        self.rows.extend(rows);
        Ok(())
    }

    fn sync(&mut self) -> anyhow::Result<()> {
        self.outputs.sync()
    }
}
