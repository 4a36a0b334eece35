//! Circumstances that forbid a comparison, and circumstances that its reader must know.

use std::collections::BTreeMap;

use crate::results::row::Row;
use crate::text::digits::counted;
use crate::verdict::judge::Obstacle;

/// Returns why two rows of one case must not be compared, or `None`.
pub(super) fn obstacle(base: &Row, new: &Row) -> Option<Obstacle> {
    let throttled = || {
        let row = [base, new].into_iter().find(|row| row.was_throttled())?;
        let how = row.throttled.clone();
        Some(Obstacle::Throttled { how })
    };
    let other = other_system(base, new).or_else(|| other(BUFFERS, base, new));
    other.or_else(throttled)
}

/// Returns why two rows are of different machines or builds, or `None`.
pub(super) fn other_system(base: &Row, new: &Row) -> Option<Obstacle> {
    other(SYSTEM, base, new)
}

fn other(facts: &[(&str, Fact)], base: &Row, new: &Row) -> Option<Obstacle> {
    facts.iter().find_map(|(what, fact)| {
        let (before, after) = (fact(base), fact(new));
        differ(&before, &after).then(|| Obstacle::Other {
            what: (*what).to_owned(),
            before,
            after,
        })
    })
}

/// A fact about a row as a text. Empty: it is unknown.
type Fact = fn(&Row) -> String;

const SYSTEM: &[(&str, Fact)] = &[
    ("board", |row| row.board.clone()),
    ("model", |row| row.model.clone()),
    ("CPU model", |row| row.cpu_model.clone()),
    ("architecture", |row| row.arch.clone()),
    ("board of the other host", |row| row.remote_board.clone()),
    ("model of the other host", |row| row.remote_model.clone()),
    ("CPU model of the other host", |row| {
        row.remote_cpu_model.clone()
    }),
    ("architecture of the other host", |row| {
        row.remote_machine.clone()
    }),
    // An emulated board differs from a real one.
    ("virtualization", |row| match row.virtualization.as_str() {
        "" => "none".to_owned(),
        by => by.to_owned(),
    }),
    ("build", |row| {
        let kind = if row.is_debug() { "debug" } else { "release" };
        kind.to_owned()
    }),
];

const BUFFERS: &[(&str, Fact)] = &[
    ("SO_RCVBUF", |row| bytes(row.rcvbuf_bytes)),
    ("SO_SNDBUF", |row| bytes(row.sndbuf_bytes)),
];

fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("{bytes} B"))
}

fn differ(base: &str, new: &str) -> bool {
    base != new && !base.is_empty() && !new.is_empty()
}

/// Returns a remark for each difference between compared rows that may explain a change.
pub(super) fn remarks(pairs: &[[&Row; 2]]) -> Vec<String> {
    let facts = FACTS.iter();
    let facts = facts.filter_map(|&(name, fact)| remark(name, fact, pairs));
    let windows = pairs.iter().copied();
    let windows = windows.filter(|[base, new]| are_other_windows(base, new));
    let windows: Vec<[&Row; 2]> = windows.collect();
    let length: Fact = |row| {
        let ms = row.window_ms.unwrap_or_default();
        format!("{ms:.0} ms")
    };
    facts.chain(remark("windows", length, &windows)).collect()
}

/// Returns whether windows have other lengths. These are measured, so they are never quite the same: on a busy machine,
/// a short window becomes longer by less than a half.
fn are_other_windows(base: &Row, new: &Row) -> bool {
    let lengths = base.window_ms.zip(new.window_ms);
    let ratio = lengths.map_or(1.0, |(base, new)| (base / new).max(new / base));
    // A damaged file may hold any number.
    (1.5..1e9).contains(&ratio)
}

const FACTS: &[(&str, Fact)] = &[
    ("udpbench", |row| row.version.clone()),
    ("kernel", |row| row.kernel.clone()),
    ("preemption", |row| row.preemption.clone()),
    ("governor", |row| row.governor.clone()),
    ("softirq time in CPU times (irq_time_accounting)", |row| {
        row.irq_time_accounting.clone()
    }),
    ("name of the other host", |row| row.remote.clone()),
    ("kernel of the other host", |row| row.remote_kernel.clone()),
    ("governor of the other host", |row| {
        row.remote_governor.clone()
    }),
    ("target", |row| row.target.clone()),
    ("CPUs", Row::cpus),
    ("rounds", |row| row.rounds.to_string()),
    ("warm-up in ms", |row| {
        row.warmup_ms.map_or_else(String::new, |ms| ms.to_string())
    }),
];

fn remark(name: &str, fact: Fact, pairs: &[[&Row; 2]]) -> Option<String> {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    for [base, new] in pairs {
        let (base, new) = (fact(base), fact(new));
        if differ(&base, &new) {
            *seen.entry((base, new)).or_default() += 1;
        }
    }
    let ((base, new), _) = seen.iter().max_by_key(|(_, count)| **count)?;
    let cases: usize = seen.values().sum();
    let more = if seen.len() > 1 { ", and others" } else { "" };
    Some(format!(
        "other {name} in {}: {base}, now {new}{more}",
        counted(cases, "case")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::placement::Placement;
    use crate::results::row::tests::row_of_a_wire;
    use crate::verdict::compare::tests::row;

    #[test]
    fn what_forbids_a_comparison_is_named() {
        let base = row("mio-level", 0.9);
        assert_eq!(obstacle(&base, &base), None);
        let changed = |change: fn(&mut Row)| {
            let mut new = base.clone();
            change(&mut new);
            obstacle(&base, &new).map_or_else(String::new, |it| it.to_string())
        };
        assert_eq!(
            changed(|new| new.board = "rpi-4b".to_owned()),
            "other board: generic, now rpi-4b"
        );
        assert!(changed(|new| new.arch = "aarch64".to_owned()).starts_with("other architecture"));
        assert!(changed(|new| new.cpu_model = "Z80".to_owned()).starts_with("other CPU model"));
        assert_eq!(
            changed(|new| new.version = "0.1.0-debug".to_owned()),
            "other build: release, now debug"
        );
        assert_eq!(
            changed(|new| new.rcvbuf_bytes = Some(212_992)),
            "other SO_RCVBUF: 4096 B, now 212992 B"
        );
        assert!(changed(|new| new.sndbuf_bytes = Some(1)).starts_with("other SO_SNDBUF"));
        assert_eq!(
            changed(|new| new.throttled = "under-voltage".to_owned()),
            "the board was throttled: under-voltage"
        );
        assert_eq!(
            changed(|new| new.virtualization = "qemu".to_owned()),
            "other virtualization: none, now qemu"
        );
        // An unknown value is no difference.
        assert_eq!(changed(|new| new.model = String::new()), "");
    }

    #[test]
    fn wires_to_other_machines_are_not_compared() {
        let base = row_of_a_wire();
        let changed = |change: fn(&mut Row)| {
            let mut new = base.clone();
            change(&mut new);
            other_system(&base, &new).map_or_else(String::new, |it| it.to_string())
        };
        assert_eq!(
            changed(|new| new.remote_board = "rpi-5".to_owned()),
            "other board of the other host: rpi-4b, now rpi-5"
        );
        assert_eq!(
            changed(|new| new.remote_model = "Raspberry Pi 400".to_owned()),
            "other model of the other host: Raspberry Pi 4 Model B, now Raspberry Pi 400"
        );
        assert_eq!(
            changed(|new| new.remote_cpu_model = "Cortex-A76".to_owned()),
            "other CPU model of the other host: Cortex-A72, now Cortex-A76"
        );
        assert_eq!(
            changed(|new| new.remote_machine = "armv7l".to_owned()),
            "other architecture of the other host: aarch64, now armv7l"
        );
        let again = Row {
            remote: "192.168.7.2".to_owned(),
            remote_kernel: "6.13.0".to_owned(),
            ..base.clone()
        };
        assert_eq!(other_system(&base, &again), None);
        assert_eq!(
            remarks(&[[&base, &again]]),
            [
                "other name of the other host in 1 case: pi@board, now 192.168.7.2",
                "other kernel of the other host in 1 case: 6.12.0, now 6.13.0",
            ]
        );
    }

    #[test]
    fn what_may_be_why_is_said_once_with_how_many_cases_it_concerns() {
        let base = row("mio-level", 0.9);
        let new = Row {
            kernel: "6.13.0".to_owned(),
            pin: Placement::from_lists(base.threads, &[2], &[3]),
            window_ms: Some(1000.0),
            ..base.clone()
        };
        let found = remarks(&[[&base, &new], [&base, &new]]);
        assert_eq!(
            found,
            [
                "other kernel in 2 cases: 6.12.0, now 6.13.0",
                "other CPUs in 2 cases: 0>1, now 2>3",
                "other windows in 2 cases: 100 ms, now 1000 ms"
            ]
        );
        assert!(remarks(&[[&base, &base]]).is_empty());
        for uncounted in [1e300, -1.0, f64::NAN] {
            let new = Row {
                window_ms: Some(uncounted),
                ..base.clone()
            };
            assert!(remarks(&[[&base, &new]]).is_empty(), "{uncounted}");
        }
    }
}
