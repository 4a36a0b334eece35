//! Checks before a sweep is resumed that the host, the program and the plan are those of its start.

use std::time::Duration;

use super::Bench;
use crate::cli::peer::Peer;
use crate::data::Case;
use crate::error::UsageError;
use crate::experiment::sweep::Unable;
use crate::host::board;
use crate::host::facts::Host;
use crate::host::placement::Pin;
use crate::plan::{Decision, Plan, Wire};
use crate::results::log::Header;
use crate::results::row::{isolated_cpus, rps_cpus};
use crate::sys::files::Root;

/// Compares the host (read below `root`, or the remote one), this program and the plan with `then`. Returns the
/// differences, such as `the kernel was 6.1, and is 6.6`, and the cases that could run at the start and cannot run now.
///
/// # Errors
/// Fails if the board's profile no longer exists.
pub fn again(
    then: &Header,
    root: &Root,
    peer: Option<&Peer>,
) -> Result<(Vec<String>, Unable), UsageError> {
    then.plan
        .add_programs()
        .map_err(|problem| UsageError::flag("resume", "its engines", problem))?;
    let bench = Bench::read(root, peer);
    let host = &bench.host;
    let detected = board::choose(&then.board_asked, host)?;
    let pin = then.pin_asked.parse::<Pin>().unwrap_or_default();
    let plan = bench.judged(&then.plan, &detected.board, &pin, peer);
    let was = &then.environment;
    let mut unlike = differences((&was.board, &was.host), (&detected.board.name, host));
    if let Some((wire, now)) = then.wire.as_ref().zip(peer) {
        unlike.extend(other_peer(&then.plan, wire, &now.wire));
    }
    unlike.extend(other_buffers(then, host));
    unlike.extend(rebuilt_programs(then));
    let mut unable = Unable::new();
    for (then, now) in then.plan.cases().zip(plan.cases()) {
        let key = then.case.key();
        match (&then.verdict, &now.verdict) {
            (Decision::Run(..), Decision::Skip(reason)) => {
                unlike.push(format!("{key} ran, and cannot run now: {reason}"));
                unable.insert(key, format!("cannot run any more: {reason}"));
            }
            (Decision::Skip(_), Decision::Run(..)) => {
                unlike.push(format!("{key} was skipped, and could run now"));
            }
            (Decision::Run(was, _), Decision::Run(is, _)) if was != is => {
                unlike.push(format!("{key} was on CPUs {was}, and would be on {is}"));
            }
            // Only the wording differs.
            _ => {}
        }
    }
    Ok((unlike, unable))
}

/// Returns the programs of the plan whose files were written after the run began.
fn rebuilt_programs(then: &Header) -> impl Iterator<Item = String> {
    // Written as whole seconds.
    let started = humantime::parse_rfc3339(&then.run.started_at).ok();
    let started = started.map(|at| at + Duration::from_secs(1));
    let programs = then
        .plan
        .engines
        .iter()
        .filter_map(|it| it.executable.as_ref());
    programs.filter_map(move |path| {
        let written = path.metadata().and_then(|file| file.modified()).ok()?;
        (written > started?).then(|| format!("{} was written since", path.display()))
    })
}

/// Returns the differences of two machines: the name of the board's profile and the facts of each.
fn differences(then: (&str, &Host), now: (&str, &Host)) -> Vec<String> {
    type Fact = fn(&Host) -> Option<String>;
    let facts: [(&str, Fact); 12] = [
        ("model", |host| host.model.clone()),
        ("CPU model", |host| host.cpu_model.clone()),
        ("machine", |host| host.machine.clone()),
        ("virtualization", |host| host.virtualization.clone()),
        ("kernel", |host| host.kernel.clone()),
        ("preemption", |host| host.preemption.clone()),
        ("governor", |host| host.governor.clone()),
        ("list of usable CPUs", |host| Some(host.cpu_list())),
        ("list of isolated CPUs", |host| Some(isolated_cpus(host))),
        ("list of RPS CPUs of lo", |host| Some(rps_cpus(host))),
        ("target", |host| Some(host.build.target.clone())),
        ("version of udpbench", |host| {
            Some(host.build.version.clone())
        }),
    ];
    let board = difference("board", then.0, now.0);
    let differ = facts.iter().filter_map(|(what, fact)| {
        let [then, now] = [then.1, now.1].map(|host| fact(host).unwrap_or_default());
        difference(what, &then, &now)
    });
    board.into_iter().chain(differ).collect()
}

/// Returns the differences of the remote host and the links.
fn other_peer(plan: &Plan, then: &Wire, now: &Wire) -> Vec<String> {
    let mut unlike = differences((&then.board, &then.host), (&now.board, &now.host));
    // Only links that cases use are compared. Others may come and go.
    let way = |wire: &Wire, case: &Case| {
        let link = wire.link(case)?;
        Some(format!("{} to {}", link.local.address, link.remote.address))
    };
    let ways = plan.runnable().map(|planned| {
        let case = &planned.case;
        [then, now].map(|wire| way(wire, case).unwrap_or_default())
    });
    let mut ways: Vec<[String; 2]> = ways.collect();
    ways.sort_unstable();
    ways.dedup();
    for [then, now] in ways {
        unlike.extend(difference("way to it", &then, &now));
    }
    let of_it = |what| format!("of {}, {what}", now.to);
    unlike.into_iter().map(of_it).collect()
}

/// Returns the difference in the granted receive buffer, if any. Loss and speed depend on it, so windows with different
/// buffers must not form one case.
fn other_buffers(then: &Header, now: &Host) -> Option<String> {
    let asked = then
        .plan
        .cases()
        .map(|planned| planned.case.rcvbuf.bytes() as u64);
    let asked = asked.max()?;
    let granted = |host: &Host| match host.rmem_max {
        Some(most) if !host.exceeds_rmem_max => asked.min(most),
        _ => asked,
    };
    let (then, now) = (granted(&then.environment.host), granted(now));
    (then != now).then(|| format!("SO_RCVBUF was granted up to {then} B, and is up to {now} B"))
}

fn difference(what: &str, then: &str, now: &str) -> Option<String> {
    let [was, is] = [then, now].map(|it| if it.is_empty() { "unknown" } else { it });
    (was != is).then(|| format!("the {what} was {was}, and is {is}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_says_what_was_and_what_is() {
        let then = Host {
            kernel: Some("6.1".to_owned()),
            ..Host::default()
        };
        let now = Host {
            kernel: Some("6.6".to_owned()),
            governor: Some("performance".to_owned()),
            ..then.clone()
        };
        assert_eq!(
            differences(("generic", &then), ("generic", &now)),
            [
                "the kernel was 6.1, and is 6.6",
                "the governor was unknown, and is performance"
            ]
        );
        assert!(differences(("generic", &now), ("generic", &now)).is_empty());
    }
}
