//! Turns the options of `latency` into a sweep of requests: first with clients that wait for each response, then at
//! fractions of their rate, or of the lossless rate.

use std::path::Path;
use std::time::Duration;

use super::{Bench, Request};
use crate::cli::RunArgs;
use crate::cli::peer::Peer;
use crate::data::{Arrivals, Case, Rate, Workload};
use crate::error::UsageError;
use crate::experiment::find::{Record, Search};
use crate::plan::{Block, Decision, LOADS_PCT, Plan, Planned};

/// Default measured time per case. In one second at a tenth of 10,000 responses per second, only ten of 1000 responses
/// are beyond the 99th percentile.
const DEFAULT_DURATION: Duration = Duration::from_secs(2);

/// Fills in options that were not typed. Takes `--arrivals` out and returns it, since it applies to the second half
/// only.
pub fn complete(args: &mut RunArgs) -> Option<Vec<Arrivals>> {
    args.parameters.workload = Some(vec![Workload::Rr]);
    args.measuring.no_reference = true;
    if !args.measuring.quick {
        args.measuring.duration.get_or_insert(DEFAULT_DURATION);
    }
    args.parameters.arrivals.take()
}

/// Returns the runnable cases with their lossless rates from the log of a search. Error messages name `path`.
///
/// # Errors
/// Fails if the log lacks a case.
pub fn lossless_rates(
    request: &Request,
    record: &Record,
    path: &Path,
) -> Result<Vec<(Case, f64)>, UsageError> {
    let mut all = Vec::new();
    let blocks = request.plan.blocks.iter();
    for (case, _) in blocks.flat_map(Block::runnable) {
        let mut searched = record.cases.iter();
        let Some(searched) = searched.find(|searched| searched.case == *case) else {
            let problem = format!(
                "it has no rate of {}: use that of udpbench find lossless --workload rr, with the same options",
                case.key()
            );
            return Err(UsageError::flag("--load", &path.display(), problem));
        };
        // No rate is lossless: the case is measured without loads.
        let load = match &searched.search {
            Search::Lossless(search) => search.found().load,
            _ => None,
        };
        all.extend(load.map(|load| (*case, f64::from(load))));
    }
    Ok(all)
}

impl Request {
    /// Adds the same cases at fractions of the capacities, in responses per second.
    pub fn add_loads(
        &mut self,
        args: &RunArgs,
        peer: Option<&Peer>,
        capacities: &[(Case, f64)],
        arrivals: &[Arrivals],
    ) {
        let mut blocks: Vec<Block> = Vec::new();
        let loads = LOADS_PCT.into_iter();
        let loads = arrivals
            .iter()
            .flat_map(|it| loads.clone().map(move |load| (*it, load)));
        for (case, capacity) in capacities {
            for (arrivals, load_pct) in loads.clone() {
                let case = Case {
                    rate: Some(Rate::nearest(capacity * load_pct / 100.0).into()),
                    arrivals: Some(arrivals).filter(|it| *it != Arrivals::default()),
                    ..*case
                };
                let verdict = Decision::Skip("not judged yet".to_owned());
                let (key, cases) = (case.block(), vec![Planned { case, verdict }]);
                match blocks.iter_mut().find(|block| block.key == key) {
                    Some(block) => block.cases.extend(cases),
                    None => blocks.push(Block { key, cases }),
                }
            }
        }
        let added = Plan {
            engines: self.plan.engines.clone(),
            blocks,
        };
        let pin = args.placement.pin.clone().unwrap_or_default();
        let bench = Bench::of(self.host.clone(), peer);
        let added = bench.judged(&added, &self.detected.board, &pin, peer);
        self.plan.blocks.extend(added.blocks);
    }
}
