//! The values of each parameter of a sweep, from the options or the defaults. Lists have no repetitions.

use crate::cli::{EngineArg, ParameterArgs, RunArgs};
use crate::data::parameters::{Extent, attribute, parameters};
use crate::data::{Payload, Sharing, SharingKind, Spread, Workload};
use crate::engines::{self, Entry};
use crate::error::UsageError;
use crate::host::board::{self, Defaults};
use crate::plan::{Axes, once_each};

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// Returns the parameter values of a sweep.
        ///
        /// # Errors
        /// Fails if a list has a value twice, or if an option does not fit the others.
        pub(super) fn of(args: &RunArgs, defaults: &Defaults) -> Result<Axes, UsageError> {
            let given = &args.parameters;
            of_workloads(given)?;
            let extent = if args.measuring.full { Extent::Full } else { Extent::Usual };
            let axes = Axes {
                engines: engine_pairs(given)?,
                engines_are_asked: names_engines(given),
                $($block: values(attribute!(flag { $($of_block)* }), given.$block.as_ref(), (defaults, extent), attribute!(default { $($of_block)* }))?,)*
                $($case: values(attribute!(flag { $($of_case)* }), given.$case.as_ref(), (defaults, extent), attribute!(default { $($of_case)* }))?,)*
                sharings: sharings(given)?,
                reference: !args.measuring.no_reference,
            };
            fits_a_datagram(&axes)?;
            shares_a_port(&axes)?;
            Ok(axes)
        }
    };
}
parameters!(define);

/// Returns an error for options that have no effect on the chosen workloads.
fn of_workloads(given: &ParameterArgs) -> Result<(), UsageError> {
    const OF_REQUESTS: &str = "add --workload rr, or leave it out";
    const OF_DUPLEX: &str = "add --workload bidir, or leave it out";
    const NO_RATE: &str = "bidir measures how fast both directions go at once: leave it out, or add --workload flood or rr";
    const OF_RATES: &str = "add --rate, the datagrams or requests per second, or leave it out";
    const NO_WAITING: &str =
        "leave it out, or --rate: who sends at a rate does not wait for answers";
    let workloads = || given.workload.iter().flatten();
    let asks = workloads().any(|it| *it == Workload::Rr);
    let is_duplex = workloads().any(|it| *it == Workload::Bidir);
    let is_duplex_only = is_duplex && workloads().all(|it| *it == Workload::Bidir);
    let waits = given.rate.is_none();
    let outstanding = text_of(&given.outstanding);
    let think_time = text_of(&given.think_time);
    let flags = [
        ("--outstanding", &outstanding, asks, OF_REQUESTS),
        ("--think-time", &think_time, asks, OF_REQUESTS),
        ("--service", &text_of(&given.service), asks, OF_REQUESTS),
        (
            "--server-model",
            &text_of(&given.server_model),
            asks,
            OF_REQUESTS,
        ),
        ("--duplex", &text_of(&given.duplex), is_duplex, OF_DUPLEX),
        ("--rate", &text_of(&given.rate), !is_duplex_only, NO_RATE),
        ("--arrivals", &text_of(&given.arrivals), !waits, OF_RATES),
        ("--outstanding", &outstanding, waits, NO_WAITING),
        ("--think-time", &think_time, waits, NO_WAITING),
    ];
    let mut wrong = flags.into_iter().filter(|(.., has_effect, _)| !has_effect);
    let refused =
        wrong.find_map(|(flag, value, _, fix)| Some(UsageError::flag(flag, value.as_ref()?, fix)));
    refused.map_or(Ok(()), Err)
}

/// Returns an error if a payload exceeds a datagram and no transport splits messages.
fn fits_a_datagram(axes: &Axes) -> Result<(), UsageError> {
    let has_streams = axes
        .transport
        .iter()
        .any(|transport| !transport.keeps_messages());
    let is_long = |payload: &&Payload| u32::from(**payload) > Payload::MAX_DATAGRAM;
    let most = Payload::MAX_DATAGRAM;
    let fix =
        format!("use {most} or less, the most that one UDP datagram carries, or --transport tcp");
    match axes.payload.iter().find(is_long) {
        Some(payload) if !has_streams => Err(UsageError::flag("--payload", payload, fix)),
        _ => Ok(()),
    }
}

/// Returns an error if receivers are to be chosen by CPU, and never share a port.
fn shares_a_port(axes: &Axes) -> Result<(), UsageError> {
    let by_cpu = axes.sharings.contains(&Sharing::Reuseport(Spread::Cpu));
    let has_several = axes.threads.iter().any(|threads| threads.receivers() > 1);
    if by_cpu && !has_several {
        let fix = "several receivers have to share the port: use --threads 4 or more";
        return Err(UsageError::flag("--spread", &Spread::Cpu, fix));
    }
    Ok(())
}

/// Returns the first value as text.
#[expect(clippy::ref_option, reason = "as options are typed")]
fn text_of<T: ToString>(values: &Option<Vec<T>>) -> Option<String> {
    values.as_ref()?.first().map(ToString::to_string)
}

/// Returns the values of a parameter: those given, or the defaults of the board.
fn values<T: Clone + PartialEq + ToString>(
    flag: &'static str,
    given: Option<&Vec<T>>,
    (board, extent): (&Defaults, Extent),
    default: impl Fn(&Defaults, Extent) -> Vec<T>,
) -> Result<Vec<T>, UsageError> {
    distinct(
        flag,
        given.cloned().unwrap_or_else(|| default(board, extent)),
    )
}

/// Returns the ways in which receivers share a port. Only SO_REUSEPORT has spreads: one sharing for each.
fn sharings(args: &ParameterArgs) -> Result<Vec<Sharing>, UsageError> {
    let kinds = args.sharing.clone();
    let kinds = distinct("--sharing", kinds.unwrap_or(vec![SharingKind::Reuseport]))?;
    let spreads = args.spread.clone().unwrap_or(vec![Spread::Even]);
    let spreads = distinct("--spread", spreads)?;
    let spread_given = args.spread.as_ref().and_then(|given| given.first());
    if let Some(spread) = spread_given.filter(|_| !kinds.contains(&SharingKind::Reuseport)) {
        return Err(UsageError::flag(
            "--spread",
            spread,
            "needs --sharing reuseport: leave --spread out, or add reuseport to --sharing",
        ));
    }
    let of_kind = |kind: SharingKind| match kind {
        SharingKind::Reuseport => spreads.iter().copied().map(Sharing::Reuseport).collect(),
        SharingKind::Reuseaddr => vec![Sharing::Reuseaddr],
        SharingKind::Separate => vec![Sharing::Separate],
    };
    Ok(kinds.into_iter().flat_map(of_kind).collect())
}

type Pair = (&'static Entry, &'static Entry);

fn names_engines(args: &ParameterArgs) -> bool {
    args.engine.is_some() || args.sender.is_some() || args.receiver.is_some()
}

/// Returns the pairs of sender and receiver. `--engine X` pairs X with itself or with its partner. `--sender` and
/// `--receiver` replace a side, and every sender is paired with every receiver.
fn engine_pairs(args: &ParameterArgs) -> Result<Vec<Pair>, UsageError> {
    let both: Vec<Pair> = match &args.engine {
        Some(given) => {
            let entries = given.iter().flat_map(|arg| arg.entries()).collect();
            let pairs = distinct("--engine", entries)?;
            pairs.into_iter().map(Entry::pair).collect()
        }
        None => engines::default_selection().map(Entry::pair).collect(),
    };
    if args.sender.is_none() && args.receiver.is_none() {
        return Ok(both);
    }
    let senders = match &args.sender {
        Some(given) => side("--sender", given, Entry::sends)?,
        None => once_each(both.iter().map(|pair| pair.0)),
    };
    let receivers = match &args.receiver {
        Some(given) => side("--receiver", given, Entry::receives)?,
        None => once_each(both.iter().map(|pair| pair.1)),
    };
    let meet = |sender| receivers.iter().map(move |&receiver| (sender, receiver));
    Ok(senders.into_iter().flat_map(meet).collect())
}

/// Returns the engines of one side. A group loses its engines that cannot take this side. An engine named by itself
/// must be able to take it.
fn side(
    flag: &'static str,
    given: &[EngineArg],
    can: fn(&Entry) -> bool,
) -> Result<Vec<&'static Entry>, UsageError> {
    let named = given.iter().filter_map(|arg| match arg {
        EngineArg::One(entry) => Some(*entry),
        EngineArg::All | EngineArg::Group(_) => None,
    });
    if let Some(entry) = named.into_iter().find(|entry| !can(entry)) {
        let (sender, receiver) = entry.pair();
        let only = if entry.sends() { "sends" } else { "receives" };
        return Err(UsageError::flag(
            flag,
            entry,
            format!("{entry} only {only}: use --sender {sender} --receiver {receiver}"),
        ));
    }
    let entries = given.iter().flat_map(|arg| arg.entries());
    distinct(flag, entries.filter(|entry| can(entry)).collect())
}

fn distinct<T: PartialEq + ToString>(
    flag: &'static str,
    values: Vec<T>,
) -> Result<Vec<T>, UsageError> {
    match board::repeated(&values) {
        Some(value) => Err(UsageError::flag(flag, value, "listed twice")),
        None => Ok(values),
    }
}
