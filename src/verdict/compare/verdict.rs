//! What a change is called.

use std::ops::Range;

use super::parts::{self, Cut, Part, Run};
use super::significance::{Asked, FALSE_DISCOVERY_RATE, Kind, discoveries};
use super::{Against, By, Change, EngineChange, Options, PartChange, Threshold, numbers};

/// What a change is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster, or cheaper: no accident, and as much as matters.
    Better,
    /// Slower, or dearer: no accident, and as much as matters.
    Worse,
    /// Whatever changed is less than what matters, at 95 %.
    Same,
    /// It may have changed or not: more rounds would tell.
    Unclear,
    /// It is what the others are held against.
    Reference,
    /// Worked in the base, failed now; the reason.
    Broken(String),
    /// They must not, or cannot, be compared; the reason.
    NotComparable(String),
}

impl Verdict {
    /// The word for it.
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

    /// Why, where that is to be said.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Broken(reason) | Self::NotComparable(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether it is told even where only changes are: better, worse or broken.
    pub fn is_news(&self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::Broken(_))
    }

    /// Whether it answers the question, if only by "unclear".
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Reference | Self::NotComparable(_))
    }
}

/// Gives each change its verdict. All files are judged together: more comparisons have more chances to be wrong.
pub(super) fn judge(files: &mut [Against], options: Options) {
    let asked: Vec<Asked> = files
        .iter()
        .flat_map(|file| questions(file, options))
        .collect();
    let mut discoveries = discoveries(&asked).into_iter();
    // In the order of the questions.
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

fn questions(file: &Against, options: Options) -> Vec<Asked> {
    let asked = |kind| {
        move |change: Change| Asked {
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
    let mut questions: Vec<Asked> = cases.map(asked(Kind::Case)).collect();
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
    /// As it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Cpu => "cpu",
        }
    }

    /// What is counted, and what it is called if it is better and if it is worse.
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
    /// Names the parts that changed, if not all of the engine did, and calls only that the same which is so in each
    /// part.
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

    /// The parts that are not surely the same.
    fn not_same(&self, threshold: Threshold) -> impl Iterator<Item = Part> {
        let parts = self.cuts.iter().flat_map(Cut::each);
        parts
            .filter(move |(_, change)| !change.is_within(threshold))
            .map(|(part, _)| part)
    }

    /// Where it changed and where not: `slower at 2 and 4 threads (-10.2 %), same at 1 thread`; or what keeps it from
    /// being the same, where all its blocks together are.
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
    /// The runs that were found, and each value that is in none.
    fn parts(&self, options: Options) -> Vec<PartChange> {
        let is_in = |run: &Run, value: usize| run.values.contains(&value);
        let others =
            (0..self.values.len()).filter(|&value| !self.runs.iter().any(|run| is_in(run, value)));
        let found = self.runs.iter().map(|run| (run.values.clone(), true));
        let mut all: Vec<(Range<usize>, bool)> = found
            .chain(others.map(|value| (value..value + 1, false)))
            .collect();
        // What changed first.
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
