//! Turns the options of `find tuning` into the header of a comparison and the list of settings to try.

use super::{MIN_WINDOW, Peer, Request, Share, refuse_short, refuse_workloads, run};
use crate::cli::{self, SearchArgs, TuningArgs};
use crate::data::LoopbackTrains;
use crate::experiment::ab::header::{Header, Setup, Until};
use crate::host::facts::Interface;
use crate::host::tuning::{Name, Wanted};
use crate::plan::{Plan, Settings};
use crate::results::log::Run;

/// Interface of trials on one host.
const LOOPBACK: &str = "lo";

/// Returns the header of the comparison, still without settings.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn comparison(
    args: &SearchArgs<TuningArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let search = &args.search;
    refuse_short("--trial", search.trial, MIN_WINDOW)?;
    let mut given = args.parameters.clone();
    refuse_workloads(&given, "is of round trips and floods")?;
    // What is tried are the settings of the host: a loopback of the trials' own would not have them.
    given.loopback = Some(vec![LoopbackTrains::Whole]);
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let request = Request::between(&run, peer)?;
    let environment = request.environment();
    let setup = Setup {
        program: None,
        version: String::new(),
        options: Vec::new(),
        before: None,
        settings: Settings {
            window: search.trial,
            ..request.schedule.settings
        },
        plan: request.plan,
    };
    Ok(Header {
        run: Run::new(started_at, cli::words_as_text()),
        rounds: search.rounds,
        until: limit(args, &setup.plan),
        seed: request.schedule.seed,
        a: setup.clone(),
        b: setup,
        environment,
        tunings: None,
        wire: request.wire,
    })
}

/// Returns the time limit of all cases together, if there is one.
pub fn limit(args: &SearchArgs<TuningArgs>, plan: &Plan) -> Option<Until> {
    let cases = u32::try_from(plan.runnable().count()).unwrap_or(u32::MAX);
    args.time.max_case_time.map(|each| Until {
        looks: 1,
        max_time: each.saturating_mul(cases),
    })
}

/// Returns the settings that the search should try, if the host has them.
pub fn wanted(args: &SearchArgs<TuningArgs>, peer: Option<&Peer>) -> Wanted {
    let across = peer.filter(|peer| peer.share == Share::OneEnd);
    let of_wire = across.map(Peer::local_interfaces);
    let radios = of_wire.iter().flatten();
    let has_radio = radios.into_iter().any(|it| it.wireless.is_some());
    let named = |interfaces: Vec<Interface>| interfaces.into_iter().map(|it| it.name).collect();
    Wanted {
        names: names(&args.search.setting, has_radio),
        interfaces: of_wire.map_or_else(|| vec![LOOPBACK.to_owned()], named),
    }
}

/// Returns the setting names sorted in table order without repetitions, or the usual ones if none was typed.
fn names(typed: &[Name], has_radio: bool) -> Vec<Name> {
    if typed.is_empty() {
        let of_radio = has_radio.then_some(Name::PowerSave);
        return Name::usual().chain(of_radio).collect();
    }
    let mut names = typed.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}
