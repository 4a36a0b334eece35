//! Options that were typed and change no case of a plan. A table then looks as if they made no difference.
//!
//! `--wait` has a line of its own, which names the engines:
//! [`Axes::unable_to_spin`](crate::plan::Axes::unable_to_spin).

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::cli::ParameterArgs;
use crate::data::parameters::{attribute, parameters};
use crate::data::{Case, Cmsg, SharingKind, Spread};
use crate::engine::{About, Trains};
use crate::plan::Plan;

/// An engine on which each parameter has an effect.
static ABLE: About = About {
    sends_batches: true,
    receives_batches: true,
    trains: Trains::Always,
    control_messages: Cmsg::ALL,
    shares_workers: true,
    ..About::PLAIN
};

/// Expands to the line about one parameter. Each case has a value of a `required` one.
macro_rules! line {
    (required $plan:expr, $given:expr, $has:expr, $flag:expr, $applies:expr) => {
        None
    };
    (optional $plan:expr, $given:expr, $has:expr, $flag:expr, $applies:expr) => {
        line($plan, $flag, $given.as_ref(), $applies, $has)
    };
}

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// Returns a line for each option of `given` that changes no case of `plan`, and one for engines without the
        /// control messages that others have.
        pub fn of(given: &ParameterArgs, plan: &Plan) -> Vec<String> {
            let lines = [
                $(line!($case_kind plan, given.$case, |case: &Case| case.$case.is_some(),
                    attribute!(flag { $($of_case)* }), attribute!(applies { $($of_case)* })),)*
                sharing(given, plan),
                without_control_messages(given, plan),
            ];
            lines.into_iter().flatten().collect()
        }
    };
}
parameters!(define);

fn line<T: Copy + Display>(
    plan: &Plan,
    flag: &str,
    given: Option<&Vec<T>>,
    applies: impl Fn(T, (&About, &About)) -> bool,
    has: impl Fn(&Case) -> bool,
) -> Option<String> {
    let mut given = given?.iter().copied();
    let value = given.find(|value| applies(*value, (&ABLE, &ABLE)))?;
    line_about(plan, flag, value, has)
}

/// Returns the line about engines that cannot have control messages, beside others that have them.
fn without_control_messages(given: &ParameterArgs, plan: &Plan) -> Option<String> {
    let value = given.cmsg.iter().flatten().next()?;
    let receivers = |have: bool| -> BTreeSet<&str> {
        let cases = plan.runnable().map(|planned| &planned.case);
        let cases = cases.filter(|case| case.cmsg.is_some() == have);
        cases.map(|case| case.receiver.as_str()).collect()
    };
    let (with, without) = (receivers(true), receivers(false));
    let names: Vec<&str> = without.difference(&with).copied().collect();
    let names = Some(names.join(", ")).filter(|names| !with.is_empty() && !names.is_empty())?;
    Some(format!(
        "--cmsg {value} does not reach {names}: the others do more work for each datagram"
    ))
}

fn sharing(given: &ParameterArgs, plan: &Plan) -> Option<String> {
    let has = |case: &Case| case.sharing.is_some();
    let mut spreads = given.spread.iter().flatten();
    if let Some(spread) = spreads.find(|it| **it != Spread::Even) {
        return line_about(plan, "--spread", spread, has);
    }
    let mut sharing = given.sharing.iter().flatten();
    let sharing = sharing.find(|it| **it != SharingKind::Reuseport)?;
    line_about(plan, "--sharing", sharing, has)
}

fn line_about(
    plan: &Plan,
    flag: &str,
    value: impl Display,
    has: impl Fn(&Case) -> bool,
) -> Option<String> {
    let is_unused = !plan.cases().any(|planned| has(&planned.case));
    let line = || format!("{flag} {value} changes nothing in these cases: see udpbench --help");
    is_unused.then(line)
}
