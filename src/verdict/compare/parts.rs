//! Finds the values of one parameter at which an engine changed, and the values at which it did not.

use std::fmt;
use std::ops::Range;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::fitted_line::FittedLine;
use super::{CaseChange, Change};
use crate::data::{Connection, Ip, Payload, Threads};

/// Value of a parameter that cuts the cases of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Number of threads.
    Threads(Threads),
    /// Size of the payload.
    Payload(Payload),
    /// Connected or unconnected sockets.
    Connection(Connection),
    /// IP version.
    Ip(Ip),
}

/// Parameters that cut the cases of an engine, each into its values.
pub(super) const PARAMETERS: [fn(&CaseChange) -> Part; 4] = [
    |case| Part::Threads(case.block.threads),
    |case| Part::Payload(case.block.payload),
    |case| Part::Connection(case.connection),
    |case| Part::Ip(case.block.ip),
];

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(threads) => threads.fmt(f),
            Self::Payload(payload) => payload.fmt(f),
            Self::Connection(connection) => connection.fmt(f),
            Self::Ip(ip) => ip.fmt(f),
        }
    }
}

/// Describes values: `at 2 and 4 threads`, `on unconnected sockets`.
pub(crate) fn place(parts: &[Part]) -> String {
    let values: Vec<String> = parts.iter().map(Part::to_string).collect();
    let values = values.join(" and ");
    match parts.first() {
        Some(Part::Threads(threads)) if parts.len() == 1 && threads.is_alone() => {
            format!("at {values} thread")
        }
        Some(Part::Threads(_)) => format!("at {values} threads"),
        Some(Part::Payload(_)) => format!("at {values} B"),
        Some(Part::Connection(_)) => format!("on {values} sockets"),
        Some(Part::Ip(_)) => format!("over {values}"),
        None => values,
    }
}

/// Cases of an engine, cut by one parameter.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// Values of the parameter, in their order.
    pub(super) values: Vec<Value>,
    /// Degrees of freedom of the scale that the values share.
    pub(super) freedom: f64,
    /// Probability of differences this large between the values if the engine changed alike at all of them.
    pub(super) evenness: f64,
    /// Most significant slower run and most significant faster run. After the verdict, only the significant ones
    /// remain.
    pub(super) runs: Vec<Run>,
}

/// Result of the blocks of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) part: Part,
    pub(super) blocks: usize,
    pub(super) line: FittedLine,
}

/// Neighbouring values at which an engine may have changed alike, while it did not change at the others.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) values: Range<usize>,
    /// Change at these values. Its p-value is corrected for all runs that were tried.
    pub(super) change: Change,
}

/// Smallest number of blocks of a run: the blocks that agree outvote an outlier.
const FEWEST_BLOCKS: usize = 3;

impl Cut {
    pub(super) fn of(values: Vec<Value>, freedom: f64) -> Self {
        let mut cut = Self {
            values,
            freedom,
            evenness: 1.0,
            runs: Vec::new(),
        };
        cut.evenness = cut.evenness();
        cut.runs = cut.runs();
        cut
    }

    /// Returns the change at each value alone.
    pub(super) fn each(&self) -> impl Iterator<Item = (Part, Change)> {
        let values = self.values.iter().enumerate();
        values.map(|(n, value)| (value.part, self.change(&(n..n + 1))))
    }

    fn runs(&self) -> Vec<Run> {
        let count = self.values.len();
        let ends = (0..count).flat_map(|start| (start + 1..=count).map(move |end| start..end));
        let is_part = |run: &Range<usize>| {
            let blocks: usize = self.values[run.clone()]
                .iter()
                .map(|value| value.blocks)
                .sum();
            run.len() < count && blocks >= FEWEST_BLOCKS
        };
        let tried: Vec<Run> = ends
            .filter(is_part)
            .map(|values| Run {
                change: self.change(&values),
                values,
            })
            .collect();
        let most_significant = |is_it: fn(&Run) -> bool| {
            let runs = tried.iter().filter(|run| is_it(run));
            let run = runs.min_by(|a, b| a.change.p_value.total_cmp(&b.change.p_value))?;
            let p_value = (run.change.p_value / 2.0 * tried.len() as f64).min(1.0);
            Some(Run {
                change: Change {
                    p_value,
                    ..run.change
                },
                ..run.clone()
            })
        };
        [
            most_significant(|run| run.change.estimate < 0.0),
            most_significant(|run| run.change.estimate > 0.0),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the common change at these values.
    pub(super) fn change(&self, values: &Range<usize>) -> Change {
        let (log, error) = self.common(values);
        Change::new(log, error, self.freedom)
    }

    fn common(&self, values: &Range<usize>) -> (f64, f64) {
        let lines = self.values[values.clone()].iter().map(|value| value.line);
        let (mut weights, mut logs) = (0.0, 0.0);
        for line in lines {
            let weight = line.error.powi(-2);
            weights += weight;
            logs += weight * line.log;
        }
        (logs / weights, weights.powf(-0.5))
    }

    /// Returns the evenness of the changes, by an F test.
    fn evenness(&self) -> f64 {
        let (log, _) = self.common(&(0..self.values.len()));
        let square = |value: &Value| ((value.line.log - log) / value.line.error).powi(2);
        let between = self.values.len() as f64 - 1.0;
        let squares: f64 = self.values.iter().map(square).sum();
        if !squares.is_finite() {
            return 1.0;
        }
        FisherSnedecor::new(between, self.freedom).map_or(1.0, |f| f.sf(squares / between))
    }
}
