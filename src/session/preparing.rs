//! Steps before measuring: the idle power, heating up (traffic that is not counted) and cooling down.
//!
//! Traffic that heats up also shows the settling time of a case: how long its rate takes to become steady. Threads wake
//! up, queues and caches fill, clocks rise. A shorter warm-up would let these effects into the window. A course is the
//! list of rates in consecutive slices, from the start of the threads on.

use std::time::{Duration, Instant};

use super::Begin;
use super::run::Session;
use crate::host::board::Cooldown;
use crate::plan::REST_SHARE;
use crate::results::log::Event;
use crate::results::row::CaseWarning;
use crate::stats;
use crate::sys::interrupt::Interrupted;
use crate::trial::power_command::PowerCommand;
use crate::trial::spec::TrialSpec;

/// Time over which one rate of a course is measured.
const SLICE: Duration = Duration::from_millis(5);
/// Slices of a course, from the start of the threads on. Together they take three times the longest warm-up of a
/// board's profile.
const SLICES: u32 = 30;
const COURSE: Duration = Duration::from_millis(150);
/// Smallest number of courses. With three, single rates of two threads are still off by a third at any time.
const LEAST_COURSES: u128 = 10;
/// Tolerated deviation of a rate from the steady rate, as a fraction: windows differ by this much where nothing
/// disturbs them.
const TOLERANCE: f64 = 0.05;

impl Session<'_, '_> {
    /// Measures the idle power, and logs it. A meter that fails is no reason to stop: the columns stay empty.
    pub(super) fn measure_idle_power(&mut self, length: Duration) -> anyhow::Result<()> {
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
        self.emit(&Event::IdlePower(idle))
    }

    /// Heats up for the window of a trial. A case that fails here is ignored: its block reports the failure.
    ///
    /// If it is long enough, it is cut into courses, which show how long traffic takes to settle. It is not between two
    /// hosts: no rates can be requested there while traffic runs.
    pub(super) fn heat(&mut self, spec: &TrialSpec) -> anyhow::Result<()> {
        let length = spec.settings.window;
        let shown = humantime::format_duration(length);
        self.journal.show_step(&format!("heating up for {shown}"));
        let agents = &mut self.resources.agents[0];
        let courses = length.as_nanos() / COURSE.as_nanos();
        let settled = if courses < LEAST_COURSES || spec.between.is_some() {
            agents.run(spec).map(|_| None)
        } else {
            let mut sliced = spec.clone();
            sliced.settings.window = SLICE;
            let courses = (0..courses).map(|_| agents.rate_over_time(&sliced, SLICES));
            let courses: anyhow::Result<Vec<Vec<f64>>> = courses.collect();
            courses.map(|courses| settling_time(&courses))
        };
        match settled {
            Err(error) if error.is::<Interrupted>() => Err(error),
            Ok(Some(after)) => self.emit(&Event::Settled {
                case: spec.case.key(),
                after,
            }),
            Err(_) | Ok(None) => Ok(()),
        }
    }

    /// Begins a round of a block: cools down, and logs the block with its warnings.
    pub(super) fn begin(&mut self, begin: &Begin) -> anyhow::Result<()> {
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
    ) -> anyhow::Result<Option<CaseWarning>> {
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

/// Returns the settling time of a case from several courses: afterwards the median course stays within [`TOLERANCE`],
/// or three standard deviations, of its second half. `None`: the second half received nothing.
fn settling_time(courses: &[Vec<f64>]) -> Option<Duration> {
    let at = |slice: usize| {
        let rates: Vec<f64> = courses.iter().map(|course| course[slice]).collect();
        stats::estimate(&rates).map(|estimate| estimate.middle)
    };
    let course: Vec<f64> = (0..SLICES as usize).map(at).collect::<Option<_>>()?;
    let (first, second) = course.split_at(course.len() / 2);
    let stays = stats::estimate(second)?.middle;
    if stays <= 0.0 {
        return None;
    }
    let deviation = stats::coefficient_of_variation(second)?;
    let tolerance = TOLERANCE.max(3.0 * deviation);
    let is_off = |rate: &f64| (rate / stays - 1.0).abs() > tolerance;
    // A single rate that is off is noise, unless it is the first.
    let mut pairs = first.windows(2).enumerate();
    let last = pairs.rfind(|(_, two)| two.iter().all(is_off));
    let slices = match last {
        Some((slice, _)) => slice + 2,
        None => usize::from(first.first().is_some_and(is_off)),
    };
    Some(SLICE * u32::try_from(slices).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settling time of three courses. Each begins with these fractions of its steady rate.
    fn settled(beginning: &[f64]) -> Option<Duration> {
        let course = |scale: f64| {
            let rest =
                (beginning.len()..SLICES as usize).map(|slice| 1.0 + 0.01 * (slice % 3) as f64);
            let rates = beginning.iter().copied().chain(rest);
            rates.map(|rate| scale * rate).collect()
        };
        settling_time(&[course(1e5), course(1.01e5), course(0.99e5)])
    }

    #[test]
    fn it_is_the_time_up_to_the_last_rate_that_is_off() {
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(settled(&[]), ms(0));
        assert_eq!(settled(&[0.5, 0.8, 0.9]), ms(15));
        assert_eq!(settled(&[0.5, 1.0]), ms(5));
        assert_eq!(settled(&[0.5, 1.0, 1.2, 1.0]), ms(5));
        assert_eq!(settled(&[0.5, 1.0, 1.2, 1.1, 1.0]), ms(20));
        assert_eq!(settled(&[0.0; SLICES as usize / 2]), ms(75));
    }

    #[test]
    fn what_scatters_anyway_is_not_off() {
        let noisy: Vec<f64> = (0..SLICES).map(|n| 1e5 + 2e4 * f64::from(n % 2)).collect();
        assert_eq!(settling_time(&vec![noisy; 3]), Some(Duration::ZERO));
        assert_eq!(settling_time(&vec![vec![0.0; SLICES as usize]; 3]), None);
    }
}
