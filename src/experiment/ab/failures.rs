//! Verdict on a case that failed: its side is broken, or the machine may be the reason.

use super::record::Measured;
use super::{Record, Side};
use crate::term::digits::counted;
use crate::verdict::judge::Verdict;

/// Rounds in which one side has to fail, and the other must not, until the side is the reason and not chance. If every
/// window failed with the same probability, chance would do that in one of a million cases at most (0.25^10). A
/// comparison of fewer rounds needs all of its rounds.
const ROUNDS_TO_BLAME: u32 = 10;

impl Record {
    /// Returns the number of rounds after which a side that always fails is to blame.
    pub(super) fn rounds_to_blame(&self) -> usize {
        ROUNDS_TO_BLAME.min(self.header().most_rounds()) as usize
    }
}

impl Measured {
    /// Returns whether more rounds would change nothing about the verdict on failures. `to_blame`: see
    /// [`Record::rounds_to_blame`].
    pub(super) fn is_decided(&self, to_blame: usize) -> bool {
        let is_one_blamed = self.blamed(to_blame).is_some();
        let fails = |side: &Side| self.failures(*side) > 0;
        let fails_now_and_then = |side: &Side| self.fails_now_and_then(*side);
        is_one_blamed || Side::BOTH.iter().all(fails) || Side::BOTH.iter().any(fails_now_and_then)
    }

    /// Returns the verdict on a pair with failures. `None`: there are none.
    ///
    /// On a busy machine, windows of either side fail now and then, and the case is unmeasured.
    pub(super) fn verdict_on_failures(&self, to_blame: usize) -> Option<Verdict> {
        let failed = Side::BOTH.into_iter().find_map(|side| {
            let mut outcomes = self.outcomes(side);
            let failure = outcomes.find_map(|outcome| outcome.as_ref().err())?;
            Some((side, &failure.reason))
        });
        let (side, reason) = failed?;
        match self.blamed(to_blame) {
            Some(Side::B) => return Some(Verdict::Broken(reason.clone())),
            Some(Side::A) => return Some(Verdict::NotComparable(format!("fails in A: {reason}"))),
            None => {}
        }
        let of = counted(self.outcomes(side).count(), "round");
        let failed = format!("{side} failed in {} of {of}: {reason}", self.failures(side));
        let always_fails =
            |side: &Side| self.failures(*side) > 0 && !self.fails_now_and_then(*side);
        Some(match self.other_programs() {
            Some(programs) => {
                Verdict::Undecided(format!("the machine was too busy: {programs}; {failed}"))
            }
            None if Side::BOTH.iter().all(always_fails) => {
                Verdict::NotComparable(format!("fails in both: {reason}"))
            }
            None => Verdict::Undecided(failed),
        })
    }

    /// Returns the side that failed in so many rounds, and always, while the other never did, that it is the reason.
    fn blamed(&self, to_blame: usize) -> Option<Side> {
        let is_enough = |side: &Side| self.outcomes(*side).count() >= to_blame;
        let is_to_blame = |side: &Side| {
            let always = self.failures(*side) == self.outcomes(*side).count();
            always && self.failures(side.other()) == 0
        };
        let are_enough = Side::BOTH.iter().all(is_enough);
        Side::BOTH
            .into_iter()
            .find(|side| are_enough && is_to_blame(side))
    }

    /// Returns whether a side failed, but not in every round.
    fn fails_now_and_then(&self, side: Side) -> bool {
        let failures = self.failures(side);
        failures > 0 && failures < self.outcomes(side).count()
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
