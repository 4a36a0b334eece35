//! Where the sweep's news arrive: kept in the outputs, shown as progress.

use std::io::{self, IsTerminal};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::live::{Glyphs, Live, Screen};
use super::outputs::Outputs;
use super::pulse::Pulse;
use crate::cli::OutputArgs;
use crate::commands::{bar, say, show, width};
use crate::log::{Event, Header};
use crate::plan::Block;
use crate::row::Row;
use crate::sweep::Journal;

/// Where the sweep's news arrive.
pub(super) struct Progress {
    pub(super) outputs: Outputs,
    /// Every row so far.
    pub(super) rows: Vec<Row>,
    bar: ProgressBar,
    live: Live,
    /// The live table. `None`: there is none.
    screen: Option<Screen>,
    pulse: Pulse,
    pub(super) quiet: bool,
    shows_warnings: bool,
}

impl Progress {
    /// Of a sweep that has so many windows already.
    pub(super) fn new(outputs: Outputs, args: &OutputArgs, header: &Header, windows: u64) -> Self {
        let (quiet, shows_warnings) = (args.quiet, args.warnings);
        let schedule = &header.schedule;
        let bar = ProgressBar::new(schedule.windows(&header.plan).max(windows));
        let (screen, bar) = if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            (None, bar)
        } else {
            let (screen, bar) = Screen::new(bar);
            (Some(screen), bar)
        };
        bar.set_style(bar::style(schedule.time_per_window()));
        bar.set_position(windows);
        let pulse = Pulse::new(
            schedule.time_per_window(),
            bar.length().unwrap_or_default(),
            Instant::now(),
        );
        Self {
            outputs,
            rows: Vec::new(),
            bar,
            live: Live::new(Glyphs::of_locale()),
            screen,
            pulse,
            quiet,
            shows_warnings,
        }
    }

    /// Without an answer, nothing else would say that there are any.
    pub(super) fn show_warnings(&mut self) {
        self.shows_warnings = true;
    }

    /// How many warnings the table left out.
    pub(super) fn hidden_warnings(&self) -> usize {
        let all = self.rows.iter().map(|row| row.warnings.len()).sum();
        if self.shows_warnings { 0 } else { all }
    }

    /// Takes the progress away and shows the table that `draw` makes of all rows: with what warns in them only where
    /// that was asked for, as [`answer`](super::answer) says how much it is.
    pub(super) fn finish(&self, draw: fn(&[Row], u16) -> String) {
        self.bar.finish_and_clear();
        if let Some(screen) = &self.screen {
            screen.clear();
        }
        if self.shows_warnings {
            self.present(&draw(&self.rows, width()));
        } else {
            let without_warnings = |row: &Row| Row {
                warnings: Vec::new(),
                ..row.clone()
            };
            let rows: Vec<Row> = self.rows.iter().map(without_warnings).collect();
            self.present(&draw(&rows, width()));
        }
    }

    /// Shows something that is no row: on standard output, or where the rows go there, on a terminal.
    pub(super) fn present(&self, text: &str) {
        if self.quiet {
            return;
        }
        if !self.outputs.to_stdout {
            // A closed terminal does not change how the sweep ended.
            if let Err(error) = show(text) {
                say(&format!("the table is not shown: {error:#}"));
            }
        } else if io::stderr().is_terminal() {
            text.lines().for_each(say);
        }
    }

    fn show(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.show(&self.live);
        }
    }
}

impl Journal for Progress {
    fn doing(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn waiting(&mut self, what: &str) {
        // On a terminal the bar says it; elsewhere nothing else would.
        if self.bar.is_hidden() && !self.quiet {
            say(what);
        }
    }

    fn block(&mut self, block: &Block) {
        self.live
            .block(&block.key, block.runnable().map(|(case, _)| case));
        self.show();
    }

    fn line(&mut self, line: &Event) -> anyhow::Result<()> {
        self.outputs.line(line)?;
        if let Event::Window(window) = line {
            self.bar.inc(1);
            self.live.window(&window.sample);
            self.show();
            // On a terminal the bar says it.
            if self.bar.is_hidden() && !self.quiet {
                let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
                if let Some(line) = self.pulse.beat(Instant::now(), done, all) {
                    say(&line);
                }
            }
        }
        Ok(())
    }

    fn windows_to_come(&mut self, more: i64) {
        let length = self.bar.length().unwrap_or_default();
        self.bar.set_length(length.saturating_add_signed(more));
    }

    fn round(&mut self) -> anyhow::Result<()> {
        self.outputs.sync()
    }

    fn rows(&mut self, rows: Vec<Row>) -> anyhow::Result<()> {
        self.outputs.rows(&rows)?;
        self.rows.extend(rows);
        Ok(())
    }
}
