//! Sockets of several programs that would take the same datagrams.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::json;

use super::Interval;
use super::interval::SocketSeen;
use crate::host::check::Finding;

/// Finds sockets of several processes on one port whose addresses overlap: only some of them get a datagram.
pub(super) fn twins(seen: &Interval) -> Option<Finding> {
    let sockets: Vec<&SocketSeen> = seen.sockets.values().collect();
    let is_twin = |one: &&&SocketSeen| sockets.iter().any(|other| are_twins(one, other));
    let port = sockets
        .iter()
        .filter(is_twin)
        .map(|it| it.state.local.port())
        .min()?;
    let on_port = sockets.iter().filter(is_twin).copied();
    let on_port = on_port.filter(|it| it.state.local.port() == port);
    Some(finding(seen, port, on_port.collect()))
}

fn are_twins(one: &SocketSeen, other: &SocketSeen) -> bool {
    // One that is connected takes what one peer sends, and leaves the rest to the other.
    let are_connected = one.state.is_connected || other.state.is_connected;
    let on_other_devices =
        one.state.device != other.state.device && one.state.device != 0 && other.state.device != 0;
    if one.state.local.port() != other.state.local.port() || are_connected || on_other_devices {
        return false;
    }
    one.owners != other.owners && (takes_part(one, other) || takes_part(other, one))
}

/// Returns whether a socket would take all that is sent to the address of another one.
fn takes_part(one: &SocketSeen, other: &SocketSeen) -> bool {
    match (ip(one), ip(other)) {
        (one, other) if one == other => true,
        // Each member of a group gets its datagrams.
        (_, other) if other.is_multicast() => false,
        (IpAddr::V4(any), IpAddr::V4(_)) => any.is_unspecified(),
        (IpAddr::V6(any), IpAddr::V6(_)) => any.is_unspecified(),
        (IpAddr::V6(any), IpAddr::V4(_)) => any.is_unspecified() && !one.state.ipv6_only,
        (IpAddr::V4(_), IpAddr::V6(_)) => false,
    }
}

fn ip(socket: &SocketSeen) -> IpAddr {
    socket.state.local.ip().to_canonical()
}

fn finding(seen: &Interval, port: u16, mut sockets: Vec<&SocketSeen>) -> Finding {
    // The kernel prefers exact addresses, and IPv4 to both (`compute_score`, net/ipv4/udp.c).
    sockets.sort_by_key(|it| (ip(it).is_unspecified(), ip(it)));
    let first = ip(sockets[0]);
    let (winners, losers): (Vec<&SocketSeen>, Vec<_>) =
        sockets.iter().partition(|it| ip(it) == first);
    let each = sockets.iter().map(|it| at(seen, it)).collect::<Vec<_>>();
    let values = json!({
        "count": sockets.len(),
        "port": port,
        "owners": owners(&sockets).len(),
        "each": each.join(", "),
        "winners": names(seen, &winners),
        "address": if first.is_unspecified() { "any IPv4 address".to_owned() } else { first.to_string() },
        "losers": names(seen, &losers),
    });
    let kind = match losers.len() {
        0 => "twins",
        _ => "overlapping-addresses",
    };
    Finding::noted(kind, &values)
}

fn owners(sockets: &[&SocketSeen]) -> BTreeSet<u32> {
    sockets.iter().flat_map(|it| &it.owners).copied().collect()
}

/// Returns a socket's address, its processes, and their runs.
fn at(seen: &Interval, socket: &SocketSeen) -> String {
    let ran = |pid: &u32| {
        let threads = seen.threads.values().filter(|thread| thread.pid == *pid);
        let runs: u64 = threads.map(|thread| thread.runs).sum();
        format!("{} ran {runs} times", name(seen, *pid))
    };
    let each: Vec<String> = socket.owners.iter().map(ran).collect();
    format!("at {} {}", socket.state.local.ip(), each.join(", "))
}

fn names(seen: &Interval, sockets: &[&SocketSeen]) -> String {
    let names: Vec<&str> = owners(sockets)
        .into_iter()
        .map(|pid| name(seen, pid))
        .collect();
    names.join(" and ")
}

fn name(seen: &Interval, pid: u32) -> &str {
    let mut threads = seen.threads.values();
    let thread = threads.find(|thread| thread.pid == pid);
    thread.map_or("?", |thread| &thread.process)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::SocketAddr;

    use super::super::ThreadTimes;
    use super::super::tests::unseen;
    use super::*;

    /// Two processes on port 7: `old` at the first address, `new` at the second.
    fn found(addresses: [&str; 2], ipv6_only: bool) -> Option<Finding> {
        let socket = |address: &str, pid| {
            let mut socket = unseen();
            socket.state.local = SocketAddr::new(address.parse().expect("an address"), 7);
            socket.state.ipv6_only = ipv6_only;
            socket.owners = BTreeSet::from([pid]);
            socket
        };
        let thread = |pid, name: &str, runs| ThreadTimes {
            pid,
            process: format!("{name} (pid {pid})"),
            runs,
            ..ThreadTimes::default()
        };
        let [old, new] = addresses;
        twins(&Interval {
            sockets: BTreeMap::from([(1, socket(new, 9)), (2, socket(old, 8))]),
            threads: BTreeMap::from([(8, thread(8, "old", 690)), (9, thread(9, "new", 0))]),
            ..Interval::default()
        })
    }

    #[test]
    fn of_two_programs_on_one_port_the_one_with_the_exact_address_gets_what_is_sent_there() {
        let exact = found(["192.168.1.77", "0.0.0.0"], false).expect("they are twins");
        assert_eq!(
            exact.seen.to_string(),
            "2 sockets have port 7, of 2 processes: at 192.168.1.77 old (pid 8) ran 690 times, at 0.0.0.0 new (pid 9) \
             ran 0 times"
        );
        let why = "the most exact address wins: old (pid 8) gets what is sent to 192.168.1.77; new (pid 9) gets none \
                   of it";
        assert!(exact.why.starts_with(why), "{exact:?}");
    }

    #[test]
    fn sockets_of_different_interfaces_or_of_one_peer_are_no_twins() {
        let found = |device, is_connected| {
            let socket = |pid, device, is_connected| {
                let mut socket = unseen();
                (socket.state.device, socket.state.is_connected) = (device, is_connected);
                socket.owners = BTreeSet::from([pid]);
                socket
            };
            let sockets = [socket(8, 1, false), socket(9, device, is_connected)];
            twins(&Interval {
                sockets: (1..).zip(sockets).collect(),
                ..Interval::default()
            })
        };
        assert!(found(0, false).is_some(), "one of all interfaces");
        assert!(found(1, false).is_some());
        assert!(found(2, false).is_none());
        assert!(found(1, true).is_none());
    }

    #[test]
    fn addresses_of_one_port_overlap_across_ip_versions() {
        for (addresses, ipv6_only, expected) in [
            (["192.168.1.77", "::"], false, true),
            (["0.0.0.0", "::"], false, true),
            (["::ffff:10.0.0.1", "0.0.0.0"], false, true),
            (["fe80::1", "::"], true, true),
            (["0.0.0.0", "::"], true, false),
            (["10.0.0.1", "10.0.0.2"], false, false),
            (["10.0.0.1", "::1"], false, false),
            (["239.1.1.1", "0.0.0.0"], false, false),
        ] {
            let is_found = found(addresses, ipv6_only).is_some();
            assert_eq!(is_found, expected, "{addresses:?} {ipv6_only}");
        }
        let any = found(["0.0.0.0", "::"], false).expect("they are twins");
        assert!(
            any.why
                .contains("old (pid 8) gets what is sent to any IPv4 address")
        );
    }
}
