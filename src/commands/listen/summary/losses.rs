//! Lost numbers, drops by place, the buffer, and the findings.

use super::super::totals::Outcome;
use super::{entry, rounded_up};
use crate::commands::check::finding_text;
use crate::host::facts::RcvbufLimit;
use crate::host::program::diagnosis::findings_with;
use crate::host::program::losses;
use crate::sys::files::Root;

/// Returns the lost, late and repeated numbers.
pub(super) fn sequence(outcome: &Outcome) -> String {
    let Some(sequence) = outcome.sequence() else {
        return String::new();
    };
    let mut lines = sequence.lines();
    lines.extend(outcome.lost_before_socket());
    entry("sequence", &lines)
}

/// Returns whether a place dropped packets that are not for nobody here every day, or an interface was down.
pub(super) fn is_place_known(outcome: &Outcome) -> bool {
    let causes = losses::causes(&outcome.seen, &outcome.dropping);
    let before = losses::elsewhere(&outcome.seen, &causes);
    let links = outcome.links(&outcome.seen);
    !causes.is_empty() || !links.is_empty() || before.iter().any(|loss| !loss.place.is_common)
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
    let links = outcome.links(seen).into_iter();
    lines.extend(links.map(|(what, next)| format!("{what}: {next}")));
    let causes = losses::causes(&outcome.seen, &outcome.dropping);
    for cause in causes.iter().filter(|cause| !cause.is_full()) {
        let what = cause.place.map_or("no counter says why", |it| &it.what);
        lines.push(format!("at the socket: {what}, {}", cause.datagrams()));
    }
    let before = losses::elsewhere(&outcome.seen, &causes);
    if !before.is_empty() {
        lines.push(format!(
            "by place, for any program: {}",
            losses::list(&before)
        ));
    }
    let with_missing = losses::elsewhere(&outcome.missing, &causes);
    if !with_missing.is_empty() {
        lines.push(format!(
            "while numbers were missing: {}",
            losses::list(&with_missing)
        ));
    }
    if let Some(places) = outcome.not_looked_at() {
        lines.push(format!("not looked at: {places}"));
    }
    entry("drops", &lines)
}

/// Returns the buffer, how full it was, and what the bursts need.
pub(super) fn buffer(outcome: &Outcome) -> String {
    let bytes = outcome.buffer_bytes;
    let most = outcome.end.backlog.most_queued_bytes();
    let full = 100.0 * f64::from(most) / f64::from(bytes.max(1));
    let each = outcome.end.backlog.bytes_per_datagram();
    let held = each.map(|each| {
        format!(
            "; it holds {} such datagrams",
            u64::from(bytes) / each.max(1)
        )
    });
    let mut lines = vec![format!(
        "SO_RCVBUF {} B, at most {full:.0} % full{}",
        bytes / 2,
        held.unwrap_or_default()
    )];
    // The first and the last burst may be cut off.
    let bursts = outcome.end.listened.silences.bursts();
    let bursts = bursts.filter(|bursts| bursts.count > 2);
    if let Some((bursts, each)) = bursts.zip(each) {
        // The kernel doubles what is set.
        let needed = rounded_up((bursts.most_datagrams * each).div_ceil(2));
        lines.push(format!(
            "SO_RCVBUF {needed} B holds the largest burst before anything of it is read"
        ));
    }
    if let Some(needed) = outcome.needed_rcvbuf() {
        lines.push(format!(
            "SO_RCVBUF {} B would have held what was dropped, by estimate, {}",
            rounded_up(needed),
            if_none_is_longer(outcome)
        ));
    }
    entry("buffer", &lines)
}

/// Returns the condition of the estimate: the kernel does not tell the sizes of what it drops.
fn if_none_is_longer(outcome: &Outcome) -> String {
    let longest = outcome.longest_bytes().unwrap_or(0);
    format!("if none of it was longer than {longest} B, as none that came")
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
    let limit = RcvbufLimit::read(&Root::default());
    let is_less = limit.most.is_some_and(|most| most < needed);
    let command = || format!("\nfor programs that set it: {}", limit.command(needed));
    let allow = is_less.then(command);
    format!(
        "SO_RCVBUF {needed} B would have held it, by estimate, {}: here --rcvbuf {needed}; a program sets SO_RCVBUF{}",
        if_none_is_longer(outcome),
        allow.unwrap_or_default()
    )
}
