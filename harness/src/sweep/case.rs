//! One case: a window of it, measured once more if need be, and what it delivers.

use std::time::Duration;

use super::{End, Sweep};
use crate::data::{self, Case, Sample, Traits};
use crate::log::{Event, Expected, Of};
use crate::measure::NoSample;
use crate::measure::sound::possible;
use crate::measure::spec::TrialSpec;
use crate::plan::Settings;
use crate::platform::placement::Placement;

/// Why a window is to be measured again, if it is: one bad window on a busy machine must not fail its case.
/// A receiver that is known to starve would do so again.
fn fault(receiver: &Traits, measured: &Result<Sample, NoSample>) -> Option<String> {
    match measured {
        Ok(sample) => {
            let is_expected = sample.books.unread > 0 && receiver.starves.is_some();
            // A link that went down explains the rest.
            let fault = || sample.fault().filter(|_| !is_expected);
            sample.link_fault().or_else(fault)
        }
        Err(NoSample::Failed(error)) => Some(format!("{error:#}")),
        Err(NoSample::Interrupted) => None,
    }
}

impl Sweep<'_> {
    /// One window, measured once more if something is wrong with it.
    pub(super) fn window(
        &mut self,
        case: &Case,
        placement: &Placement,
        round: u32,
        position: u32,
    ) -> Result<(), End> {
        let engines = self.header.plan.pair(case);
        let mut measured = self.measure(case, placement);
        let is_second = self.replay.is_repeated(case, round);
        if let Some(reason) = fault(engines.receiver, &measured).filter(|_| !is_second) {
            self.journal
                .doing(&format!("measured again: {} ({reason})", case.label()));
            self.emit(&Event::Repeated {
                of: Of::case(case),
                round,
                reason,
                sample: measured.ok().map(|sample| {
                    Box::new(Sample {
                        round,
                        position,
                        ..sample
                    })
                }),
            })?;
            measured = self.measure(case, placement);
        }
        match measured {
            Ok(sample) => self.emit(&Event::window(Sample {
                round,
                position,
                ..sample
            })),
            Err(NoSample::Interrupted) => Err(End::Interrupted),
            Err(NoSample::Failed(error)) => self.fail(case, round, format!("{error:#}")),
        }
    }

    fn measure(&mut self, case: &Case, placement: &Placement) -> Result<Sample, NoSample> {
        let settings = &self.header.schedule.settings;
        let expected = Expected {
            case,
            engines: self.header.plan.pair(case),
            placement,
            window: settings.window,
        };
        let spec = self.trial(case, placement, settings);
        possible(self.agents.run(&spec), expected)
    }

    /// What is to be run.
    pub(super) fn trial(
        &self,
        case: &Case,
        placement: &Placement,
        settings: &Settings,
    ) -> TrialSpec {
        let wire = self.header.wire.as_ref();
        let between = wire.and_then(|wire| wire.between(case));
        TrialSpec::new(case, placement, settings).between(between)
    }

    /// The case has no more windows.
    ///
    /// # Errors
    /// When it is not the case that failed: the other host is gone.
    pub(super) fn fail(&mut self, case: &Case, round: u32, reason: String) -> Result<(), End> {
        if self.agents.has_lost_the_other_host(self.interrupt)? {
            return Err(End::Lost(reason));
        }
        self.emit(&Event::Failed {
            of: Of::case(case),
            round,
            reason,
        })?;
        let lost = self.header.schedule.rounds.saturating_add(1);
        let lost = lost.saturating_sub(round.max(1));
        self.journal.windows_to_come(-i64::from(lost));
        Ok(())
    }

    /// Looks at what each case delivers, before anything is measured.
    pub(super) fn verify(&mut self, cases: &[(&Case, &Placement)]) -> Result<(), End> {
        let settings = &self.header.schedule.settings;
        for &(case, placement) in cases {
            let replay = &self.replay;
            let engines = self.header.plan.pair(case);
            if data::refusal(case.payload, engines.sender).is_some()
                || replay.is_verified(case)
                || replay.has_failed(case)
            {
                continue;
            }
            self.journal.doing(&format!("verifying {}", case.label()));
            let expected = Expected {
                case,
                engines,
                placement,
                window: Duration::ZERO,
            };
            let spec = self.trial(case, placement, settings);
            let mut verified = spec.verify(|spec| self.agents.run(spec));
            if matches!(verified, Err(NoSample::Failed(_))) {
                verified = spec.verify(|spec| self.agents.run(spec));
            }
            match possible(verified, expected) {
                Ok(sample) => {
                    self.emit(&Event::Verified(Box::new(sample)))?;
                    if self.replay.has_failed(case) {
                        let lost = self.header.schedule.rounds;
                        self.journal.windows_to_come(-i64::from(lost));
                    }
                }
                Err(NoSample::Interrupted) => return Err(End::Interrupted),
                Err(NoSample::Failed(error)) => self.fail(case, 0, format!("{error:#}"))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{path, window};

    #[test]
    fn a_link_that_went_down_explains_what_else_is_wrong() {
        let mut sample = window(1);
        sample.paths = vec![path(20_000)];
        sample.books.unread = 199;
        let reason = |sample: &Sample| fault(&Traits::PLAIN, &Ok(sample.clone()));
        assert_eq!(
            reason(&sample).as_deref(),
            Some("199 datagrams were left unread")
        );
        sample.paths[0].at_receiver.carrier_changes = 2;
        let link = "the link of the receiver's interface went down or came up";
        assert_eq!(reason(&sample).as_deref(), Some(link));
    }
}
