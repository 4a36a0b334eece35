//! Receives the events and rows of an experiment, writes them to the output files and shows progress.

use std::io::{self, IsTerminal};
use std::time::Instant;

use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) use super::live::text_line;
use super::live::{Live, Screen};
use super::outputs::Outputs;
use super::pulse::Pulse;
use super::time_left::TimeLeft;
use crate::cli::OutputArgs;
use crate::commands::{say, show, width};
use crate::plan::Plan;
use crate::results::export::table;
use crate::results::log::{Event, Header};
use crate::results::row::Row;
use crate::session::{Journal, Work};

/// Destination of an experiment's events and rows: the output files and the progress display.
pub(crate) struct Progress {
    pub(crate) outputs: Outputs,
    /// Rows so far.
    pub(crate) rows: Vec<Row>,
    bar: ProgressBar,
    time_left: TimeLeft,
    /// The live display, which only sweeps have.
    sweep: Option<Seen>,
    pub(crate) quiet: bool,
    shows_warnings: bool,
}

/// Live display of a sweep.
struct Seen {
    plan: Plan,
    live: Live,
    screen: Screen,
    pulse: Pulse,
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
            time_left: TimeLeft::new(work, Instant::now()),
            sweep: None,
            quiet,
            shows_warnings: true,
        }
    }

    /// Returns the progress of a sweep, with a live display unless `--quiet`.
    pub(crate) fn of_sweep(
        outputs: Outputs,
        args: &OutputArgs,
        header: &Header,
        work: Work,
    ) -> Self {
        let mut progress = Self::new(outputs, args.quiet, work);
        progress.shows_warnings = args.warnings;
        if !args.quiet {
            let (screen, bar) = Screen::new(progress.bar);
            progress.bar = bar;
            progress.sweep = Some(Seen {
                plan: header.plan.clone(),
                live: Live::default(),
                screen,
                pulse: Pulse::new(work, Instant::now()),
            });
        }
        progress
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
        if let Some(seen) = &self.sweep {
            seen.screen.clear();
        }
        self.shows_warnings |= !is_complete;
    }

    /// Shows the table of all rows. Warnings in it are left out unless `--warnings` was given. The
    /// answer gives their number.
    pub(crate) fn show_rows(&self) {
        if self.shows_warnings {
            return self.present(&table::draw(&self.rows, width()));
        }
        let without_warnings = |row: &Row| Row {
            warnings: Vec::new(),
            ..row.clone()
        };
        let rows: Vec<Row> = self.rows.iter().map(without_warnings).collect();
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

    fn begin_block(&mut self, block: usize) {
        if let Some(Seen {
            plan, live, screen, ..
        }) = &mut self.sweep
        {
            let block = &plan.blocks[block];
            live.block(&block.key, block.runnable().map(|(case, _)| case));
            screen.show(live);
        }
    }

    fn record_event(&mut self, event: &Event, work: Work) -> anyhow::Result<()> {
        self.outputs.event(event)?;
        let now = Instant::now();
        let left = self.time_left.learn(work, now);
        self.bar.set_length(work.all);
        self.bar.set_position(work.done);
        self.bar
            .set_prefix(format!("{} left", FormattedDuration(left)));
        if let (Event::Window(window), Some(seen)) = (event, &mut self.sweep) {
            seen.live.window(&window.sample);
            seen.screen.show(&seen.live);
            // On a terminal the bar shows it.
            if self.bar.is_hidden() {
                if let Some(line) = seen.pulse.beat(now, work, left) {
                    say(&line);
                }
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
