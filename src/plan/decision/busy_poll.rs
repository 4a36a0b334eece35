//! Busy polling: cases that a kernel or a missing permission forbids, and engines that wait where nothing polls.

use super::{by_half, permitted};
use crate::data::Case;
use crate::engine::BusyPolling;
use crate::engines::{Engines, Entry};
use crate::host::facts::Host;
use crate::plan::{Conditions, PlanWarning};

/// Returns the engines that receive, each with its host. Those of clients come last.
fn receiving<'a>(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions<'a>,
) -> impl Iterator<Item = (&'static Entry, &'a Host)> {
    let local = conditions.host;
    let remote = conditions.remote.map_or(local, |remote| &remote.wire.host);
    let (senders_host, receivers_host) = by_half(case, local, remote);
    let back = if case.is_rr() { sender } else { receiver };
    let back = case.receives_at_both_ends().then_some((back, senders_host));
    std::iter::once((receiver, receivers_host)).chain(back)
}

/// Checks that a case can busy-poll, if it is to. The error is the reason why not.
pub(super) fn can_poll(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
) -> anyhow::Result<()> {
    if case.busy_poll.is_none() {
        return Ok(());
    }
    for (entry, host) in receiving(case, engines, conditions) {
        let refusals = &host.busy_poll;
        let of_engine = match entry.about.busy_polling {
            BusyPolling::Socket | BusyPolling::OutOfReach(_) => &None,
            BusyPolling::Epoll => &refusals.epoll,
            BusyPolling::Uring => &refusals.ring,
        };
        let is_far = !std::ptr::eq(host, conditions.host);
        let place = if is_far { "on the other host: " } else { "" };
        let reason = refusals.socket.as_ref().or(of_engine.as_ref());
        permitted(reason.map(|reason| format!("{place}{reason}")))?;
    }
    Ok(())
}

/// Returns a warning about the first engine that waits where it cannot poll.
pub(super) fn warning(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
) -> Option<PlanWarning> {
    case.busy_poll?;
    receiving(case, engines, conditions).find_map(|(entry, _)| {
        let BusyPolling::OutOfReach(place) = entry.about.busy_polling else {
            return None;
        };
        Some(PlanWarning::WaitsUnpolled {
            engine: entry.name(),
            place: place.to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;
    use crate::host::board;
    use crate::host::placement::Pin;
    use crate::sys::busy_poll::Refusals;

    fn refused(key: &str, busy_poll: Refusals) -> Option<String> {
        let host = Host {
            busy_poll,
            ..Host::default()
        };
        let conditions = Conditions {
            host: &host,
            board: &board::find("a test", "generic", "").expect("compiled in"),
            pin: &Pin::Board,
            steering_refusal: None,
            loopback_refusal: None,
            engine_refusals: &[],
            remote: None,
        };
        let case = Case::of_key(key).expect(key);
        let polls = can_poll(&case, engines::of(&case).expect(key), &conditions);
        polls.err().map(|reason| reason.to_string())
    }

    #[test]
    fn each_engine_that_receives_needs_what_it_waits_in() {
        let why = |text: &str| Some(text.to_owned());
        let no_epoll = || Refusals {
            epoll: why("old"),
            ..Refusals::default()
        };
        let no_socket = || Refusals {
            socket: why("no permission"),
            ..no_epoll()
        };
        let case = |engines: &str, more: &str| format!("{engines}/2t/300B/connected/v4{more}");
        let polls = case("std:epoll-level", "/busy-50us");
        assert_eq!(refused(&polls, no_epoll()), why("old"));
        assert_eq!(refused(&polls, no_socket()), why("no permission"));
        assert_eq!(refused(&case("std:epoll-level", ""), no_socket()), None);
        // Only a client of the same engine receives, too.
        let sends = "epoll-level:std";
        assert_eq!(refused(&case(sends, "/busy-50us"), no_epoll()), None);
        assert_eq!(
            refused(&case(sends, "/busy-50us/rr"), no_epoll()),
            why("old")
        );
    }
}
