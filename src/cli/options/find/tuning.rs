//! Turns the options of `find tuning` into the header of a comparison and the list of settings to try.

use super::{MIN_WINDOW, Peer, refuse_short, request};
use crate::cli::{SearchArgs, TuningArgs};
use crate::data::LoopbackTrains;
use crate::experiment::ab::header::{AbHeader, Looks, Setup};
use crate::host::tuning::{Name, Wanted};
use crate::plan::{Plan, Settings};
use crate::results::log::Run;
use crate::term::words::words_as_text;

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
) -> anyhow::Result<AbHeader> {
    let search = &args.search;
    refuse_short("--trial", search.trial, MIN_WINDOW)?;
    let mut given = args.common.parameters.clone();
    // What is tried are the settings of the host: a loopback of the trials' own would not have them.
    given.loopback = Some(vec![LoopbackTrains::Whole]);
    let request = request(given, &args.common, peer)?;
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
    Ok(AbHeader {
        run: Run::new(started_at, words_as_text()),
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
pub fn limit(args: &SearchArgs<TuningArgs>, plan: &Plan) -> Option<Looks> {
    let cases = u32::try_from(plan.runnable().count()).unwrap_or(u32::MAX);
    args.common.max_case_time.map(|each| Looks {
        looks: 1,
        max_time: each.saturating_mul(cases),
    })
}

/// Returns the settings that the search should try, if the host has them.
pub fn wanted(args: &SearchArgs<TuningArgs>, peer: Option<&Peer>) -> Wanted {
    let across = peer.filter(|peer| !peer.runs_all());
    let interfaces = across.map(Peer::local_interfaces).unwrap_or_default();
    let has_radio = interfaces.iter().any(|it| it.wireless.is_some());
    let mut names = args.search.setting.clone();
    if names.is_empty() {
        names = Name::usual().collect();
        names.extend(has_radio.then_some(Name::PowerSave));
    }
    // In the order of the table.
    names.sort_unstable();
    names.dedup();
    Wanted {
        names,
        interfaces: match across {
            Some(_) => interfaces.into_iter().map(|it| it.name).collect(),
            None => vec![LOOPBACK.to_owned()],
        },
    }
}
