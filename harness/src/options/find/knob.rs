//! What `find knob` was asked: the settings that this machine has, and the cases that they are tried in.

use std::time::Duration;

use clap::Parser;

use super::{MIN_WINDOW, Peer, Request, Share, of, refuse_rate, refuse_workloads, run};
use crate::cli::{Cli, KnobArgs, ParameterArgs, SearchArgs};
use crate::data::{Buffer, Workload};
use crate::duration;
use crate::error::UsageError;
use crate::find::knob::Asked;
use crate::find::log::{Header, Question};
use crate::measure::keeper;
use crate::platform::knob::{Name, Subject, choose};

/// What carries datagrams on one host.
const LOOPBACK: &str = "lo";

/// Two cases, which differ in what settings do to them: a flood and round trips.
const USUAL: &str =
    "udpbench --engine std --threads 2 --payload 1460 --ip v4 --connection connected";

pub(super) fn header(
    args: &SearchArgs<KnobArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let search = &args.search;
    if let Some(peer) = peer.filter(|peer| peer.share == Share::All) {
        let fix = "settings are changed on this host only: run it there";
        return Err(UsageError::flag("--on", &peer.wire.to, fix).into());
    }
    if search.trial < MIN_WINDOW {
        let fix = format!("use {} or more", duration::text(MIN_WINDOW));
        return Err(UsageError::flag("--trial", &duration::text(search.trial), fix).into());
    }
    let mut given = args.parameters.clone();
    refuse_rate(&given)?;
    refuse_workloads(&given, "is of round trips and floods")?;
    complete(&mut given)?;
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let request = Request::between(&run, peer)?;
    let here = |peer: &Peer| {
        peer.interfaces_here()
            .into_iter()
            .map(|it| it.name)
            .collect()
    };
    let interfaces: Vec<String> = peer.map_or_else(|| vec![LOOPBACK.to_owned()], here);
    let rcvbuf = request
        .plan
        .cases()
        .map(|planned| planned.case.rcvbuf)
        .max();
    let subject = Subject {
        root: &request.schedule.settings.root,
        host: &request.host,
        interfaces: &interfaces,
        rcvbuf: rcvbuf.unwrap_or(Buffer::DEFAULT),
    };
    let knobs = choose(&subject, &names(&search.knob));
    let waits = knobs.tried.iter().map(keeper::waiting);
    let question = Question::Knob(Asked {
        knobs: knobs.tried.len(),
        rcvbuf: knobs
            .tried
            .iter()
            .position(|knob| knob.name == Name::Rcvbuf),
        waiting: waits.sum::<Duration>(),
        rounds: search.rounds,
        trial: search.trial,
        seed: request.schedule.seed,
    });
    let header = of(question, args.time.max_time, request, started_at);
    Ok(Header {
        knobs: Some(knobs),
        ..header
    })
}

/// Each once, in the order of the table.
fn names(typed: &[Name]) -> Vec<Name> {
    if typed.is_empty() {
        return Name::USUAL.to_vec();
    }
    let mut names = typed.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}

fn complete(given: &mut ParameterArgs) -> anyhow::Result<()> {
    let usual = Cli::try_parse_from(USUAL.split(' '))?.run.parameters;
    if given.sender.is_none() && given.receiver.is_none() {
        given.engine = given.engine.take().or(usual.engine);
    }
    given.threads = given.threads.take().or(usual.threads);
    given.payload = given.payload.take().or(usual.payload);
    given.ip = given.ip.take().or(usual.ip);
    given.connection = given.connection.take().or(usual.connection);
    given
        .workload
        .get_or_insert_with(|| vec![Workload::Flood, Workload::Ask]);
    Ok(())
}
