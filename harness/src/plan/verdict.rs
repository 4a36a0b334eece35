//! Whether a case runs, and what may mislead about it.

mod flows;
mod refusal;
mod transport;
mod warnings;

use serde::{Deserialize, Serialize};

pub(super) use self::refusal::can_run_nowhere;
use self::refusal::refusal;
use self::warnings::warnings;
use super::Conditions;
use crate::data::{Case, Ip, Payload};
use crate::engines::{self, Engines};
use crate::platform::placement::{Pin, Placement};

/// Whether a case runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// On these CPUs; what may mislead about it.
    Run(Placement, Vec<String>),
    /// Not; the reason.
    Skip(String),
}

impl Verdict {
    pub(super) fn of(case: &Case, conditions: &Conditions) -> Self {
        let engines = match engines::of(case) {
            Ok(engines) => engines,
            Err(reason) => return Self::Skip(reason),
        };
        if let Some(reason) = refusal(case, engines, conditions) {
            return Self::Skip(reason);
        }
        let (placement, fallback) = match conditions.pin {
            Pin::None => (Placement::unpinned(case.threads), None),
            Pin::To(senders, receivers) => {
                let placement = Placement::from_lists(case.threads, senders, receivers);
                (
                    placement.unwrap_or_else(|| Placement::unpinned(case.threads)),
                    None,
                )
            }
            Pin::Board => match conditions.board.placement(case.threads, conditions.host) {
                Ok(placed) => (placed.placement, placed.fallback),
                Err(reason) => return Self::Skip(reason),
            },
        };
        let mut warnings = warnings(case, engines, conditions, &placement);
        warnings.extend(fallback);
        Self::Run(placement, warnings)
    }
}

/// How many lanes workers run.
fn lanes_on_workers(case: &Case, (sender, receiver): Engines) -> usize {
    let threads = case.threads;
    let receivers = if threads.is_alone() {
        0
    } else {
        threads.receivers()
    };
    let sides = [(sender, threads.senders()), (receiver, receivers)];
    let on_workers = sides
        .iter()
        .filter(|(entry, _)| entry.runs_on_workers(case));
    on_workers.map(|(_, lanes)| lanes).sum()
}

fn is_fragmented(case: &Case) -> bool {
    case.transport.is_none()
        && case.ip == Ip::V6
        && u32::from(case.payload) > Payload::MAX_UNFRAGMENTED_V6
}
