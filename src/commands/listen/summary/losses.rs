//! Lost numbers, drops by place, the buffer, and the findings.

use super::super::totals::Outcome;
use super::{entry, rounded_up, size};
use crate::commands::check::finding_text;
use crate::host::program::diagnosis::findings_with;
use crate::sys::files::Root;

/// Returns the lost, late and repeated numbers.
pub(super) fn sequence(outcome: &Outcome) -> String {
    let Some(sequence) = outcome.sequence() else {
        return String::new();
    };
    let mut lines = sequence.lines();
    let (before, lost) = (outcome.before_socket(), sequence.lost_before_socket());
    if before > 0 && lost > 0 {
        lines.push(format!(
            "of these, this host may have dropped up to {}; the others were lost on the way",
            before.min(lost)
        ));
    }
    entry("sequence", &lines)
}

/// Returns the drops by place.
pub(super) fn places(outcome: &Outcome) -> String {
    let seen = &outcome.seen;
    let interfaces: Vec<String> = seen
        .interface_drops
        .iter()
        .map(|(counter, lost)| format!("{counter} {lost}"))
        .collect();
    let interfaces = match interfaces.len() {
        0 => "none".to_owned(),
        _ => interfaces.join(", "),
    };
    let mut lines = vec![format!(
        "socket {}; for any program: backlog {}, IP and UDP {}, interfaces {interfaces}",
        outcome.totals.socket_drops, seen.backlog_drops, seen.protocol_drops
    )];
    match &outcome.reasons {
        Ok(reasons) if reasons.is_empty() => {
            lines.push("reasons, for any program: none".to_owned());
        }
        Ok(reasons) => {
            let each = reasons
                .iter()
                .map(|(reason, count)| format!("{reason} {count}"));
            let each: Vec<String> = each.collect();
            lines.push(format!("reasons, for any program: {}", each.join(", ")));
        }
        Err(why) => lines.push(format!("reasons unknown: {why}")),
    }
    entry("drops", &lines)
}

/// Returns the buffer, how full it was, and what the bursts need.
pub(super) fn buffer(outcome: &Outcome) -> String {
    let bytes = outcome.buffer_bytes;
    let most = outcome.end.backlog.most_queued_bytes();
    let full = 100.0 * f64::from(most) / f64::from(bytes.max(1));
    let each = outcome.end.backlog.bytes_per_datagram();
    let datagram = each.map(|each| format!("; a datagram takes up {each} B of it"));
    let mut lines = vec![format!(
        "{} KiB, at most {full:.0} % full{}",
        bytes / 1024,
        datagram.unwrap_or_default()
    )];
    // The first and the last burst may be cut off.
    let bursts = outcome.end.listened.silences.bursts();
    let bursts = bursts.filter(|bursts| bursts.count > 2);
    if let Some((bursts, each)) = bursts.zip(each) {
        // The kernel doubles what is set.
        let needed = rounded_up((bursts.most_datagrams * each).div_ceil(2));
        lines.push(format!(
            "SO_RCVBUF of {} holds the largest burst before anything of it is read",
            size(needed)
        ));
    }
    if let Some(needed) = outcome.needed_rcvbuf() {
        lines.push(format!(
            "SO_RCVBUF of {} would have held what was dropped, by estimate, if none of it was longer than {} B",
            size(rounded_up(needed)),
            outcome.longest_bytes().unwrap_or(0)
        ));
    }
    entry("buffer", &lines)
}

/// Returns what was found, with its fixes.
pub(super) fn findings(outcome: &Outcome) -> String {
    let (seen, dropping) = (&outcome.seen, &outcome.dropping);
    let findings = findings_with(seen, dropping, "udpbench", &larger(outcome));
    let texts = findings.iter().map(|it| format!("\n{}", finding_text(it)));
    texts.collect()
}

/// Returns how this program and others get a buffer that holds the bursts.
fn larger(outcome: &Outcome) -> String {
    let Some(needed) = outcome.needed_rcvbuf() else {
        return "a larger buffer: --rcvbuf 4M".to_owned();
    };
    let needed = rounded_up(needed);
    let most: Option<u64> = Root::new("/").number("proc/sys/net/core/rmem_max");
    let allow = most
        .filter(|most| *most < needed)
        .map(|_| format!("\nprograms may set it after sudo sysctl -w net.core.rmem_max={needed}"));
    format!(
        "a buffer of {} would have held it, by estimate: --rcvbuf {needed}, or SO_RCVBUF in a program{}",
        size(needed),
        allow.unwrap_or_default()
    )
}
