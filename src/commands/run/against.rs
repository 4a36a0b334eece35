//! `--against`: before the run, says what it repeats and refuses what cannot be compared; after it, compares.

use std::collections::BTreeSet;

use anstream::adapter::strip_str;

use crate::commands::compare::{outcome, refuse_nothing};
use crate::commands::session::Outcome;
use crate::commands::session::progress::Progress;
use crate::data::Case;
use crate::error::UsageError;
use crate::plan::Plan;
use crate::results::baselines;
use crate::results::files::Results;
use crate::results::row::Status;
use crate::term::output::{say, show_in_colours, width};
use crate::text::digits::counted;
use crate::verdict::compare::table::draw;
use crate::verdict::compare::{Comparison, compare};
use crate::verdict::judge::Criterion;
use crate::verdict::judge::table::Detail;

/// Results that a run is compared with.
pub(super) struct Base {
    /// The name as typed.
    name: String,
    runs: Vec<Results>,
    /// The passes of this run so far.
    passes: Vec<Results>,
    question: Criterion,
}

impl Base {
    /// Opens all runs of a baseline, or the file of this name.
    ///
    /// # Errors
    /// Fails if there is none or it cannot be read.
    pub(super) fn open(name: &str, question: Criterion) -> Result<Self, UsageError> {
        let runs = baselines::find(name)?;
        let runs = runs.iter().map(|path| Results::open(path));
        Ok(Self {
            name: name.to_owned(),
            runs: runs.collect::<Result<_, _>>()?,
            passes: Vec::new(),
            question,
        })
    }

    /// Says with what the run will be compared.
    ///
    /// # Errors
    /// Fails if no case could be compared.
    pub(super) fn announce(&self, plan: &Plan) -> Result<(), UsageError> {
        let rows = self.runs.iter().flat_map(|run| &run.rows);
        let measured = rows.filter(|row| row.status == Status::Ok);
        let keys: BTreeSet<String> = measured.map(|row| row.case.key()).collect();
        // At a rate the speed is what was asked for.
        let planned = plan.runnable().map(|planned| &planned.case);
        let in_both = planned.filter(|case| case.rate.is_none() && keys.contains(&case.key()));
        let engines: BTreeSet<String> = in_both.map(Case::label).collect();
        let problem = match Vec::from_iter(&engines)[..] {
            [] => "no case of this run without a rate is in it, so nothing would be compared"
                .to_owned(),
            [engine] => format!(
                "only {engine} would be in both, and nothing tells its change from one of the machine; measure \
                 another engine, too, in both runs, or use udpbench ab"
            ),
            _ => {
                say(&format!(
                    "against {}: {}; a second pass follows if an engine looks slower, but not surely",
                    self.name,
                    counted(self.runs.len(), "run")
                ));
                return Ok(());
            }
        };
        Err(UsageError::flag("--against", &self.name, problem))
    }

    /// Takes the rows of a pass, and returns whether another pass is needed: an engine looks slower, but not surely,
    /// or cannot be judged. `can_go_on`: another pass is possible.
    pub(super) fn take(&mut self, progress: &Progress, can_go_on: bool) -> bool {
        self.passes.push(Results {
            name: progress.outputs.results.clone(),
            rows: progress.rows.clone(),
            ..Results::default()
        });
        if !can_go_on {
            return false;
        }
        let comparison = self.comparison();
        let mut engines = comparison.judgement.engines.iter();
        let is_suspect = comparison.judgement.suspects().next().is_some();
        let is_unsure = is_suspect || engines.any(|engine| !engine.is_testable());
        if !is_unsure || comparison.judgement.is_worse() {
            return false;
        }
        let threshold = self.question.threshold;
        say(&format!(
            "a second pass: one cannot tell yet whether any engine is slower by {threshold} or more"
        ));
        true
    }

    fn comparison(&self) -> Comparison {
        compare([&self.runs, &self.passes], self.question)
    }

    /// Returns whether it is known what has changed.
    pub(super) fn is_clear(&self) -> bool {
        !self.comparison().is_inconclusive()
    }

    /// Compares the run with the base, prints the differences and returns the combined outcome.
    ///
    /// # Errors
    /// Fails if no case can be compared or standard output cannot be written.
    pub(super) fn compared(
        &self,
        progress: &Progress,
        accept: bool,
        measured: Outcome,
    ) -> anyhow::Result<Outcome> {
        let comparison = self.comparison();
        refuse_nothing(&comparison, [&self.runs, &self.passes])?;
        let text = format!("\n{}", draw(&comparison, Detail::Changes, width()));
        if progress.outputs.to_stdout && !progress.quiet {
            strip_str(&text).to_string().lines().for_each(say);
        } else if !progress.quiet {
            show_in_colours(&text)?;
        }
        Ok(match (measured, outcome(&comparison, accept)) {
            (_, Outcome::Worse) => Outcome::Worse,
            (Outcome::Done, compared) => compared,
            (measured, _) => measured,
        })
    }
}
