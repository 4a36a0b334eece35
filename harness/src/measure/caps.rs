//! What an agent lets be sent, whoever drives it.

use std::fmt;
use std::time::{Duration, Instant};

use crate::data::{Case, Counts, Ip};

/// The limits of one session.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Bits per second, headers of IP and UDP among them. `None`: as fast as the host sends.
    pub bits_per_second: Option<u64>,
    /// The same in all, in bytes. `None`: any number.
    pub bytes: Option<u64>,
    /// How long a session lasts at most.
    pub time: Duration,
}

impl Caps {
    /// No limit but a day.
    pub const NONE: Self = Self {
        bits_per_second: None,
        bytes: None,
        time: Duration::from_secs(24 * 60 * 60),
    };

    /// Whether what is sent has to be looked at.
    fn looks(self) -> bool {
        self.bits_per_second.is_some() || self.bytes.is_some()
    }
}

impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bits_per_second {
            Some(bits) => write!(f, "at most {bits} bit/s")?,
            None => f.write_str("as fast as it can")?,
        }
        match self.bytes {
            Some(bytes) => write!(f, ", at most {bytes} bytes in all")?,
            None => f.write_str(", any number of bytes")?,
        }
        let time = humantime::format_duration(self.time);
        write!(
            f,
            ", for {time} at most, to the host that drives it and to no other"
        )
    }
}

/// How often it is looked at what was sent.
const LOOK: Duration = Duration::from_millis(20);
/// A rate is that of so long a time at least: a look that comes late makes the next one short.
const INTERVAL: Duration = Duration::from_millis(50);

/// Holds what was sent against the limits.
pub(super) struct CapWatch {
    caps: Caps,
    began: Instant,
    /// By the trials before this one.
    bytes_before: u64,
    /// Of each datagram of the trial. `None`: no threads run.
    bytes_each: Option<u64>,
    /// By this one, as far as it was looked at.
    bytes: u64,
    looked_at: Instant,
    /// Since when the rate is reckoned, and what had been sent then in this trial.
    last: (Instant, u64),
}

impl CapWatch {
    pub(super) fn new(caps: Caps) -> Self {
        let now = Instant::now();
        Self {
            caps,
            began: now,
            bytes_before: 0,
            bytes_each: None,
            bytes: 0,
            looked_at: now,
            last: (now, 0),
        }
    }

    /// What is left of the time.
    pub(super) fn time_left(&self) -> Duration {
        self.caps.time.saturating_sub(self.began.elapsed())
    }

    /// How soon it is to be looked at what the threads have sent. `None`: never, or none run.
    pub(super) fn next_look(&self) -> Option<Duration> {
        let looks = self.caps.looks() && self.bytes_each.is_some();
        looks.then(|| LOOK.saturating_sub(self.looked_at.elapsed()))
    }

    /// The threads of a case start.
    pub(super) fn started(&mut self, case: &Case) {
        let headers = match case.ip {
            Ip::V4 => 20 + 8,
            Ip::V6 => 40 + 8,
        };
        self.bytes_each = Some(case.payload.bytes() as u64 + headers);
        self.last = (Instant::now(), 0);
    }

    /// They have ended.
    pub(super) fn ended(&mut self) {
        self.bytes_each = None;
        self.bytes_before += std::mem::take(&mut self.bytes);
    }

    /// Why nothing more is sent, if all that may be was.
    pub(super) fn spent(&self) -> Option<String> {
        let most = self.caps.bytes?;
        (self.bytes_before + self.bytes > most).then(|| {
            format!("the agent sends at most {most} bytes in one session (--max-bytes there)")
        })
    }

    /// What they have sent so far, and which limit that is beyond, if any. At the end of a trial, however short it was, its
    /// rate is reckoned, too.
    pub(super) fn counted(&mut self, counts: Counts, when: When) -> Option<String> {
        self.looked_at = Instant::now();
        self.bytes = counts.sent * self.bytes_each?;
        let elapsed = self.last.0.elapsed();
        let too_fast = if elapsed >= INTERVAL || when == When::AtTheEnd {
            self.too_fast(elapsed.max(INTERVAL))
        } else {
            None
        };
        // One that only receives goes on.
        too_fast.or_else(|| self.spent().filter(|_| self.bytes > 0))
    }

    fn too_fast(&mut self, elapsed: Duration) -> Option<String> {
        let (_, before) = std::mem::replace(&mut self.last, (Instant::now(), self.bytes));
        let bytes = self.bytes.saturating_sub(before);
        let bits_per_second = 8.0 * bytes as f64 / elapsed.as_secs_f64();
        let most = self.caps.bits_per_second?;
        (bits_per_second > most as f64).then(|| {
            format!(
                "the agent sends at most {most} bit/s (--max-rate there), and this was {bits_per_second:.0}"
            )
        })
    }
}

/// When it is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// While the threads run.
    Meanwhile,
    /// When they are about to end.
    AtTheEnd,
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn watch(bits_per_second: Option<u64>, bytes: Option<u64>) -> CapWatch {
        let mut watch = CapWatch::new(Caps {
            bits_per_second,
            bytes,
            ..Caps::NONE
        });
        let case = Case::of_key("std:std/2t/72B/connected/v4").expect("a case");
        watch.started(&case);
        watch
    }

    fn sent(sent: u64) -> Counts {
        Counts {
            sent,
            ..Counts::default()
        }
    }

    #[test]
    fn bytes_are_those_of_all_trials() {
        let mut watch = watch(None, Some(1000));
        thread::sleep(INTERVAL);
        assert_eq!(watch.counted(sent(6), When::Meanwhile), None);
        watch.ended();
        watch.started(&Case::of_key("std:std/2t/72B/connected/v4").expect("a case"));
        assert_eq!(watch.counted(sent(4), When::Meanwhile), None);
        let excess = watch.counted(sent(5), When::Meanwhile).expect("1100 bytes");
        assert!(excess.contains("at most 1000 bytes"), "{excess}");
    }

    #[test]
    fn a_rate_is_that_since_the_last_look() {
        let mut watch = watch(Some(1_000_000), None);
        thread::sleep(INTERVAL);
        // 800 bits in 50 ms or more.
        assert_eq!(watch.counted(sent(1), When::Meanwhile), None);
        thread::sleep(INTERVAL);
        // However late the look is, by less than a second.
        let excess = watch
            .counted(sent(1 + 1250), When::Meanwhile)
            .expect("1,000,000 bits more");
        assert!(excess.contains("at most 1000000 bit/s"), "{excess}");
    }

    #[test]
    fn short_trials_add_up_and_have_a_rate() {
        let mut watch = watch(None, Some(1000));
        for _ in 0..3 {
            assert_eq!(watch.spent(), None);
            watch.started(&Case::of_key("std:std/2t/72B/connected/v4").expect("a case"));
            let _ = watch.counted(sent(4), When::AtTheEnd);
            watch.ended();
        }
        assert!(watch.spent().is_some(), "1200 bytes");
        let mut watch = super::tests::watch(Some(1_000_000), None);
        let excess = watch.counted(sent(1250), When::AtTheEnd);
        assert!(excess.is_some(), "1,000,000 bits in less than 50 ms");
    }
}
