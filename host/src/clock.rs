//! Bound of the error of this host's clock, as the daemon that disciplines it reports it.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::sys::kernel_clock::{self, KernelClock};

/// Time between two reports.
const INTERVAL: Duration = Duration::from_secs(4);
/// Growth of the error from one report to the next, in microseconds, with chrony: 1 ppm, its `maxclockerror`.
const CHRONY_GROWTH_US: f64 = 4.0;
/// Growth with the kernel's own estimate, which adds 500 ppm to what a daemon tells it.
const KERNEL_GROWTH_US: u64 = 2000;
/// Largest error in the kernel, in microseconds, if phc2sys sets it to 0 each second.
const RESET_EACH_SECOND_US: u64 = 1000;
/// Reference of a chrony that follows no other clock.
const OWN_REFERENCE: &str = "7F7F0101";

/// Returns the bound of the clock's error in microseconds, which a thread keeps current until the last clone is dropped.
/// 0: not known, as no daemon disciplines the clock and reports its error.
pub fn watch() -> Arc<AtomicU32> {
    let current = Arc::<AtomicU32>::default();
    let watched = Arc::downgrade(&current);
    let watch = move || {
        while let Some(current) = watched.upgrade() {
            current.store(bound_us().unwrap_or(0), Ordering::Relaxed);
            drop(current);
            thread::sleep(INTERVAL);
        }
    };
    // Without a thread, the bound stays unknown.
    let _ = thread::Builder::new().name("clock".to_owned()).spawn(watch);
    current
}

fn bound_us() -> Option<u32> {
    match chrony_tracking() {
        Some(text) => bound_of_chrony(&text),
        None => bound_of_kernel(kernel_clock::read()?),
    }
}

/// Returns the report of chrony. `None`: it does not run here.
fn chrony_tracking() -> Option<String> {
    let mut chronyc = Command::new("chronyc");
    chronyc.args(["-c", "-n", "tracking"]);
    let output = chronyc.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// Returns the bound of `chronyc -c tracking`, which assumes that the servers at the root are right: the offset, half of
/// the root delay and the root dispersion (chronyc(1)).
fn bound_of_chrony(text: &str) -> Option<u32> {
    let fields: Vec<&str> = text.trim().split(',').collect();
    let seconds = |n: usize| fields.get(n)?.parse().ok().map(f64::abs);
    if *fields.first()? == OWN_REFERENCE || *fields.get(13)? == "Not synchronised" {
        return None;
    }
    let bound = seconds(4)? + seconds(10)? / 2.0 + seconds(11)?;
    whole_us(bound * 1e6 + CHRONY_GROWTH_US)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within the range"
)]
fn whole_us(us: f64) -> Option<u32> {
    (us < f64::from(u32::MAX)).then(|| us.ceil() as u32)
}

/// Returns the bound that a daemon told the kernel. systemd-timesyncd tells two errors of 0, and phc2sys a largest error of
/// 0 each second: these bound nothing.
fn bound_of_kernel(clock: KernelClock) -> Option<u32> {
    let is_told = (1..=clock.max_error_us).contains(&clock.estimated_error_us);
    if !clock.is_synchronised || !is_told || clock.max_error_us <= RESET_EACH_SECOND_US {
        return None;
    }
    u32::try_from(clock.max_error_us + KERNEL_GROWTH_US).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chrony_bounds_the_error_if_it_follows_another_clock() {
        let tracking = |text: &str| bound_of_chrony(text);
        let good = "C0A80001,192.168.0.1,2,1795872777.157,-0.000012000,0.000001,0.000009,\
                    -2.395,0.001,0.012,0.000200000,0.000030000,64.3,Normal\n";
        assert_eq!(tracking(good), Some(12 + 100 + 30 + 4));
        assert_eq!(tracking(&good.replace("Normal", "Not synchronised")), None);
        assert_eq!(tracking(&good.replace("C0A80001", OWN_REFERENCE)), None);
        assert_eq!(tracking(&good.replace("0.000030000", "nan")), None);
        for (cut, _) in good.trim().char_indices().filter(|(_, char)| *char == ',') {
            assert_eq!(tracking(&good[..cut]), None, "cut off");
        }
    }

    #[test]
    fn the_kernel_bounds_the_error_if_a_daemon_told_it_one() {
        let told = KernelClock {
            is_synchronised: true,
            max_error_us: 1500,
            estimated_error_us: 40,
        };
        assert_eq!(bound_of_kernel(told), Some(3500));
        for not_told in [
            KernelClock {
                is_synchronised: false,
                ..told
            },
            // systemd-timesyncd, and phc2sys after a start.
            KernelClock {
                estimated_error_us: 0,
                ..told
            },
            KernelClock {
                estimated_error_us: 16_000_000,
                ..told
            },
            // phc2sys after ntpd.
            KernelClock {
                max_error_us: 500,
                ..told
            },
        ] {
            assert_eq!(bound_of_kernel(not_told), None, "{not_told:?}");
        }
    }
}
