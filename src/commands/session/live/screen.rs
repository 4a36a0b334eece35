//! Shows the live table below the progress bar, if standard error is a terminal.

use std::time::{Duration, Instant};

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Live;

/// The part of the terminal that is redrawn.
///
/// Nothing draws by itself: a window is measured while the main thread sleeps, and drawing would disturb it. So call
/// [`Screen::show`] between windows, and let no bar tick.
#[derive(Debug)]
pub(crate) struct Screen {
    all: MultiProgress,
    /// A bar whose message is the whole table. With a bar for each line, the lines would be drawn one by one and the
    /// last ones late: indicatif draws 20 times a second at most.
    table: ProgressBar,
    shown_at: Option<Instant>,
}

impl Screen {
    /// Returns a screen on standard error, below `progress`.
    pub(crate) fn new(progress: ProgressBar) -> (Self, ProgressBar) {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let progress = all.add(progress);
        let screen = Self {
            table: all.add(text_line()),
            all,
            shown_at: None,
        };
        (screen, progress)
    }

    /// Draws the table, unless it was drawn within [`PERIOD`] or is hidden.
    pub(crate) fn show(&mut self, live: &Live) {
        let is_fresh = |shown_at: Instant| shown_at.elapsed() < PERIOD;
        if self.all.is_hidden() || self.shown_at.is_some_and(is_fresh) {
            return;
        }
        // Read each time, since the terminal may be resized.
        let (height, width) = Term::stderr().size();
        let lines = live.draw(width, height.saturating_sub(ROWS_OF_OTHERS));
        self.table.set_message(lines.join("\n"));
        self.shown_at = Some(Instant::now());
    }

    /// Removes the table and the bar.
    pub(crate) fn clear(&self) {
        self.table.finish_and_clear();
        let _ = self.all.clear();
    }
}

/// Returns a bar that is only its message.
pub(crate) fn text_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}");
    ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

/// Shortest time between two drawings.
const PERIOD: Duration = Duration::from_millis(100);

/// Lines of the progress bar and of the cursor.
const ROWS_OF_OTHERS: u16 = 2;
