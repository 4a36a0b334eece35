//! Cases between two hosts: the ones that cannot run, and the CPUs of the threads.

use anyhow::{anyhow, ensure};

use super::{Refused, by_half, cannot_run, link_mtu, sharing_cpus};
use crate::data::{Case, Direction, Ip, Workload};
use crate::engines::Engines;
use crate::host::board::Board;
use crate::host::facts::Host;
use crate::host::placement::Placement;
use crate::plan::{Conditions, Location, PlanWarning, Remote, WireLink};

/// One of the two hosts.
struct Side<'a> {
    host: &'a Host,
    board: &'a Board,
    location: Location,
    /// Name of the interface with the address that is used.
    interface: &'a str,
}

/// Checks that a case can run between these hosts. The error is the reason why not.
pub(super) fn can_run(case: &Case, engines: Engines, remote: &Remote) -> anyhow::Result<()> {
    let sender = engines.0;
    ensure!(
        !case.threads.is_alone(),
        "one thread cannot be on two hosts: use --threads 2"
    );
    ensure!(
        case.transport.is_none(),
        "between hosts, datagrams are measured so far, no {}: leave out --transport",
        case.transport()
    );
    ensure!(
        sender.about.moves_datagrams,
        "{sender} moves no datagrams to another host"
    );
    if case.direction == Some(Direction::Both) {
        ensure!(
            !case.is_rr(),
            "requests go one way, and answers the other: use --direction up or down"
        );
        ensure!(
            case.workload != Some(Workload::Bidir),
            "bidir goes both ways: use --direction up or down"
        );
    }
    let link = remote.wire.link(case);
    let link = link.ok_or_else(|| anyhow!(no_way(case.ip, remote)))?;
    if sender.about.sends_trains(case.train) {
        link_mtu::can_be_cut(case, sender, link)?;
    }
    Ok(())
}

/// Returns the first engine of a case that cannot run on the host of its threads.
pub(super) fn refused_engine(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
    remote: &Remote,
) -> Option<Refused> {
    let (sending, receiving) = by_half(case, conditions.engine_refusals, remote.engine_refusals);
    let (from, to) = by_half(case, "here", "there");
    let both = case.receives_at_both_ends();
    cannot_run(&[sender], sending, from)
        .or_else(|| cannot_run(&[receiver], receiving, to))
        .or_else(|| cannot_run(&[receiver], sending, from).filter(|_| both))
        .or_else(|| cannot_run(&[sender], receiving, to).filter(|_| both))
}

fn no_way(ip: Ip, remote: &Remote) -> String {
    let other = remote
        .wire
        .links
        .iter()
        .map(WireLink::ip)
        .find(|other| *other != ip);
    if let Some(other) = other {
        return format!(
            "the other host is reached by IP{other} here: use --ip {other}; or give both interfaces an IP{ip} address, and name \
             the one there by --address"
        );
    }
    format!(
        "no IP{ip} address of the other host is known that this one reaches: name it by --address (see ip -br address \
         there)"
    )
}

/// Returns the CPUs of the threads on each host, and the reasons where they are not those of a profile.
pub(super) fn placement(
    case: &Case,
    conditions: &Conditions,
    remote: &Remote,
) -> (Placement, Vec<String>) {
    let (sending, receiving) = sides(case, conditions, remote);
    let mut fallbacks = Vec::new();
    let mut place = |side: &Side, count| {
        let (host, interface) = (side.host, side.interface);
        let (cpus, reason) = side.board.one_sided_placement(count, host, interface);
        fallbacks.extend(reason);
        cpus
    };
    let placement = Placement {
        senders: place(&sending, case.threads.senders()),
        receivers: place(&receiving, case.threads.receivers()),
    };
    (placement, fallbacks)
}

/// Returns the senders' host, and the receivers' host.
fn sides<'a>(
    case: &Case,
    conditions: &Conditions<'a>,
    remote: &Remote<'a>,
) -> (Side<'a>, Side<'a>) {
    let link = remote.wire.link(case);
    let local = Side {
        host: conditions.host,
        board: conditions.board,
        location: Location::Local,
        interface: link.map_or("", |link| &link.local.interface.name),
    };
    let remote = Side {
        host: &remote.wire.host,
        board: remote.board,
        location: Location::Remote,
        interface: link.map_or("", |link| &link.remote.interface.name),
    };
    by_half(case, local, remote)
}

/// Returns warnings about a case between these hosts.
pub(super) fn warnings(
    case: &Case,
    conditions: &Conditions,
    remote: &Remote,
    placement: &Placement,
) -> Vec<PlanWarning> {
    let (sending, receiving) = sides(case, conditions, remote);
    let each = if case.is_full_duplex() { 2 } else { 1 };
    let beside = usize::from(case.is_open_loop());
    let senders = case.threads.senders() * (each + beside);
    let receivers = case.threads.receivers() * each;
    let crowd = |side: &Side, busy, cpus: &[Option<usize>]| {
        sharing_cpus(busy, cpus.iter().copied(), side.host, Some(side.location))
    };
    let mut warnings: Vec<PlanWarning> = Vec::new();
    warnings.extend(crowd(&sending, senders, &placement.senders));
    warnings.extend(crowd(&receiving, receivers, &placement.receivers));
    if let Some(link) = remote.wire.link(case) {
        warnings.extend(link_mtu::warnings(case, link));
    }
    let shared = placement.shared_cpu();
    let shared = shared.filter(|_| remote.wire.is_one_machine(case));
    warnings.extend(shared.map(|cpu| PlanWarning::BothEndsShareCpu { cpu }));
    warnings
}
