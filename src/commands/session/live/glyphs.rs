//! Bars and sparklines drawn with characters.

use std::env;

/// Character set of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyphs {
    /// Unicode block elements, in steps of an eighth of a cell.
    Unicode,
    /// ASCII, which every terminal and serial console shows.
    Ascii,
}

impl Glyphs {
    /// Chooses by the locale: the first of LC_ALL, LC_CTYPE and LANG that is set counts (setlocale(3)).
    pub(crate) fn of_locale() -> Self {
        let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        Self::of(&locale.unwrap_or_default())
    }

    fn of(locale: &str) -> Self {
        let charset = locale.to_ascii_lowercase().replace('-', "");
        if charset.contains("utf8") {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    pub(super) fn plus_minus(self) -> &'static str {
        match self {
            Self::Unicode => "\u{b1}",
            Self::Ascii => "+-",
        }
    }

    /// Draws a bar that fills the fraction `part` (0 to 1) of `cells` cells.
    pub(super) fn bar(self, part: f64, cells: usize) -> String {
        let steps = self.steps();
        let per_cell = steps.len();
        let most = cells * per_cell;
        let filled = nearest(part * most as f64, most);
        let full = steps.last().copied().unwrap_or(' ');
        let mut bar = full.to_string().repeat(filled / per_cell);
        bar.extend((filled % per_cell).checked_sub(1).map(|rest| steps[rest]));
        bar
    }

    /// Returns the partly filled cells in ascending order, ending with a full cell.
    fn steps(self) -> &'static [char] {
        match self {
            Self::Unicode => &['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
            Self::Ascii => &['#'],
        }
    }

    /// Draws a character for each value, from the lowest to the highest value. The scale spans at least a tenth of the
    /// lowest value, so noise within it looks flat.
    pub(super) fn sparkline(self, values: &[f64]) -> String {
        let levels = match self {
            Self::Unicode => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => ['_', '.', ',', '-', '~', '=', '*', '#'],
        };
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(1.1 * low, f64::max);
        let top = levels.len() - 1;
        let level = |value: &f64| nearest((value - low) / (high - low) * top as f64, top);
        values.iter().map(|value| levels[level(value)]).collect()
    }
}

/// Returns the integer from 0 to `most` nearest to the value, or 0 for NaN.
fn nearest(value: f64, most: usize) -> usize {
    let reached = |&n: &usize| n as f64 - 0.5 <= value;
    (1..=most).take_while(reached).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_says_what_the_terminal_shows() {
        for locale in ["C.UTF-8", "de_DE.utf8", "en_US.UTF-8@x"] {
            assert_eq!(Glyphs::of(locale), Glyphs::Unicode, "{locale}");
        }
        for locale in ["", "C", "POSIX", "de_DE.ISO-8859-1"] {
            assert_eq!(Glyphs::of(locale), Glyphs::Ascii, "{locale}");
        }
    }

    #[test]
    fn a_bar_grows_by_eighths_of_a_cell() {
        let bar = |part| Glyphs::Unicode.bar(part, 4);
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(1.0 / 32.0), "▏");
        assert_eq!(bar(0.375), "█▌");
        assert_eq!(bar(1.0), "████");
        assert_eq!(bar(f64::NAN), "");
        assert_eq!(Glyphs::Ascii.bar(0.5, 4), "##");
    }

    #[test]
    fn sparks_exaggerate_no_noise() {
        assert_eq!(Glyphs::Unicode.sparkline(&[100.0, 101.0, 100.0]), "▁▂▁");
        assert_eq!(Glyphs::Unicode.sparkline(&[50.0, 100.0, 75.0]), "▁█▅");
        assert_eq!(Glyphs::Ascii.sparkline(&[0.0, 0.0]), "__");
        assert_eq!(Glyphs::Ascii.sparkline(&[]), "");
    }
}
