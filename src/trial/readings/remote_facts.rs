//! Facts about another host that the controller needs before it makes a plan, and drops of other traffic at the
//! interfaces while nothing is measured: they would be taken for drops of the measured traffic.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::data::{Buffer, EngineName};
use crate::engines::{self, exec};
use crate::host::board;
use crate::host::check::{Finding, Subject, Unfit};
use crate::host::facts::{Host, Interface};
use crate::sys::cpu_speed::{self, CpuSpeed};
use crate::sys::drop_reasons::DropReasons;
use crate::sys::files::Root;
use crate::sys::interface_addresses::{self, InterfaceAddress};
use crate::sys::loss_counters::LossReader;
use crate::sys::nic::driver_drops;
use crate::sys::path_counters::PathCounters;
use crate::sys::{own_loopback, reuseport};
use crate::trial::spawned::THIS_PROGRAM;

/// Facts about a host, and about the engines that can run there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RemoteFacts {
    /// The machine.
    pub host: Host,
    /// The addresses of its interfaces.
    pub addresses: Vec<InterfaceAddress>,
    /// The interfaces that have addresses.
    pub interfaces: Vec<Interface>,
    /// Address by which ssh reached the host, and address of the ssh client, as the ends on the host see them. `None`:
    /// not reached by ssh.
    pub ssh: Option<(IpAddr, IpAddr)>,
    /// Engines that cannot run there, each with the reason.
    pub engine_refusals: Vec<(String, String)>,
    /// Reason why its kernel cannot be told how to spread flows, if it cannot.
    pub steering_refusal: Option<String>,
    /// Reason why trials there can have no loopback of their own, which cuts trains, if they cannot.
    pub loopback_refusal: Option<String>,
    /// Properties of the host that may make results misleading.
    pub findings: Vec<Finding>,
    /// Speed of its CPUs when all are busy.
    pub cpu_speeds: Vec<CpuSpeed>,
    /// Drops of other traffic at its interfaces.
    pub drops_of_others: Vec<Unfit>,
    /// Reason why its kernel does not report why it drops packets, if it does not.
    pub no_drop_reasons: Option<String>,
}

impl RemoteFacts {
    /// Reads the facts about this host. `programs` are engines that the controller knows and this process may not.
    ///
    /// # Errors
    /// Fails if this process knows another engine by the name of a program.
    pub fn read(root: &Root, programs: &[(EngineName, PathBuf)]) -> anyhow::Result<Self> {
        exec::add_all(programs).map_err(anyhow::Error::msg)?;
        let refused = engines::all()
            .chain(exec::all())
            .filter_map(|entry| Some((entry.name().to_string(), entry.probe().err()?)));
        let host = Host::read(root);
        let addresses = interface_addresses::with_interfaces();
        let names: BTreeSet<&str> = addresses.iter().map(|it| it.interface.as_str()).collect();
        let interfaces = names.iter().filter_map(|name| Interface::read(root, name));
        let interfaces: Vec<Interface> = interfaces.collect();
        let detected = board::choose("auto", &host);
        let findings = detected
            .map(|it| Subject::new(&host, &it.board, Buffer::DEFAULT.into(), root).findings());
        Ok(Self {
            drops_of_others: drops_of_others(&interfaces),
            no_drop_reasons: DropReasons::open().err(),
            interfaces,
            findings: findings.unwrap_or_default(),
            cpu_speeds: cpu_speed::of_all(&host.cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>()),
            host,
            addresses,
            ssh: std::env::var("SSH_CONNECTION")
                .ok()
                .and_then(|text| ssh_connection(&text)),
            engine_refusals: refused.collect(),
            steering_refusal: reuseport::probe_bpf().err(),
            loopback_refusal: own_loopback::probe(THIS_PROGRAM.as_ref()).err(),
        })
    }
}

/// Parses `SSH_CONNECTION`, and returns the server's address, then the client's.
///
/// The variable contains the client's address and port, then the server's (ssh(1)): `203.0.113.7 51234 203.0.113.9 22`.
/// A link-local address is followed by the interface on that host: `fe80::7%eth0`.
fn ssh_connection(text: &str) -> Option<(IpAddr, IpAddr)> {
    let mut words = text.split_whitespace();
    let address = |word: &str| word.split('%').next()?.parse::<IpAddr>().ok();
    let client = address(words.next()?)?;
    let server = address(words.nth(1)?)?;
    Some((server.to_canonical(), client.to_canonical()))
}

/// Time for which the counters are observed.
const LOOK: Duration = Duration::from_millis(300);

/// Returns the drops of other traffic, for each interface that has some.
pub fn drops_of_others(interfaces: &[Interface]) -> Vec<Unfit> {
    let readers = interfaces.iter().filter_map(|interface| {
        let mut reader = LossReader::of_interface(&interface.name).ok()?;
        let before = reader.read();
        Some((&interface.name, reader, before))
    });
    let readers: Vec<_> = readers.collect();
    thread::sleep(LOOK);
    let moved = readers
        .into_iter()
        .filter_map(|(name, mut reader, before)| {
            let now = reader.read();
            let moved = PathCounters::between(&before, &now, name)?;
            let lost = now.since(&before).lost_at(name);
            told(name, &moved, driver_drops(&lost))
        });
    moved.collect()
}

/// Returns the drops at an interface, if it has some.
///
/// `driver` are the drops that the driver itself counts, in and out. The larger count of the two is used, since a
/// driver may add its drops to the kernel's counters.
fn told(interface: &str, moved: &PathCounters, driver: (u64, u64)) -> Option<Unfit> {
    let places = [
        ("by its queueing discipline", moved.qdisc_drops),
        ("on the way out", moved.nic_out_drops.max(driver.1)),
        ("on the way in", moved.nic_in_drops.max(driver.0)),
        ("by filters", moved.vanished(0)),
        ("by the backlog", moved.backlog_drops),
        (
            "by IP and UDP",
            moved.ip_in_discards + moved.udp_no_ports + moved.udp_in_errors,
        ),
    ];
    let some = places.into_iter().filter(|(_, packets)| *packets > 0);
    let some: Vec<String> = some
        .map(|(place, packets)| format!("{packets} {place}"))
        .collect();
    (!some.is_empty()).then(|| Unfit::DropsOfOthers {
        interface: interface.to_owned(),
        places: some.join(", "),
        ms: u64::try_from(LOOK.as_millis()).unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_ssh_are_found_in_its_variable() {
        let found = ssh_connection("203.0.113.7 51234 203.0.113.9 22");
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let expected = (address("203.0.113.9"), address("203.0.113.7"));
        assert_eq!(found, Some(expected));
        let mapped = ssh_connection("::ffff:203.0.113.7 51234 ::ffff:203.0.113.9 22");
        assert_eq!(mapped, Some(expected));
        let of_one_link = ssh_connection("fe80::7%eth0 51234 fe80::9%eth0 22");
        assert_eq!(of_one_link, Some((address("fe80::9"), address("fe80::7"))));
        assert_eq!(ssh_connection("UNKNOWN 65535 UNKNOWN 65535"), None);
    }

    #[test]
    fn each_place_is_named_and_silence_is_none() {
        let moved = PathCounters {
            nic_in_drops: 3,
            udp_no_ports: 1,
            tx_packets: 9,
            ..PathCounters::default()
        };
        let said = told("eth0", &moved, (2, 0));
        let said = said.expect("there are some").to_string();
        assert!(
            said.contains("at eth0 (3 on the way in, 1 by IP and UDP in 300 ms)"),
            "{said}"
        );
        let nothing = PathCounters::default();
        assert_eq!(told("eth0", &nothing, (0, 0)), None);
        let said = told("eth0", &nothing, (7, 0));
        let said = said.expect("the driver's").to_string();
        assert!(said.contains("(7 on the way in in 300 ms)"), "{said}");
    }
}
