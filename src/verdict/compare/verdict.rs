//! Gives each change its verdict.

use std::ops::Range;

use super::parts::{self, Cut, Part, Run};
use super::significance::{FALSE_DISCOVERY_RATE, Hypothesis, Kind, discoveries};
use super::{Against, By, Change, EngineChange, Options, PartChange, Threshold, numbers};

/// Verdict on a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster or cheaper: significant, and large enough to matter.
    Better,
    /// Slower or dearer: significant, and large enough to matter.
    Worse,
    /// Change too small to matter, at 95 %.
    Same,
    /// Possible change: more rounds would tell.
    Unclear,
    /// Reference, which the other engines are compared with.
    Reference,
    /// Failure of a case that worked in the base, with the reason.
    Broken(String),
    /// Rows that must not or cannot be compared, with the reason.
    NotComparable(String),
}

impl Verdict {
    /// Returns the word for the verdict.
    pub fn word(&self, by: By) -> &'static str {
        match (self, by) {
            (Self::Better, By::Speed) => "faster",
            (Self::Better, By::Cpu) => "cheaper",
            (Self::Worse, By::Speed) => "slower",
            (Self::Worse, By::Cpu) => "dearer",
            (Self::Same, _) => "same",
            (Self::Unclear, _) => "unclear",
            (Self::Reference, _) => "reference",
            (Self::Broken(_), _) => "broken",
            (Self::NotComparable(_), _) => "not comparable",
        }
    }

    /// Returns the reason, if the verdict has one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Broken(reason) | Self::NotComparable(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns whether the verdict is shown in a list of changes: better, worse or broken.
    pub fn is_news(&self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::Broken(_))
    }

    /// Returns whether the verdict answers the question. "Unclear" is an answer.
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Reference | Self::NotComparable(_))
    }
}

/// Gives each change its verdict. All files are judged together: more comparisons have more chances to be wrong.
pub(super) fn judge(files: &mut [Against], options: Options) {
    let asked: Vec<Hypothesis> = files
        .iter()
        .flat_map(|file| questions(file, options))
        .collect();
    let mut discoveries = discoveries(&asked).into_iter();
    // The discoveries are in the order of the questions.
    let mut is_discovery = || discoveries.next().unwrap_or(false);
    for file in files {
        for case in &mut file.cases {
            if let Some(change) = case.change {
                case.verdict = options.verdict(&change, is_discovery());
            }
        }
        for engine in &mut file.engines {
            if let Some(change) = engine.change {
                engine.verdict = options.verdict(&change, is_discovery());
                for cut in &mut engine.cuts {
                    cut.runs.retain(|_| is_discovery());
                }
                engine.look_at_parts(options);
            }
        }
    }
}

fn questions(file: &Against, options: Options) -> Vec<Hypothesis> {
    let asked = |kind| {
        move |change: Change| Hypothesis {
            // Changes below the threshold must not loosen the limit for the others.
            p_value: if change.matters(options.threshold) {
                change.p_value
            } else {
                1.0
            },
            kind,
        }
    };
    let cases = file.cases.iter().filter_map(|case| case.change);
    let mut questions: Vec<Hypothesis> = cases.map(asked(Kind::Case)).collect();
    for engine in &file.engines {
        questions.extend(engine.change.map(asked(Kind::Engine)));
        let runs = engine.cuts.iter().flat_map(|cut| &cut.runs);
        questions.extend(runs.map(|run| run.change).map(asked(Kind::Part)));
    }
    questions
}

impl Options {
    fn verdict(self, change: &Change, is_discovery: bool) -> Verdict {
        if is_discovery {
            self.by.direction(change.estimate)
        } else if change.is_within(self.threshold) {
            Verdict::Same
        } else {
            Verdict::Unclear
        }
    }
}

impl By {
    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Cpu => "cpu",
        }
    }

    /// Returns the quantity, the word for better, and the word for worse.
    pub(crate) fn words(self) -> [&'static str; 3] {
        let what = match self {
            Self::Speed => "datagrams received",
            Self::Cpu => "CPU time per datagram",
        };
        [what, Verdict::Better.word(self), Verdict::Worse.word(self)]
    }

    pub(crate) fn direction(self, estimate: f64) -> Verdict {
        // More datagrams are better, more CPU time is worse.
        if (estimate > 0.0) == (self == Self::Speed) {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

impl EngineChange {
    /// Lists the parts that changed, unless the whole engine changed alike. An engine is the same only if each part
    /// is.
    fn look_at_parts(&mut self, options: Options) {
        let with_runs = self.cuts.iter().filter(|cut| !cut.runs.is_empty());
        let most_uneven = with_runs.min_by(|a, b| a.evenness.total_cmp(&b.evenness));
        let is_whole = matches!(self.verdict, Verdict::Better | Verdict::Worse);
        let limit = FALSE_DISCOVERY_RATE / self.cuts.len() as f64;
        match most_uneven {
            Some(cut) if !is_whole || cut.evenness <= limit => {
                self.parts = cut.parts(options);
                let is_worse = |part: &PartChange| part.verdict == Verdict::Worse;
                self.verdict = if self.parts.iter().any(is_worse) {
                    Verdict::Worse
                } else {
                    Verdict::Better
                };
            }
            _ if self.verdict == Verdict::Same
                && self.not_same(options.threshold).next().is_some() =>
            {
                self.verdict = Verdict::Unclear;
            }
            _ => {}
        }
    }

    /// Returns the parts that are not surely the same.
    fn not_same(&self, threshold: Threshold) -> impl Iterator<Item = Part> {
        let parts = self.cuts.iter().flat_map(Cut::each);
        parts
            .filter(move |(_, change)| !change.is_within(threshold))
            .map(|(part, _)| part)
    }

    /// Describes the parts with and without a change: `slower at 2 and 4 threads (-10.2 %), same at 1 thread`. Or, if
    /// all blocks together are the same, names the parts that are not surely so.
    pub(crate) fn where_changed(&self, options: Options) -> Option<String> {
        let of_part = |part: &PartChange| {
            let word = part.verdict.word(options.by);
            let place = parts::place(&part.values);
            match part.verdict {
                Verdict::Same => format!("{word} {place}"),
                _ => format!("{word} {place} ({} %)", numbers::change(Some(part.change))),
            }
        };
        if !self.parts.is_empty() {
            return Some(
                self.parts
                    .iter()
                    .map(of_part)
                    .collect::<Vec<_>>()
                    .join(", "),
            );
        }
        let is_same = self.change?.is_within(options.threshold);
        if !is_same || self.verdict != Verdict::Unclear {
            return None;
        }
        let places = self
            .not_same(options.threshold)
            .map(|part| parts::place(&[part]));
        let places = places.collect::<Vec<_>>().join(", ");
        Some(format!(
            "unclear: same over all blocks, but not surely {places}"
        ))
    }
}

impl Cut {
    /// Returns the runs that were found, and each value outside of them.
    fn parts(&self, options: Options) -> Vec<PartChange> {
        let is_in = |run: &Run, value: usize| run.values.contains(&value);
        let others =
            (0..self.values.len()).filter(|&value| !self.runs.iter().any(|run| is_in(run, value)));
        let found = self.runs.iter().map(|run| (run.values.clone(), true));
        let mut all: Vec<(Range<usize>, bool)> = found
            .chain(others.map(|value| (value..value + 1, false)))
            .collect();
        // Parts that changed come first.
        all.sort_by_key(|(values, is_found)| (!is_found, values.start));
        all.into_iter()
            .map(|(values, is_found)| {
                let change = self.change(&values);
                PartChange {
                    blocks: self.values[values.clone()]
                        .iter()
                        .map(|value| value.blocks)
                        .sum(),
                    values: self.values[values].iter().map(|value| value.part).collect(),
                    verdict: options.verdict(&change, is_found),
                    change,
                }
            })
            .collect()
    }
}

impl Change {
    fn matters(&self, threshold: Threshold) -> bool {
        self.estimate != 0.0 && self.estimate.abs() >= threshold.fraction()
    }

    fn is_within(&self, threshold: Threshold) -> bool {
        -threshold.fraction() < self.low && self.high < threshold.fraction()
    }
}
