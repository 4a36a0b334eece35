//! Turns the options of `find tuning` into the header of a search and the list of settings to try.

use std::time::Duration;

use clap::Parser;

use super::{
    MIN_WINDOW, Peer, Request, Share, WITHOUT_RATE, of, refuse_arrivals, refuse_rate, refuse_short,
    refuse_workloads, run,
};
use crate::cli::{Cli, ParameterArgs, SearchArgs, TuningArgs};
use crate::data::{Buffer, LoopbackTrains, Workload};
use crate::experiment::find::header::{Header, Question};
use crate::experiment::find::tuning::TuningQuestion;
use crate::host::facts::Interface;
use crate::host::tuning::{Name, Tuning, Tunings, Wanted};
use crate::trial::changes::changed_settings::min_link_wait;

/// Interface of trials on one host.
const LOOPBACK: &str = "lo";

/// Default parameters. With the default workloads they give two cases, a flood and round trips, on which settings have
/// different effects.
const USUAL: &str =
    "udpbench --engine std --threads 2 --payload 1460 --ip v4 --connection connected";

pub(super) fn header(
    args: &SearchArgs<TuningArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let search = &args.search;
    refuse_short("--trial", search.trial, MIN_WINDOW)?;
    let mut given = args.parameters.clone();
    refuse_rate(&given)?;
    refuse_arrivals(&given, WITHOUT_RATE)?;
    refuse_workloads(&given, "is of round trips and floods")?;
    complete(&mut given)?;
    // What is tried are the settings of the host: a loopback of the trials' own would not have them.
    given.loopback = Some(vec![LoopbackTrains::Whole]);
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let request = Request::between(&run, peer)?;
    let question = Question::Tuning(TuningQuestion {
        tunings: 0,
        rcvbuf: None,
        waiting: Duration::ZERO,
        rounds: search.rounds,
        trial: search.trial,
        seed: request.schedule.seed,
    });
    Ok(of(question, args.time.max_case_time, request, started_at))
}

/// Returns the settings that the search should try, if the host has them.
pub fn wanted(args: &SearchArgs<TuningArgs>, header: &Header, peer: Option<&Peer>) -> Wanted {
    let across = peer.filter(|peer| peer.share == Share::OneEnd);
    let of_wire = across.map(Peer::local_interfaces);
    let radios = of_wire.iter().flatten();
    let has_radio = radios.into_iter().any(|it| it.wireless.is_some());
    let named = |interfaces: Vec<Interface>| interfaces.into_iter().map(|it| it.name).collect();
    let rcvbufs = header.plan.cases().map(|planned| planned.case.rcvbuf);
    Wanted {
        names: names(&args.search.setting, has_radio),
        interfaces: of_wire.map_or_else(|| vec![LOOPBACK.to_owned()], named),
        rcvbuf: rcvbufs.max().unwrap_or(Buffer::DEFAULT),
    }
}

/// Enters the settings to try into the header.
pub fn try_tunings(header: &mut Header, tunings: Tunings) {
    if let Question::Tuning(asked) = &mut header.question {
        asked.tunings = tunings.tried.len();
        asked.waiting = tunings.tried.iter().map(min_link_wait).sum();
        let is_rcvbuf = |tuning: &Tuning| tuning.name == Name::Rcvbuf;
        asked.rcvbuf = tunings.tried.iter().position(is_rcvbuf);
    }
    header.tunings = Some(tunings);
}

/// Returns the setting names sorted in table order without repetitions, or the usual ones if none was typed.
fn names(typed: &[Name], has_radio: bool) -> Vec<Name> {
    if typed.is_empty() {
        let of_radio = has_radio.then_some(Name::PowerSave);
        return Name::USUAL.into_iter().chain(of_radio).collect();
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
        .get_or_insert_with(|| vec![Workload::Flood, Workload::Rr]);
    Ok(())
}
