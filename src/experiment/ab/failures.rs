//! Verdict on a case that failed: its side is broken, or the machine may be the reason.

use super::windows::PairWindows;
use super::{AbComparison, Side};
use crate::results::row::Failure;
use crate::text::digits::counted;
use crate::verdict::judge::{Obstacle, Verdict};

/// Rounds in which one side has to fail, and the other must not, until the side is the reason and not chance. If every
/// window failed with the same probability, chance would do that in one of a million cases at most (0.25^10). A
/// comparison of fewer rounds needs all of its rounds.
const ROUNDS_TO_BLAME: u32 = 10;

/// Number of rounds with a failure that are left out of a pair, if one in [`ONE_IN`] is not more. One bad window must
/// not cost all others.
const FEW: usize = 3;
/// See [`FEW`].
const ONE_IN: usize = 20;
/// Number of rounds in which B fails, and A in none, from which on B may be the reason.
const SEVERAL: usize = 2;

impl AbComparison {
    /// Returns the verdict on an engine whose B alone failed, and in several rounds: it may crash now and then. `None`:
    /// it did not, or B is known to be broken.
    pub(super) fn failures_of_b_alone(&self, label: &str) -> Option<Verdict> {
        let pairs = self.pairs.iter().zip(self.pairs());
        let of_label = pairs.filter(|(measured, pair)| {
            pair.label() == label && measured.blamed(self.rounds_to_blame()).is_none()
        });
        let of_label: Vec<&PairWindows> = of_label.map(|(measured, _)| measured).collect();
        let sum = |side| of_label.iter().map(|it| it.failures(side)).sum::<usize>();
        let reason = of_label.iter().find_map(|it| it.reason(Side::B))?;
        let is_suspect = sum(Side::A) == 0 && sum(Side::B) >= SEVERAL;
        is_suspect.then(|| {
            Verdict::Undecided(Obstacle::FailedInBAlone {
                failures: sum(Side::B),
                rounds: of_label.iter().map(|it| it.outcomes(Side::B).count()).sum(),
                failure: reason.clone(),
            })
        })
    }

    /// Returns a sentence on the rounds that were left out of pairs, although nobody is to blame. `None`: there are
    /// none.
    pub(super) fn left_out(&self) -> Option<String> {
        let pairs = self.pairs.iter().zip(self.pairs());
        let mut left_out = pairs.filter_map(|(measured, pair)| {
            let reason = |side| Some(format!("{side}: {}", measured.reason(side)?));
            let reason = Side::BOTH.into_iter().find_map(reason)?;
            let (failed, all) = (measured.failed_rounds(), measured.whole_rounds().count());
            let is_judged = measured
                .verdict_on_failures(self.rounds_to_blame())
                .is_none();
            let is_told = is_judged && self.failures_of_b_alone(&pair.label()).is_none();
            (is_told && failed > 0).then(|| {
                let all = counted(all, "round");
                format!("{}: {failed} of {all} left out: {reason}", pair.key())
            })
        });
        let (first, more) = (left_out.next()?, left_out.count());
        let others = (more > 0).then(|| format!("; and of {} more", counted(more, "case")));
        Some(first + &others.unwrap_or_default())
    }

    /// Returns whether other programs used CPU time when a window failed.
    pub(super) fn failed_beside_others(&self) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.any(|pair| pair.other_programs().is_some())
    }

    /// Returns whether a window failed.
    pub(super) fn has_failures(&self) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.any(|pair| Side::BOTH.into_iter().any(|side| pair.failures(side) > 0))
    }

    /// Returns the number of rounds after which a side that always fails is to blame.
    pub(super) fn rounds_to_blame(&self) -> usize {
        ROUNDS_TO_BLAME.min(self.header.most_rounds()) as usize
    }
}

impl PairWindows {
    /// Returns whether more rounds would change nothing about the verdict on failures. `to_blame`: see
    /// [`AbComparison::rounds_to_blame`].
    pub(super) fn is_decided(&self, to_blame: usize) -> bool {
        let is_one_blamed = self.blamed(to_blame).is_some();
        is_one_blamed || self.given_up.is_some() || self.fails_often() && self.suspect().is_none()
    }

    /// Returns whether more rounds failed, on either side, than are left out.
    fn fails_often(&self) -> bool {
        self.failed_rounds() > FEW.max(self.whole_rounds().count() / ONE_IN)
    }

    /// Returns the number of rounds in which a side failed, of those in which both were tried.
    fn failed_rounds(&self) -> usize {
        self.whole_rounds().filter(|is_failed| *is_failed).count()
    }

    /// Returns the reason of the first failure of a side.
    fn reason(&self, side: Side) -> Option<&Failure> {
        let mut outcomes = self.outcomes(side);
        outcomes.find_map(|outcome| Some(&outcome.as_ref().err()?.reason))
    }

    /// Returns the verdict on a pair with failures. `None`: there are none, or so few that the other rounds are judged.
    ///
    /// On a busy machine, windows of either side fail now and then.
    pub(super) fn verdict_on_failures(&self, to_blame: usize) -> Option<Verdict> {
        if let Some(failure) = self.given_up.clone() {
            return Some(Verdict::NotComparable(Obstacle::GivenUp { failure }));
        }
        let side = Side::BOTH
            .into_iter()
            .max_by_key(|side| self.failures(*side))?;
        let reason = self.reason(side)?;
        let failure = reason.clone();
        match self.blamed(to_blame) {
            Some(Side::B) => return Some(Verdict::Broken(Obstacle::Failed { failure })),
            Some(side) => {
                let side = side.to_string();
                return Some(Verdict::NotComparable(Obstacle::FailedIn { side, failure }));
            }
            None => {}
        }
        let has_both = self.whole_rounds().any(|is_failed| !is_failed);
        if has_both && !self.fails_often() {
            return None;
        }
        let programs = self.other_programs();
        let always_fail = Side::BOTH.map(|side| self.always_fails(side)) == [true; 2];
        if programs.is_none() && always_fail {
            return Some(Verdict::NotComparable(Obstacle::FailedInBoth { failure }));
        }
        let failed = Obstacle::FailedNowAndThen {
            side: side.to_string(),
            failures: self.failures(side),
            rounds: self.outcomes(side).count(),
            failure,
        };
        Some(Verdict::Undecided(match programs {
            Some(programs) => Obstacle::TooBusy {
                programs: programs.to_owned(),
                failed: Box::new(failed),
            },
            None => failed,
        }))
    }

    /// Returns the side that failed in so many rounds, and always, while the other never did, that it is the reason.
    fn blamed(&self, to_blame: usize) -> Option<Side> {
        let is_enough = |side: &Side| self.outcomes(*side).count() >= to_blame;
        self.suspect().filter(|_| Side::BOTH.iter().all(is_enough))
    }

    /// Returns the side that always failed, while the other never did.
    fn suspect(&self) -> Option<Side> {
        let is_suspect = |side: &Side| self.always_fails(*side) && self.failures(side.other()) == 0;
        Side::BOTH.into_iter().find(is_suspect)
    }

    /// Returns whether a side failed, and in every round.
    pub(super) fn always_fails(&self, side: Side) -> bool {
        let failures = self.failures(side);
        failures > 0 && failures == self.outcomes(side).count()
    }

    /// Returns the number of rounds in which a side failed.
    pub(super) fn failures(&self, side: Side) -> usize {
        self.outcomes(side).filter(|it| it.is_err()).count()
    }

    /// Returns the other programs that used CPU time when a window failed.
    fn other_programs(&self) -> Option<&str> {
        let outcomes = Side::BOTH.into_iter().flat_map(|side| self.outcomes(side));
        let mut failures = outcomes.filter_map(|outcome| outcome.as_ref().err());
        failures.find_map(|failure| failure.other_programs.as_deref())
    }
}
