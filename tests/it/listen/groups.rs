//! Multicast groups, with and without a source, and link-local addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

use nix::net::if_::if_nametoindex;
use serde_json::Value;
use socket2::SockRef;

use super::{Listener, count, free};
use crate::common::lab::{End, Lab};
use crate::common::program;

/// Returns a sender with this address on loopback, whose multicast stays there.
fn on_loopback(last: u8) -> UdpSocket {
    let sender = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, last), 0)).expect("loopback is up");
    SockRef::from(&sender)
        .set_multicast_if_v4(&Ipv4Addr::LOCALHOST)
        .expect("lo is there");
    sender
}

#[test]
fn a_group_is_joined_and_of_two_senders_the_wanted_one_is_heard() {
    let group = Ipv4Addr::new(232, 7, 7, 7);
    for (options, heard) in [
        ("", 5),
        ("--source 127.0.0.1", 3),
        ("--source 127.0.0.9", 2),
    ] {
        let port = free("0.0.0.0:0").port();
        let options = format!("{group}:{port} --interface lo --format json {options}");
        let listener = Listener::start(&options);
        for (last, times) in [(1, 3), (9, 2)] {
            for _ in 0..times {
                let sender = on_loopback(last);
                sender
                    .send_to(&[0; 50], (group, port))
                    .expect("lo takes it");
            }
        }
        assert_eq!(count(&listener.summary(), "/datagrams"), heard, "{options}");
    }
    // What comes to this host alone is not of the group.
    let port = free("0.0.0.0:0").port();
    let listener = Listener::start(&format!("{group}:{port} --interface lo --format json"));
    on_loopback(1)
        .send_to(&[0; 50], (group, port))
        .expect("lo takes it");
    on_loopback(1)
        .send_to(&[0; 50], ("127.0.0.1", port))
        .expect("lo takes it");
    assert_eq!(count(&listener.summary(), "/datagrams"), 1);
}

/// Returns the link-local address of an end of the lab, once it may be used.
fn link_local(lab: &Lab, end: End) -> Option<Ipv6Addr> {
    let command = match end {
        End::Near => lab.near("ip"),
        End::Far => lab.far("ip"),
    };
    let mut command = command;
    for _ in 0..100 {
        let output = command
            .args(["-6", "-j", "addr", "show", "dev", "eth0", "scope", "link"])
            .output();
        let found: Value = serde_json::from_slice(&output.ok()?.stdout).ok()?;
        let address = found.pointer("/0/addr_info/0")?;
        if address.get("tentative").is_none() {
            return address["local"].as_str()?.parse().ok();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        command = match end {
            End::Near => lab.near("ip"),
            End::Far => lab.far("ip"),
        };
    }
    None
}

#[test]
fn a_link_local_address_and_its_groups_are_heard_by_their_interface() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let (Some(near), Some(far)) = (link_local(&lab, End::Near), link_local(&lab, End::Far)) else {
        eprintln!("SKIPPED: no IPv6 here");
        return;
    };
    let group: Ipv6Addr = "ff02::4242".parse().expect("an address");
    let program = program();
    let program = program.get_program().to_string_lossy();
    let send = |to: Ipv6Addr| {
        lab.within(End::Far, || {
            let interface = if_nametoindex("eth0").expect("it is there");
            let from = SocketAddrV6::new(far, 0, 0, interface);
            let sender = UdpSocket::bind(from).expect("it is not tentative any more");
            let to = SocketAddrV6::new(to, 7400, 0, interface);
            for _ in 0..4 {
                sender.send_to(&[0; 80], to).expect("the cable is up");
            }
        });
    };
    for (options, to, heard) in [
        (format!("[{near}%eth0]:7400"), near, 4),
        (format!("[{near}]:7400 --interface eth0"), near, 4),
        (format!("[{group}%eth0]:7400"), group, 4),
        (format!("[{group}]:7400 --interface eth0"), group, 4),
        (format!("[{group}%eth0]:7400 --source {far}"), group, 4),
        (format!("[{group}%eth0]:7400 --source fe80::9"), group, 0),
    ] {
        let listener = Listener::of(lab.near(&program), &format!("{options} --format json"));
        send(to);
        let (text, errors, _) = listener.end();
        let summary: Value = serde_json::from_str(&text).expect(&errors);
        assert_eq!(count(&summary, "/datagrams"), heard, "{options}");
        if heard > 0 {
            let source = summary["sources"][0]["address"]
                .as_str()
                .expect("an address");
            let source: SocketAddr = source.parse().expect("an address");
            assert_eq!(source.ip(), IpAddr::V6(far));
        }
    }
}
