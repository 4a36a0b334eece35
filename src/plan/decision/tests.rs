//! Decisions about hosts and links that are made up.

use super::warnings::sharing_cpus;
use super::*;
use crate::host::board;
use crate::host::facts::Interface;
use crate::plan::{Remote, Wire, WireLink};
use crate::sys::busy_poll::Refusals;

#[test]
fn unknown_cpus_are_not_called_none() {
    let warning = sharing_cpus(2, [None].into_iter(), &Host::default(), None);
    let (threads, location) = (2, None);
    let expected = PlanWarning::UnknownCpus { threads, location };
    assert_eq!(warning, Some(expected));
}

fn decided(key: &str, host: &Host, link: Option<WireLink>) -> Decision {
    let case = Case::of_key(key).expect(key);
    let board = board::find("a test", "generic", "").expect("compiled in");
    let wire = link.map(|link| Wire {
        to: "there".to_owned(),
        links: vec![link],
        board: "generic".to_owned(),
        host: host.clone(),
    });
    let remote = wire.as_ref().map(|wire| Remote {
        wire,
        board: &board,
        steering_refusal: None,
        engine_refusals: &[],
    });
    let conditions = Conditions {
        host,
        board: &board,
        pin: &Pin::None,
        steering_refusal: None,
        loopback_refusal: None,
        engine_refusals: &[],
        remote,
    };
    Decision::of(&case, &conditions)
}

#[test]
fn each_engine_that_receives_needs_what_it_waits_in() {
    let refused = |key: &str, busy_poll: Refusals| {
        let host = Host {
            busy_poll,
            ..Host::default()
        };
        match decided(key, &host, None) {
            Decision::Run(..) => None,
            Decision::Skip(reason) => Some(reason),
        }
    };
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

fn link(local: u32, remote: u32, longest_payload: Option<u32>) -> WireLink {
    let end = |address: &str, mtu: u32| LinkEnd {
        address: address.parse().expect("an address"),
        interface: Interface {
            name: "eth0".to_owned(),
            mtu: Some(mtu),
            ..Interface::default()
        },
        longest_payload,
    };
    WireLink {
        local: end("10.0.0.1", local),
        remote: end("10.0.0.2", remote),
    }
}

/// Returns the warnings about a case over this link, but for those about CPUs.
fn warned(key: &str, link: &WireLink) -> Vec<PlanWarning> {
    let key = format!("std:std/2t/{key}");
    match decided(&key, &Host::default(), Some(link.clone())) {
        Decision::Run(_, warnings) => {
            let is_of_cpus = |it: &PlanWarning| matches!(it, PlanWarning::UnknownCpus { .. });
            warnings.into_iter().filter(|it| !is_of_cpus(it)).collect()
        }
        Decision::Skip(reason) => panic!("{key}: {reason}"),
    }
}

#[test]
fn mtus_that_differ_are_said_with_the_fix_and_nothing_is_cut_that_leaves_whole() {
    let link = link(1500, 1280, Some(1252));
    let warned = |key| warned(key, &link);
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
    assert_eq!(warned("1301B/connected/v4/up", &link), [cut]);
    let location = Location::Local;
    let most_bytes = 1472;
    let here = PlanWarning::Fragments {
        most_bytes,
        location,
    };
    assert_eq!(warned("1473B/connected/v4/up", &link), [here]);
    let reason = |key: &str| {
        let key = format!("gso:gro/2t/{key}");
        match decided(&key, &Host::default(), Some(link.clone())) {
            Decision::Run(..) => String::new(),
            Decision::Skip(reason) => reason,
        }
    };
    assert!(reason("1301B/connected/v4/up").contains("1300 B at most come through"));
    assert!(reason("1473B/connected/v4/up").contains("of 1472 B at most"));
    assert_eq!(reason("1300B/connected/v4/up"), "");
}
