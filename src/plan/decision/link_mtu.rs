//! Datagrams that are longer than an interface or the path between two hosts carries in one piece.

use anyhow::bail;

use crate::data::Case;
use crate::engines::Entry;
use crate::plan::{LinkEnd, Location, PlanWarning, WireLink};

/// One direction of a case.
struct Way<'a> {
    from: &'a LinkEnd,
    to: &'a LinkEnd,
    from_location: Location,
    to_location: Location,
}

/// Returns the directions in which a case sends.
fn ways<'a>(case: &Case, link: &'a WireLink) -> Vec<Way<'a>> {
    let up = Way {
        from: &link.local,
        to: &link.remote,
        from_location: Location::Local,
        to_location: Location::Remote,
    };
    let down = Way {
        from: &link.remote,
        to: &link.local,
        from_location: Location::Remote,
        to_location: Location::Local,
    };
    match (case.receives_at_both_ends(), case.remote_sends()) {
        (true, _) => vec![up, down],
        (false, false) => vec![up],
        (false, true) => vec![down],
    }
}

/// Checks that an engine that has the kernel or the interface segment its datagrams (UDP_SEGMENT) can send this payload.
/// The error is the reason why not.
pub(super) fn can_be_cut(case: &Case, sender: &Entry, link: &WireLink) -> anyhow::Result<()> {
    let payload = u32::from(case.payload);
    let ways = ways(case, link);
    for way in &ways {
        let (most, location) = (way.from.most_payload(), way.from_location);
        if let Some(most) = most.filter(|&most| payload > most) {
            bail!(
                "{sender} cuts datagrams of {most} B at most {location}: they may not be longer than the MTU \
                 (UDP_SEGMENT, udp(7))"
            );
        }
    }
    let of_interfaces = link.longest_payload_by_mtu();
    let mosts = ways.iter().map(|way| way.from.longest_payload);
    let most = mosts.filter_map(|most| most.or(of_interfaces)).min();
    if let Some(most) = most.filter(|&most| payload > most) {
        bail!("{sender} sends each datagram whole, and {most} B at most come through whole");
    }
    Ok(())
}

/// Returns warnings about the fragmentation or loss of long datagrams, for each direction.
pub(super) fn warnings(case: &Case, link: &WireLink) -> Vec<PlanWarning> {
    let payload = u32::from(case.payload);
    let mut warnings = Vec::new();
    for way in ways(case, link) {
        let own = way.from.most_payload();
        let is_cut = own.is_some_and(|most| payload > most);
        if let Some(most_bytes) = own.filter(|_| is_cut) {
            warnings.push(PlanWarning::Fragments {
                most_bytes,
                location: way.from_location,
            });
        }
        warnings.extend(shorter_mtu_behind(&way, payload));
        let whole = way.from.longest_payload.filter(|&most| payload > most);
        let is_paths = whole < link.longest_payload_by_mtu();
        if let Some(most_bytes) = whole.filter(|_| is_paths && !is_cut) {
            warnings.push(PlanWarning::CutOnTheWay { most_bytes });
        }
    }
    warnings
}

/// Returns a warning if the receiving interface has the shorter MTU. It may drop longer frames, like a veth and many
/// drivers.
fn shorter_mtu_behind(way: &Way, payload: u32) -> Option<PlanWarning> {
    let (from, to) = (way.from.interface.mtu?, way.to.interface.mtu?);
    let most_bytes = way.to.most_payload()?;
    (from > to && payload > most_bytes).then(|| PlanWarning::MtusDiffer {
        from: (from, way.from_location),
        to: (to, way.to_location),
        interface: way.from.interface.name.clone(),
        most_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;
    use crate::host::facts::Interface;

    fn end(address: &str, mtu: u32) -> LinkEnd {
        LinkEnd {
            address: address.parse().expect("an address"),
            interface: Interface {
                name: "eth0".to_owned(),
                mtu: Some(mtu),
                ..Interface::default()
            },
            longest_payload: None,
        }
    }

    fn link(local: u32, remote: u32, longest_payload: Option<u32>) -> WireLink {
        let tried = |end| LinkEnd {
            longest_payload,
            ..end
        };
        WireLink {
            local: tried(end("10.0.0.1", local)),
            remote: tried(end("10.0.0.2", remote)),
        }
    }

    fn case(key: &str) -> Case {
        Case::of_key(&format!("std:std/2t/{key}")).expect("a case")
    }

    #[test]
    fn mtus_that_differ_are_said_with_the_fix_and_nothing_is_cut_that_leaves_whole() {
        let link = link(1500, 1280, Some(1252));
        let warned = |key| warnings(&case(key), &link);
        let differ = PlanWarning::MtusDiffer {
            from: (1500, Location::Local),
            to: (1280, Location::Remote),
            interface: "eth0".to_owned(),
            most_bytes: 1252,
        };
        let text = "the MTUs differ: 1500 here, 1280 at the other end, where longer frames may be dropped: ip link \
                    set dev eth0 mtu 1280 here, or --payload 1252";
        assert_eq!(differ.to_string(), text);
        assert_eq!(warned("1400B/connected/v4/up"), [differ]);
        let cut = PlanWarning::Fragments {
            most_bytes: 1252,
            location: Location::Remote,
        };
        assert_eq!(warned("1400B/connected/v4/down"), [cut]);
        assert_eq!(warned("1252B/connected/v4/up"), []);
        // Requests go one way, and responses the other.
        assert_eq!(warned("1400B/connected/v4/rr/up").len(), 2);
        // Fragments are as long as the MTU of the sender, which is the longer one.
        assert_eq!(warned("1473B/connected/v4/up").len(), 2);
    }

    #[test]
    fn what_the_path_does_not_take_is_not_said_to_be_cut_here() {
        let link = link(1500, 1500, Some(1300));
        let cut = PlanWarning::CutOnTheWay { most_bytes: 1300 };
        assert_eq!(warnings(&case("1301B/connected/v4/up"), &link), [cut]);
        let location = Location::Local;
        let most_bytes = 1472;
        let here = PlanWarning::Fragments {
            most_bytes,
            location,
        };
        assert_eq!(warnings(&case("1473B/connected/v4/up"), &link), [here]);
        let reason = |key| {
            let cut = can_be_cut(&case(key), engines::reference(), &link);
            cut.map_or_else(|reason| reason.to_string(), |()| String::new())
        };
        assert!(reason("1301B/connected/v4/up").contains("1300 B at most come through"));
        assert!(reason("1473B/connected/v4/up").contains("of 1472 B at most here"));
        assert_eq!(reason("1300B/connected/v4/up"), "");
    }
}
