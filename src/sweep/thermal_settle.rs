//! What comes before measuring: the board wakes up, and cools down.

use std::time::{Duration, Instant};

use super::{End, Sweep};
use crate::measure::{NoSample, Trial};
use crate::plan::Settings;
use crate::sys::sensors;

impl Sweep<'_> {
    /// Traffic that is not counted: clocks come up, the board leaves its idle state. If the case breaks, its
    /// block will say so.
    pub(super) fn soak(&mut self, block: usize) -> Result<(), End> {
        let schedule = &self.header.schedule;
        let first = self.header.plan.blocks[block].runnable().next();
        let Some((case, placement)) = first.filter(|_| !schedule.soak.is_zero()) else {
            return Ok(());
        };
        let soak = humantime::format_duration(schedule.soak);
        self.journal.doing(&format!("soaking for {soak}"));
        let settings = Settings {
            warmup: Duration::ZERO,
            window: schedule.soak,
            ..schedule.settings.clone()
        };
        let trial = Trial {
            case,
            placement,
            settings: &settings,
        };
        let sites = self.process.sites().map_err(NoSample::from);
        match sites.and_then(|mut sites| trial.window(&mut sites, self.interrupt)) {
            Err(NoSample::Interrupted) => Err(End::Interrupted),
            Ok(_) | Err(NoSample::Failed(_)) => Ok(()),
        }
    }

    /// Waits until the board is cool enough, or for as long as its profile allows, which is for all rounds of a block:
    /// then there is a warning.
    pub(super) fn cool_down(&mut self, block: usize) -> Result<Option<String>, End> {
        const LOOK: Duration = Duration::from_secs(1);
        let schedule = &self.header.schedule;
        let Some(cooldown) = schedule.cooldown else {
            return Ok(None);
        };
        let at_most = cooldown.at_most / schedule.rounds.max(1);
        let since = Instant::now();
        loop {
            let left = at_most.saturating_sub(since.elapsed());
            let Some(millic) = sensors::hottest_millic(&schedule.settings.root) else {
                return Ok(None);
            };
            let (degrees, wanted) = (millic / 1000, cooldown.below_c);
            if degrees < i32::from(wanted) {
                return Ok(None);
            }
            if left.is_zero() {
                return Ok(Some(format!(
                    "still not below {wanted} C at the end of the cool-down (temp_c_start)"
                )));
            }
            let seconds = left.as_secs();
            if since.elapsed() < LOOK && !self.replay.has_begun(block) {
                self.journal.waiting(&format!(
                    "{degrees} C: waiting for less than {wanted} C, {seconds} s at most"
                ));
            }
            self.journal
                .doing(&format!("{degrees} C, want {wanted}: {seconds} s at most"));
            self.interrupt.sleep(left.min(LOOK))?;
        }
    }
}
