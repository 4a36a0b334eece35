//! `--power-command`: a program that prints the watts of an external meter, a line at a time.

use std::io::{BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::error::UsageError;
use crate::plan::{Meter, Settings};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::sys::power::{IdlePower, to_uw};
use crate::text::digits::counted;
use crate::trial::end::running_end::unix_ms;
use crate::trial::spawned::{ends_within, start_thread};

const FLAG: &str = "--power-command";
/// Readings that show how often the command prints.
const FIRST_READINGS: usize = 4;
/// Mean time between two readings: two a second at least, with a tolerance.
const USABLE: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_millis(550);
/// Time for the first readings.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time that the command has to end by itself.
const TIME_TO_END: Duration = Duration::from_millis(500);
/// Longest line, in bytes, with its end.
const LONGEST_LINE: u64 = 256;
/// Readings that are kept.
const MOST_READINGS: usize = 1 << 20;
/// Poll interval while something is waited for.
const LOOK: Duration = Duration::from_millis(10);
/// Intervals that a window needs: the first reading in it may be of the time before.
const INTERVALS_PER_WINDOW: u32 = 3;

/// A running command. Dropping it ends its process group.
#[derive(Debug)]
pub struct PowerCommand {
    process: Child,
    output: Arc<Mutex<Output>>,
    interval: Duration,
}

/// Output of the command.
#[derive(Debug, Default)]
struct Output {
    /// Time of arrival in milliseconds since 1970-01-01 UTC, and microwatts.
    readings: Vec<(u64, u64)>,
    /// The time after which nothing more is read, and why, once that is so.
    ended: Option<(u64, String)>,
}

fn locked(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PowerCommand {
    const FIX: &str = "have it print watts until it is killed, a short line each such as 3.14, 2 to 1000 a second, each \
                       at once (stdbuf -oL)";

    /// Starts the command of these settings, if they have one.
    ///
    /// # Errors
    /// Fails as [`PowerCommand::start`] does.
    pub fn of(settings: &Settings, interrupt: &Interrupt) -> anyhow::Result<Option<Self>> {
        let Some(Meter::Command(command)) = &settings.meter else {
            return Ok(None);
        };
        Self::start(command, settings.window, interrupt).map(Some)
    }

    /// Starts a command for a shell, and waits for its first readings. `window` is the shortest one that it has to
    /// meter.
    ///
    /// # Errors
    /// Fails if the command prints no watts or ends, if it prints too seldom, or if this program is asked to end.
    fn start(command: &str, window: Duration, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let refused = |problem: String| UsageError::flag(FLAG, command, problem);
        let mut process = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Ctrl-C is for this program, which then ends the group.
            .process_group(0)
            .spawn()
            .map_err(|error| refused(format!("no shell can be started: {error}")))?;
        let output = Arc::new(Mutex::new(Output::default()));
        let lines = process.stdout.take();
        let mut started = Self {
            process,
            output: Arc::clone(&output),
            interval: Duration::ZERO,
        };
        // The thread ends with the command.
        start_thread("power", move || lines.map(|lines| collect(lines, &output)))?;
        let since = Instant::now();
        started.interval = loop {
            let readings = locked(&started.output).readings.clone();
            if let Some(why) = &locked(&started.output).ended {
                return Err(refused(format!("{}: {}", why.1, Self::FIX)).into());
            }
            if since.elapsed() > PATIENCE || readings.len() >= FIRST_READINGS {
                let mean = mean_interval(&readings).filter(|it| USABLE.contains(it));
                let (lines, s) = (counted(readings.len(), "line"), since.elapsed());
                let problem = || {
                    format!(
                        "it printed {lines} in {:.1} s: {}",
                        s.as_secs_f64(),
                        Self::FIX
                    )
                };
                break mean.ok_or_else(|| refused(problem()))?;
            }
            interrupt.sleep(LOOK)?;
        };
        let least = started.interval * INTERVALS_PER_WINDOW;
        if window < least {
            let problem = format!(
                "it prints every {} ms, so a window needs {} ms and not {}: use a longer --duration or fewer --rounds",
                started.interval.as_millis(),
                least.as_millis(),
                window.as_millis()
            );
            return Err(refused(problem).into());
        }
        Ok(started)
    }

    /// Returns the mean power in a window, in microwatts, by the readings that arrived in it. The time of the window's
    /// opening is in milliseconds since 1970-01-01 UTC. `None`: there are none, or the command ended in the window.
    pub fn mean_uw(&self, opened_unix_ms: u64, window: Duration) -> Option<u64> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        // The first reading may be a mean over the time before the window.
        let from = opened_unix_ms.saturating_add(ms(self.interval));
        let to = opened_unix_ms.saturating_add(ms(window));
        let output = locked(&self.output);
        let is_whole = output.ended.as_ref().is_none_or(|(at, _)| *at > to);
        mean(&output.readings, from, to).filter(|_| is_whole)
    }

    /// Measures the idle power for `length` in all, or longer if the meter is slow.
    ///
    /// # Errors
    /// Fails if this program is asked to end.
    pub fn idle(
        &self,
        length: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<IdlePower>, Interrupted> {
        // Two readings in each part.
        let slice = (length / IdlePower::SLICES).max(2 * self.interval);
        let mut slices = Vec::new();
        for _ in 0..IdlePower::SLICES {
            let from = unix_ms(SystemTime::now());
            interrupt.sleep(slice)?;
            let to = unix_ms(SystemTime::now());
            slices.extend(mean(&locked(&self.output).readings, from, to));
        }
        Ok(IdlePower::of(&slices))
    }

    /// Returns why no more watts come, once there is a reason, and the fix.
    pub fn ended(&self) -> Option<String> {
        let (_, why) = locked(&self.output).ended.clone()?;
        Some(format!("{FLAG}: {why}: {}", Self::FIX))
    }
}

impl Drop for PowerCommand {
    fn drop(&mut self) {
        // The group was made for the command alone; it is the leader until it is waited for.
        let Ok(group) = i32::try_from(self.process.id()).map(Pid::from_raw) else {
            return;
        };
        let _ = killpg(group, Signal::SIGTERM);
        if !ends_within(&mut self.process, TIME_TO_END) {
            let _ = killpg(group, Signal::SIGKILL);
            let _ = self.process.wait();
        }
    }
}

/// Returns the mean time between readings. `None`: there are less than two.
fn mean_interval(readings: &[(u64, u64)]) -> Option<Duration> {
    let [(first, _), .., (last, _)] = readings else {
        return None;
    };
    let gaps = u32::try_from(readings.len() - 1).ok()?;
    Some(Duration::from_millis(last.saturating_sub(*first)) / gaps)
}

/// Returns the mean of the readings that arrived after `from` and until `to`.
fn mean(readings: &[(u64, u64)], from: u64, to: u64) -> Option<u64> {
    let within = readings.iter().rev().take_while(|(at, _)| *at > from);
    let within = within.filter(|(at, _)| *at <= to);
    let (count, sum) = within.fold((0, 0), |(count, sum), (_, uw)| (count + 1, sum + uw));
    (count > 0).then(|| sum / count)
}

/// Reads the lines of the command until it ends.
fn collect(lines: impl Read, output: &Mutex<Output>) {
    let mut lines = BufReader::new(lines);
    let mut count = 0;
    let ended = loop {
        let mut line = Vec::new();
        let mut rest = lines.by_ref().take(LONGEST_LINE);
        if matches!(rest.read_until(b'\n', &mut line), Ok(0) | Err(_)) {
            break format!("it ended after {}", counted(count, "line"));
        }
        if line.len() as u64 == LONGEST_LINE {
            break format!("it printed a line of {LONGEST_LINE} B or more");
        }
        count += 1;
        let text = String::from_utf8_lossy(&line);
        let mut output = locked(output);
        match microwatts(&text) {
            Some(uw) => {
                // The oldest ones are forgotten before they fill the memory.
                if output.readings.len() == MOST_READINGS {
                    output.readings.drain(..MOST_READINGS / 2);
                }
                output.readings.push((unix_ms(SystemTime::now()), uw));
            }
            // Later, a command may also say something else.
            None if output.readings.len() < FIRST_READINGS && !text.trim().is_empty() => {
                let begin: String = text.trim().chars().take(40).collect();
                break format!("it printed {begin:?}");
            }
            None => {}
        }
    };
    locked(output).ended = Some((unix_ms(SystemTime::now()), ended));
}

/// Parses watts, such as `3.14` or `3.14 W`.
fn microwatts(line: &str) -> Option<u64> {
    let line = line.trim();
    let watts: f64 = line.strip_suffix('W').unwrap_or(line).trim().parse().ok()?;
    to_uw(1e6 * watts).filter(|_| watts < 1e6)
}

#[cfg(test)]
mod tests;
