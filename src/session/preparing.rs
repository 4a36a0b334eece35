//! Steps before measuring: heating up (traffic that is not counted) and cooling down.

use std::time::{Duration, Instant};

use super::Begin;
use super::run::Session;
use super::settling::{COURSE, LEAST_COURSES, SLICE, SLICES, settling_time};
use crate::host::board::Cooldown;
use crate::plan::REST_SHARE;
use crate::results::log::Event;
use crate::results::row::CaseWarning;
use crate::sys::interrupt::Interrupted;
use crate::trial::agents::End;
use crate::trial::power_command::PowerCommand;
use crate::trial::spec::TrialSpec;

impl Session<'_, '_> {
    /// Measures the idle power, and logs it. A meter that fails is no reason to stop: the columns stay empty.
    pub(super) fn measure_idle_power(&mut self, length: Duration) -> Result<(), End> {
        self.journal.show_step("measuring the idle power");
        self.resources.interrupt.sleep(length / REST_SHARE)?;
        let idle = match self.resources.power_command {
            Some(meter) => meter.idle(length, self.resources.interrupt)?,
            None => self.resources.agents[0].idle_power(length)?,
        };
        let Some(idle) = idle else {
            let ended = self.resources.power_command.and_then(PowerCommand::ended);
            let why = ended.unwrap_or_else(|| "the meter cannot be read".to_owned());
            self.journal.show_wait(&format!("no idle power: {why}"));
            return Ok(());
        };
        let watts = |uw: u64| uw as f64 / 1e6;
        self.journal.show_wait(&format!(
            "idle power: {:.3} W +-{:.3}",
            watts(idle.mean_uw),
            1.96 * watts(idle.error_uw)
        ));
        Ok(self.emit(&Event::IdlePower(idle))?)
    }

    /// Heats up for the window of a trial. A case that fails here is ignored: its block reports the failure.
    ///
    /// If it is long enough, it is cut into courses, which show how long traffic takes to settle. It is not between two
    /// hosts: no rates can be requested there while traffic runs.
    pub(super) fn heat(&mut self, spec: &TrialSpec) -> Result<(), End> {
        let length = spec.settings.window;
        let shown = humantime::format_duration(length);
        self.journal.show_step(&format!("heating up for {shown}"));
        let agents = &mut self.resources.agents[0];
        let courses = length.as_nanos() / COURSE.as_nanos();
        let settled = if courses < LEAST_COURSES || spec.between.is_some() {
            agents.run(spec).map(|_| None)
        } else {
            let courses = (0..courses).map(|_| agents.rate_over_time(spec, SLICES, SLICE));
            let courses: anyhow::Result<Vec<Vec<f64>>> = courses.collect();
            courses.map(|courses| settling_time(&courses))
        };
        match settled {
            Err(error) if error.is::<Interrupted>() => Err(End::Interrupted),
            Ok(Some(after)) => Ok(self.emit(&Event::Settled {
                case: spec.case.key(),
                after,
            })?),
            Err(_) | Ok(None) => Ok(()),
        }
    }

    /// Begins a round of a block: cools down, and logs the block with its warnings.
    pub(super) fn begin(&mut self, begin: &Begin) -> Result<(), End> {
        let block = begin.block;
        let hot = match begin.cooldown {
            Some(cooldown) => self.cool_down(cooldown, begin.has_begun)?,
            None => None,
        };
        let why = self.resources.agents[0].refusal();
        let in_process = why.map(|why| CaseWarning::InOneProcess { why });
        let warnings = [hot, in_process].into_iter().flatten().map(Some);
        let mut warnings: Vec<Option<CaseWarning>> = warnings.collect();
        if warnings.is_empty() && !begin.has_begun {
            warnings.push(None);
        }
        for warning in warnings {
            self.emit(&Event::BlockBegun { block, warning })?;
        }
        Ok(())
    }

    /// Waits until the board is cool enough. Returns a warning if it is not at the end of the cool-down.
    fn cool_down(
        &mut self,
        cooldown: Cooldown,
        has_begun: bool,
    ) -> Result<Option<CaseWarning>, End> {
        const LOOK: Duration = Duration::from_secs(1);
        let since = Instant::now();
        loop {
            let left = cooldown.at_most.saturating_sub(since.elapsed());
            let Some(millic) = self.resources.agents[0].hottest_millic() else {
                return Ok(None);
            };
            let (degrees, wanted) = (millic / 1000, cooldown.below_c);
            if degrees < i32::from(wanted) {
                return Ok(None);
            }
            if left.is_zero() {
                return Ok(Some(CaseWarning::StillHot { below_c: wanted }));
            }
            let seconds = left.as_secs();
            if since.elapsed() < LOOK && !has_begun {
                self.journal.show_wait(&format!(
                    "{degrees} C: waiting for less than {wanted} C, {seconds} s at most"
                ));
            }
            self.journal
                .show_step(&format!("{degrees} C, want {wanted}: {seconds} s at most"));
            self.resources.interrupt.sleep(left.min(LOOK))?;
        }
    }
}
