//! Did it change: one run held against another, case by case and engine by engine, at an error rate that is
//! kept.
//!
//! | step | module |
//! |---|---|
//! | which rows belong together, and which must not be compared | `pairs`, `comparability` |
//! | by how much two rows differ, and how sure their own rounds are of that | `difference` |
//! | how much the machine itself changed meanwhile | `drift` |
//! | how much more the cases scatter from run to run than from round to round | `scatter` |
//! | what all cases of an engine say together, and those of each part of it | `engines`, `line` |
//! | which part it is that changed | `parts` |
//! | what is no accident, over everything that was asked | `significance` |
//! | what each is called | `verdict` |
//! | what can be said at all, before anything is measured | `outlook` |
//!
//! `docs/METHODOLOGY.md` says why it is so, `docs/CALIBRATION.md` how often it errs.

mod comparability;
mod difference;
mod drift;
mod engines;
pub(crate) mod footnotes;
mod line;
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

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What is compared.
    pub by: By,
    /// What matters.
    pub threshold: Threshold,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// Datagrams received
    #[default]
    Speed,
    /// CPU time per datagram
    Cpu,
}

/// The answers.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was asked.
    pub options: Options,
    /// The name of the file that all others are held against.
    pub base: String,
    /// One per file that was held against it.
    pub files: Vec<Against>,
}

/// One file against the base.
#[derive(Clone, Debug)]
pub struct Against {
    /// The file.
    pub name: String,
    /// Each engine that has cases with a ratio in both, over all its blocks.
    pub engines: Vec<EngineChange>,
    /// Each case that both have, in the order of their blocks.
    pub cases: Vec<CaseChange>,
    /// What the numbers cannot say.
    pub remarks: Vec<String>,
}

/// One case.
#[derive(Clone, Debug)]
pub struct CaseChange {
    /// Its key.
    pub case: String,
    /// See [`crate::results::row::Row::label`].
    pub label: String,
    /// Whether its sockets are connected.
    pub connection: Connection,
    /// What it is held side by side with.
    pub block: BlockKey,
    /// What of it is compared. `None`: nothing.
    pub measure: Option<Measure>,
    /// Its value in the base.
    pub base: Option<f64>,
    /// Its value in the other file.
    pub new: Option<f64>,
    /// How far they are apart. `None`: not compared.
    pub change: Option<Change>,
    /// What that is called.
    pub verdict: Verdict,
}

/// All cases of one label.
#[derive(Clone, Debug)]
pub struct EngineChange {
    /// See [`crate::results::row::Row::label`].
    pub label: String,
    /// How many cases were compared.
    pub cases: usize,
    /// In how many blocks.
    pub blocks: usize,
    /// What their changes have in common, where the reference did not move. `None`: too few blocks.
    pub change: Option<Change>,
    /// The same by each parameter of which there are several values.
    cuts: Vec<Cut>,
    /// Where it changed and where not, if not all of it changed alike.
    pub parts: Vec<PartChange>,
    /// What that is called: `Worse` if any part is.
    pub verdict: Verdict,
}

/// The cases of an engine that have certain values of one parameter.
#[derive(Clone, Debug)]
pub struct PartChange {
    /// Neighbouring values.
    pub values: Vec<Part>,
    /// How many blocks have them.
    pub blocks: usize,
    /// What these blocks have in common.
    pub change: Change,
    /// What that is called.
    pub verdict: Verdict,
}

/// A change, as fractions of the value in the base: -0.03 is 3 % less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The best guess.
    pub estimate: f64,
    /// Lower end of its own 95 % interval.
    pub low: f64,
    /// Upper end of its own 95 % interval.
    pub high: f64,
    /// How probable so large a value is if nothing changed.
    pub p_value: f64,
}

/// Holds each of `new` against `base`. All of them share one false discovery rate.
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
    /// Whether anything is slower, dearer or broken.
    pub fn is_worse(&self) -> bool {
        self.files.iter().any(Against::is_worse)
    }

    /// Whether nothing can be said of a file: no engine could be judged and not every case is known to be the same or
    /// better, or each answer is "unclear".
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

    /// Why no case was compared. `None`: some were.
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
