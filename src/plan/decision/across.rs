//! Cases between two hosts: the ones that cannot run, and the CPUs of the threads.

use anyhow::{anyhow, ensure};

use super::{Refused, by_half, cannot_run, link_mtu, sharing_cpus};
use crate::data::{Case, Direction, Ip};
use crate::engines::Engines;
use crate::host::board::Board;
use crate::host::facts::Host;
use crate::host::placement::Placement;
use crate::plan::{Conditions, Location, PlanWarning, Remote, WireLink};

/// One of the two hosts, from the view of a case's senders or receivers.
struct Side<'a> {
    host: &'a Host,
    board: &'a Board,
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
            !case.is_full_duplex(),
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
    let (local, remote) = sides(case, conditions, remote);
    let (sending, receiving) = by_half(case, local, remote);
    let threads = case.threads;
    let mut fallbacks = Vec::new();
    let mut place = |side: &Side, count| {
        let placed = side
            .board
            .one_sided_placement(count, side.host, side.interface);
        fallbacks.extend(placed.fallback_reason);
        placed.cpus
    };
    let placement = Placement {
        senders: place(&sending, threads.senders()),
        receivers: place(&receiving, threads.receivers()),
    };
    (placement, fallbacks)
}

fn sides<'a>(
    case: &Case,
    conditions: &Conditions<'a>,
    remote: &Remote<'a>,
) -> (Side<'a>, Side<'a>) {
    let link = remote.wire.link(case);
    let local = Side {
        host: conditions.host,
        board: conditions.board,
        interface: link.map_or("", |link| &link.local.interface.name),
    };
    let remote = Side {
        host: &remote.wire.host,
        board: remote.board,
        interface: link.map_or("", |link| &link.remote.interface.name),
    };
    (local, remote)
}

/// Returns warnings about a case between these hosts.
pub(super) fn warnings(
    case: &Case,
    conditions: &Conditions,
    remote: &Remote,
    placement: &Placement,
) -> Vec<PlanWarning> {
    let mut warnings = crowds(case, conditions, remote, placement);
    let link = remote.wire.link(case);
    warnings.extend(
        link.into_iter()
            .flat_map(|link| link_mtu::warnings(case, link)),
    );
    warnings.extend(on_one_cpu(placement).filter(|_| remote.wire.is_one_machine(case)));
    warnings
}

/// Returns a warning if senders and receivers have a CPU in common. `None`: they have not.
fn on_one_cpu(placement: &Placement) -> Option<PlanWarning> {
    let cpu = placement.shared_cpu()?;
    Some(PlanWarning::BothEndsShareCpu { cpu })
}

/// Returns a warning for each host whose threads share CPUs.
fn crowds(
    case: &Case,
    conditions: &Conditions,
    remote: &Remote,
    placement: &Placement,
) -> Vec<PlanWarning> {
    let (local, remote) = sides(case, conditions, remote);
    let (sending, receiving) = by_half(case, local, remote);
    let each = if case.is_full_duplex() { 2 } else { 1 };
    let beside = usize::from(case.is_open_loop());
    let senders = case.threads.senders() * (each + beside);
    let receivers = case.threads.receivers() * each;
    let (of_senders, of_receivers) = by_half(case, Location::Local, Location::Remote);
    let halves = [
        (senders, &placement.senders, sending.host, of_senders),
        (
            receivers,
            &placement.receivers,
            receiving.host,
            of_receivers,
        ),
    ];
    let crowds = halves
        .into_iter()
        .filter_map(|(busy, cpus, host, location)| {
            sharing_cpus(busy, cpus.iter().copied(), host, Some(location))
        });
    crowds.collect()
}
