//! Circumstances that forbid a comparison, and circumstances that its reader must know.

use std::collections::BTreeMap;

use crate::results::row::Row;
use crate::text::digits::counted;
use crate::verdict::judge::Obstacle;

/// Returns why two rows of one case must not be compared, or `None`.
pub(super) fn obstacle(base: &Row, new: &Row) -> Option<Obstacle> {
    other_system(base, new)
        .or_else(|| other_buffers(base, new))
        .or_else(|| throttled(base, new))
}

/// Returns why two rows are of different machines or builds, or `None`.
pub(super) fn other_system(base: &Row, new: &Row) -> Option<Obstacle> {
    other_machine(base, new)
        .or_else(|| other_virtualization(base, new))
        .or_else(|| other_build(base, new))
}

fn other_machine(base: &Row, new: &Row) -> Option<Obstacle> {
    MACHINE.iter().find_map(|(name, fact)| {
        let (base, new) = (fact(base), fact(new));
        differ(&base, &new).then(|| other(name, &base, &new))
    })
}

fn other(what: &str, before: &str, after: &str) -> Obstacle {
    Obstacle::Other {
        what: what.to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
    }
}

type Fact = fn(&Row) -> String;

const MACHINE: &[(&str, Fact)] = &[
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
];

/// Returns whether two known texts differ. An empty text is unknown.
fn differ(base: &str, new: &str) -> bool {
    base != new && !base.is_empty() && !new.is_empty()
}

/// Returns the remark on different virtualization. An empty text means that none was found, so an emulated board
/// differs from a real one.
fn other_virtualization(base: &Row, new: &Row) -> Option<Obstacle> {
    let shown = |row: &Row| match row.virtualization.as_str() {
        "" => "none".to_owned(),
        by => by.to_owned(),
    };
    let (base, new) = (shown(base), shown(new));
    (base != new).then(|| other("virtualization", &base, &new))
}

fn other_build(base: &Row, new: &Row) -> Option<Obstacle> {
    let kind = |row: &Row| if row.is_debug() { "debug" } else { "release" };
    let differs = differ(&base.version, &new.version) && base.is_debug() != new.is_debug();
    differs.then(|| other("build", kind(base), kind(new)))
}

fn other_buffers(base: &Row, new: &Row) -> Option<Obstacle> {
    let granted = [
        ("SO_RCVBUF", base.rcvbuf_bytes, new.rcvbuf_bytes),
        ("SO_SNDBUF", base.sndbuf_bytes, new.sndbuf_bytes),
    ];
    granted.into_iter().find_map(|(name, base, new)| {
        let (base, new) = (base?, new?);
        (base != new).then(|| other(name, &format!("{base} B"), &format!("{new} B")))
    })
}

fn throttled(base: &Row, new: &Row) -> Option<Obstacle> {
    let throttled = [base, new].into_iter().find(|row| row.was_throttled())?;
    let how = throttled.throttled.clone();
    Some(Obstacle::Throttled { how })
}

/// Returns a remark for each difference between compared rows that may explain a change.
pub(super) fn remarks(pairs: &[[&Row; 2]]) -> Vec<String> {
    let facts = FACTS
        .iter()
        .filter_map(|&(name, fact)| remark(name, fact, pairs));
    facts.chain(other_windows(pairs)).collect()
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

/// Returns the remark on different lengths of windows. Lengths are measured, so they are never quite the same.
fn other_windows(pairs: &[[&Row; 2]]) -> Option<String> {
    /// Longest window that a file may claim, in ms.
    const LONGEST_MS: f64 = 1e12;
    let window = |row: &Row| row.window_ms.filter(|ms| (0.0..LONGEST_MS).contains(ms));
    let both = pairs
        .iter()
        .filter_map(|[base, new]| window(base).zip(window(new)));
    let differing = both.filter(|(base, new)| base / new > SAME_WINDOW || new / base > SAME_WINDOW);
    let differing: Vec<(f64, f64)> = differing.collect();
    let (base, new) = differing.first()?;
    let cases = counted(differing.len(), "case");
    Some(format!(
        "other windows in {cases}: of {base:.0} ms, now of {new:.0} ms"
    ))
}

/// Ratio of two lengths up to which windows count as equal. On a busy machine, a short window becomes longer by less
/// than this.
const SAME_WINDOW: f64 = 1.5;

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
                "other windows in 2 cases: of 100 ms, now of 1000 ms"
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
