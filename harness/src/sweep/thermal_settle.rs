//! What comes before measuring: the board wakes up, and cools down.

use std::time::{Duration, Instant};

use super::settling::{COURSE, LEAST_COURSES, SLICE, SLICES, settled_after};
use super::{End, Sweep};
use crate::data::Case;
use crate::log::Event;
use crate::measure::NoSample;
use crate::plan::Settings;
use crate::platform::placement::Placement;

impl Sweep<'_> {
    /// Traffic that is not counted: clocks come up, the board leaves its idle state. A soak that is long enough, on one
    /// host, is cut into courses, which show how long traffic takes to settle. If the case breaks, its block will say so.
    pub(super) fn soak(&mut self) -> Result<(), End> {
        let schedule = &self.header.schedule;
        // The same case whatever the seed: the reference, mostly.
        let mut blocks = self.header.plan.blocks.iter();
        let first = blocks.find_map(|block| block.runnable().next());
        let Some((case, placement)) = first.filter(|_| !schedule.soak.is_zero()) else {
            return Ok(());
        };
        let soak = humantime::format_duration(schedule.soak);
        self.journal.doing(&format!("soaking for {soak}"));
        let courses = u32::try_from(schedule.soak.as_nanos() / COURSE.as_nanos());
        let courses = courses.unwrap_or(u32::MAX);
        // Between two hosts, nothing can be asked meanwhile.
        if courses >= LEAST_COURSES && self.header.wire.is_none() {
            return self.courses(case, placement, courses);
        }
        let settings = Settings {
            warmup: Duration::ZERO,
            window: schedule.soak,
            ..schedule.settings.clone()
        };
        let spec = self.trial(case, placement, &settings);
        match self.agents.run(&spec) {
            Err(NoSample::Interrupted) => Err(End::Interrupted),
            Ok(_) | Err(NoSample::Failed(_)) => Ok(()),
        }
    }

    fn courses(&mut self, case: &Case, placement: &Placement, count: u32) -> Result<(), End> {
        let spec = self.trial(case, placement, &self.header.schedule.settings);
        let mut courses = Vec::new();
        for _ in 0..count {
            match self.agents.course(&spec, SLICES, SLICE) {
                Ok(course) => courses.push(course),
                Err(NoSample::Interrupted) => return Err(End::Interrupted),
                Err(NoSample::Failed(_)) => return Ok(()),
            }
        }
        match settled_after(&courses) {
            Some(after) if !self.replay.knows_settling() => self.emit(&Event::Settled {
                case: case.key(),
                after,
            }),
            _ => Ok(()),
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
            let Some(millic) = self.agents.hottest_millic() else {
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
