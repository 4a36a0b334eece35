//! Notices that somebody sets the clock of this machine, also if it is put back soon.

use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use serde::{Deserialize, Serialize};

use super::clock::{boot_ns, monotonic_ns, realtime_ns};

/// Setting of the clock of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSet {
    /// Time since 1970 by the new clock, in nanoseconds: when it was noticed.
    pub at_ns: u64,
    /// Change in nanoseconds. 0: the clock was set and put back before anybody looked.
    pub by_ns: i64,
    /// Part of the change in which this machine was suspended, in nanoseconds: no clock but this one went on.
    #[serde(default)]
    pub suspended_ns: u64,
}

/// Watch on the clock of this machine (CLOCK_REALTIME).
///
/// The kernel tells by a timer (TFD_TIMER_CANCEL_ON_SET, timerfd_create(2)), at once. The change is that of the
/// difference to CLOCK_MONOTONIC: that one never jumps, and a daemon that corrects the pace changes both.
#[derive(Debug)]
pub struct ClockWatch {
    /// `None`: the kernel has no such timer. Then only the difference tells.
    timer: Option<TimerFd>,
    /// The clock minus the monotonic one, in nanoseconds.
    offset_ns: u64,
    /// The time in which this machine was suspended since boot, in nanoseconds. Wraps below 0.
    suspended_ns: u64,
}

/// Shortest suspension that counts, in nanoseconds. No machine comes back sooner.
const LEAST_SUSPENDED_NS: u64 = 100_000_000;
/// Least change that counts if the kernel does not tell of one, in nanoseconds.
const LEAST_NS: u64 = 1_000_000;

impl ClockWatch {
    /// Begins to watch.
    pub fn start() -> Self {
        Self {
            timer: timer(),
            offset_ns: offset_ns(realtime_ns),
            suspended_ns: offset_ns(boot_ns),
        }
    }

    /// Returns what is readable when the clock was set, for poll(2).
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.timer.as_ref().map(AsFd::as_fd)
    }

    /// Returns the change since the last look, if the clock was set.
    pub fn look(&mut self) -> Option<ClockSet> {
        // It does not wait: EAGAIN if the clock was not set.
        let is_told = self.timer.as_ref().is_some_and(|it| it.wait().is_ok());
        let offset_ns = self::offset_ns(realtime_ns);
        let by_ns = i128::from(offset_ns) - i128::from(self.offset_ns);
        let by_ns = i64::try_from(by_ns).unwrap_or(0);
        let is_large = by_ns.unsigned_abs() >= LEAST_NS;
        if !is_told && !is_large {
            return None;
        }
        self.offset_ns = offset_ns;
        let in_all_ns = self::offset_ns(boot_ns);
        // Both are close to 0 if it was never suspended, also below it.
        let suspended_ns = in_all_ns.wrapping_sub(self.suspended_ns);
        let is_suspended = (LEAST_SUSPENDED_NS..u64::MAX / 2).contains(&suspended_ns);
        self.suspended_ns = in_all_ns;
        Some(ClockSet {
            at_ns: realtime_ns(),
            suspended_ns: if is_suspended { suspended_ns } else { 0 },
            by_ns: if is_large { by_ns } else { 0 },
        })
    }
}

impl ClockSet {
    /// Returns the sentence for people, without its time.
    pub fn text(&self) -> String {
        let suspended_ns = i64::try_from(self.suspended_ns).unwrap_or(0);
        let set_ns = self.by_ns - suspended_ns;
        let seconds = self.suspended_ns as f64 / 1e9;
        let suspended = format!("this host was suspended for {seconds:.1} s");
        if suspended_ns > 0 && set_ns.unsigned_abs() < LEAST_NS {
            return suspended;
        }
        let set = Self::set_text(set_ns);
        if suspended_ns > 0 {
            format!("{suspended}; {set}")
        } else {
            set
        }
    }

    fn set_text(by_ns: i64) -> String {
        let ms = by_ns.unsigned_abs() as f64 / 1e6;
        match by_ns {
            0 => "the clock of this host was set and put back".to_owned(),
            1.. => format!("the clock of this host was set forward by {ms:.3} ms"),
            _ => format!("the clock of this host was set back by {ms:.3} ms"),
        }
    }
}

/// Returns a timer that ends when the clock is set.
fn timer() -> Option<TimerFd> {
    let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
    let timer = TimerFd::new(ClockId::CLOCK_REALTIME, flags).ok()?;
    // The last second of a time_t of 32 bits.
    let never = Expiration::OneShot(TimeSpec::new(i32::MAX.into(), 0));
    let cancelled =
        TimerSetTimeFlags::TFD_TIMER_ABSTIME | TimerSetTimeFlags::TFD_TIMER_CANCEL_ON_SET;
    timer.set(never, cancelled).ok()?;
    Some(timer)
}

/// Returns a clock minus the monotonic one. Of a few readings, that with the least time in between.
fn offset_ns(clock_ns: fn() -> u64) -> u64 {
    let readings = (0..3).map(|_| {
        let before = monotonic_ns();
        let now = clock_ns();
        let after = monotonic_ns();
        let took = after.wrapping_sub(before);
        (took, now.wrapping_sub(before + took / 2))
    });
    readings.min().map_or(0, |(_, offset)| offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_nobody_sets_is_not_reported() {
        let mut watch = ClockWatch::start();
        assert!((0..1000).all(|_| watch.look().is_none()));
    }

    #[test]
    fn a_machine_that_was_suspended_is_told_from_a_clock_that_was_set() {
        let mut watch = ClockWatch::start();
        watch.offset_ns -= 4_000_000_000;
        watch.suspended_ns = watch.suspended_ns.wrapping_sub(4_000_000_000);
        let set = watch.look().expect("the clock went on");
        assert!(
            set.text().starts_with("this host was suspended for 4.0 s"),
            "{set:?}"
        );
        let text = |by_ns, suspended_ns| {
            let at_ns = 0;
            ClockSet {
                at_ns,
                by_ns,
                suspended_ns,
            }
            .text()
        };
        assert_eq!(
            text(4_000_000_000, 4_000_000_000),
            "this host was suspended for 4.0 s"
        );
        assert_eq!(
            text(3_000_000_000, 4_000_000_000),
            "this host was suspended for 4.0 s; the clock of this host was set back by 1000.000 ms"
        );
        assert_eq!(text(0, 0), "the clock of this host was set and put back");
    }

    #[test]
    fn the_change_is_that_of_the_difference_to_the_monotonic_clock() {
        let mut watch = ClockWatch::start();
        // As if the clock had been behind before.
        watch.offset_ns -= 150_000_000;
        let set = watch.look().expect("it was set");
        assert!((149_000_000..151_000_000).contains(&set.by_ns), "{set:?}");
        assert_eq!(watch.look(), None);
    }
}
