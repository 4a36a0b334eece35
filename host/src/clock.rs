//! Bound of the error of this host's clock, as chrony reports it.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Time between two reports.
const INTERVAL: Duration = Duration::from_secs(4);
/// Growth of the error from one report to the next: 1 ppm, chrony's `maxclockerror`.
const GROWTH: Duration = Duration::from_micros(4);
/// Reference of a chrony that follows no other clock.
const OWN_REFERENCE: &str = "7F7F0101";

/// Returns the bound of the clock's error in microseconds, which a thread keeps current until the last clone is
/// dropped. 0: not known, as no chrony disciplines the clock.
pub fn watch() -> Arc<AtomicU32> {
    let current = Arc::<AtomicU32>::default();
    let watched = Arc::downgrade(&current);
    let watch = move || {
        while let Some(current) = watched.upgrade() {
            let bound = chrony_tracking().and_then(|text| bound_of_chrony(&text));
            current.store(bound.unwrap_or(0), Ordering::Relaxed);
            drop(current);
            thread::sleep(INTERVAL);
        }
    };
    // Without a thread, the bound stays unknown.
    let _ = thread::Builder::new().name("clock".to_owned()).spawn(watch);
    current
}

/// Returns the report of chrony. `None`: it does not run here.
fn chrony_tracking() -> Option<String> {
    let mut chronyc = Command::new("chronyc");
    chronyc.args(["-c", "-n", "tracking"]);
    let output = chronyc.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// Returns the bound of `chronyc -c tracking`, which assumes that the servers at the root are right: the offset, half
/// of the root delay and the root dispersion (chronyc(1)).
fn bound_of_chrony(text: &str) -> Option<u32> {
    let fields: Vec<&str> = text.trim().split(',').collect();
    let seconds = |n: usize| fields.get(n)?.parse().ok().map(f64::abs);
    if *fields.first()? == OWN_REFERENCE || *fields.get(13)? == "Not synchronised" {
        return None;
    }
    let bound = seconds(4)? + seconds(10)? / 2.0 + seconds(11)?;
    let bound = Duration::try_from_secs_f64(bound).ok()? + GROWTH;
    u32::try_from(bound.as_nanos().div_ceil(1000)).ok()
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
}
