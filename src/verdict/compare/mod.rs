//! Compares two runs, case by case and engine by engine, at a controlled error rate.
//!
//! | step | module |
//! |---|---|
//! | match the rows of both runs, and reject rows that must not be compared | `pairs`, `comparability` |
//! | compute the difference of two rows, with its error from their rounds | `difference` |
//! | estimate the drift of the machine between the runs | `drift` |
//! | estimate how much more cases scatter from run to run than from round to round | `scatter` |
//! | pool the cases of an engine, and of each part of it | `engines`, `fitted_line` |
//! | find the part that changed | `parts` |
//! | correct for multiple testing, over all questions | `significance` |
//! | give the verdicts | `verdict` |
//! | predict what can be judged, before anything is measured | `outlook` |
//!
//! `docs/METHODOLOGY.md` gives the reasons, `docs/VALIDATION.md` the error rates.

mod comparability;
mod difference;
mod drift;
mod engines;
mod fitted_line;
pub(crate) mod footnotes;
mod numbers;
mod outlook;
mod pairs;
mod parts;
pub mod rows;
mod runs;
mod scatter;
mod significance;
pub mod table;
mod threshold;
mod verdict;

use crate::data::{BlockKey, Connection};
use crate::results::files::Results;

use self::parts::Cut;

pub use self::difference::Measure;
pub use self::outlook::{BLOCKS_NEEDED, Outlook, outlook};
pub use self::parts::Part;
pub(crate) use self::parts::place;
pub use self::threshold::Threshold;
pub use self::verdict::Verdict;

/// Question of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Quantity that is compared.
    pub by: By,
    /// Smallest change that matters.
    pub threshold: Threshold,
}

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// Datagrams received
    #[default]
    Speed,
    /// CPU time per datagram
    Cpu,
}

/// Results of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Question that the results answer.
    pub options: Options,
    /// Name of the file with the base, which all other files are compared with.
    pub base: String,
    /// Results for each of the other files.
    pub files: Vec<Against>,
}

/// Results of one file against the base.
#[derive(Clone, Debug)]
pub struct Against {
    /// Name of the file.
    pub name: String,
    /// Engines that have cases with a ratio in both files, each over all its blocks.
    pub engines: Vec<EngineChange>,
    /// Cases that both files have, in the order of their blocks.
    pub cases: Vec<CaseChange>,
    /// Remarks on facts that the numbers do not show.
    pub remarks: Vec<String>,
}

/// Result of one case.
#[derive(Clone, Debug)]
pub struct CaseChange {
    /// Key of the case.
    pub case: String,
    /// Label of its engines: see [`crate::results::row::Row::label`].
    pub label: String,
    /// Connected or unconnected sockets.
    pub connection: Connection,
    /// Block of the case: its cases are measured side by side.
    pub block: BlockKey,
    /// Quantity that is compared. `None`: nothing is.
    pub measure: Option<Measure>,
    /// Value in the base.
    pub base: Option<f64>,
    /// Value in the other file.
    pub new: Option<f64>,
    /// Change from the base. `None`: not compared.
    pub change: Option<Change>,
    /// Verdict on the change.
    pub verdict: Verdict,
}

/// Result of all cases of one label.
#[derive(Clone, Debug)]
pub struct EngineChange {
    /// Label of the engines: see [`crate::results::row::Row::label`].
    pub label: String,
    /// Number of cases compared.
    pub cases: usize,
    /// Number of blocks with these cases.
    pub blocks: usize,
    /// Common change of the cases where the reference did not move. `None`: there are too few blocks.
    pub change: Option<Change>,
    /// Changes by each parameter that has several values.
    cuts: Vec<Cut>,
    /// Parts with a change and parts without one. Empty if all parts changed alike.
    pub parts: Vec<PartChange>,
    /// Verdict on the engine: `Worse` if any part is.
    pub verdict: Verdict,
}

/// Result of the cases of an engine that have certain values of one parameter.
#[derive(Clone, Debug)]
pub struct PartChange {
    /// Neighbouring values of the parameter.
    pub values: Vec<Part>,
    /// Number of blocks with these values.
    pub blocks: usize,
    /// Common change of these blocks.
    pub change: Change,
    /// Verdict on the part.
    pub verdict: Verdict,
}

/// Change, as fractions of the value in the base: -0.03 is 3 % less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Best estimate.
    pub estimate: f64,
    /// Lower end of the 95 % interval of this change alone.
    pub low: f64,
    /// Upper end of the 95 % interval of this change alone.
    pub high: f64,
    /// Probability of a value this large if nothing changed.
    pub p_value: f64,
}

/// Compares each of `new` with `base`. All files share one false discovery rate.
pub fn compare(base: &Results, new: &[Results], options: Options) -> Comparison {
    let against = |new| Against::of(base, new, options.by);
    let mut files: Vec<Against> = new.iter().map(against).collect();
    verdict::judge(&mut files, options);
    Comparison {
        options,
        base: base.name.clone(),
        files,
    }
}

impl Comparison {
    /// Returns whether anything is slower, dearer or broken.
    pub fn is_worse(&self) -> bool {
        self.files.iter().any(Against::is_worse)
    }

    /// Returns whether the comparison of a file tells nothing. Either no engine could be judged and some case is not
    /// known to be the same or better, or every verdict is "unclear".
    pub fn is_inconclusive(&self) -> bool {
        self.files.iter().any(Against::is_inconclusive)
    }
}

impl Against {
    pub(crate) fn is_worse(&self) -> bool {
        let bad = |verdict: &Verdict| matches!(verdict, Verdict::Worse | Verdict::Broken(_));
        self.cases.iter().any(|case| bad(&case.verdict))
            || self.engines.iter().any(|engine| bad(&engine.verdict))
    }

    pub(crate) fn is_inconclusive(&self) -> bool {
        let cases = self.cases.iter().map(|case| &case.verdict);
        let engines = self.engines.iter().map(|engine| &engine.verdict);
        let is_unclear = |verdict: &Verdict| *verdict == Verdict::Unclear;
        if !engines.clone().any(Verdict::is_answer) {
            return !self.is_worse() && cases.clone().any(is_unclear);
        }
        let mut answers = cases.chain(engines).filter(|verdict| verdict.is_answer());
        answers.all(is_unclear)
    }

    /// Returns why no case was compared. `None`: some were.
    pub fn obstacle(&self) -> Option<String> {
        if self.cases.iter().any(|case| case.verdict.is_answer()) {
            return None;
        }
        let reasons = self.cases.iter().filter_map(|case| case.verdict.reason());
        let remarks = self.remarks.iter().map(String::as_str);
        let first = reasons.chain(remarks).next();
        Some(first.unwrap_or("there are no rows").to_owned())
    }
}

#[cfg(test)]
mod tests;
