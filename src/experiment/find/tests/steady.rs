//! Simulated searches for rates on machines whose capacity changes with time.

use super::super::load_search::{LoadSearch, LoadTrial};
use super::super::loads::Goal;
use super::super::mlr::MOST;
use super::super::place::TrialOutcome;
use super::normal;

const GOAL: Goal = Goal {
    loss: 0.0,
    exceed: 0.5,
    trial_s: 0.5,
    sum_s: 7.0,
    width: 0.005,
};
/// Time from the end of a window to the next one.
const BETWEEN_S: f64 = 0.3;
/// Number of rechecks, and the pause before each.
const RECHECKS: usize = 10;
const PAUSE_S: f64 = 6.0;
/// Longest time of a search.
const LIMIT_S: f64 = 300.0;
/// Time to a later trial, after which its capacity does not depend on that of the search.
const LATER_S: f64 = 1e4;

/// Returns the capacity after so many seconds, in units of its mean over a long time.
type Capacity = Box<dyn FnMut(f64, &mut fastrand::Rng) -> f64>;

/// Name of a kind of capacity, and its constructor.
type Kind = (&'static str, Box<dyn Fn() -> Capacity>);

/// Always the same.
fn sharp() -> Capacity {
    Box::new(|_, _| 1.0)
}

/// Another one in each trial, with this standard deviation.
fn white(deviation: f64) -> Capacity {
    Box::new(move |_, dice| 1.0 + deviation * normal(dice))
}

/// An autoregressive process whose correlation decays within `tau` seconds.
fn correlated(deviation: f64, tau: f64) -> Capacity {
    let mut state = None;
    Box::new(move |seconds, dice| {
        let kept = (-seconds / tau).exp();
        let new = normal(dice);
        let next = state.map_or(new, |state: f64| {
            kept * state + (1.0 - kept * kept).sqrt() * new
        });
        state = Some(next);
        1.0 + deviation * next
    })
}

/// Two levels at this distance from the mean. Each lasts `dwell` seconds in the mean.
fn levels(distance: f64, dwell: f64) -> Capacity {
    let mut is_high = None;
    Box::new(move |seconds, dice| {
        let before = is_high.unwrap_or(dice.bool());
        // Probability that the number of changes is odd.
        let is_changed = dice.f64() < 0.5 * (1.0 - (-2.0 * seconds / dwell).exp());
        let is_high = *is_high.insert(before != is_changed);
        1.0 + if is_high { distance } else { -distance }
    })
}

/// Numbers of searches.
#[derive(Debug, Default)]
struct Tally {
    /// Not steady, or not finished: without an interval.
    without: u32,
    /// With an interval that holds the mean of the capacity.
    holding: u32,
    /// With an interval that holds the capacity of a trial much later.
    holding_later: u32,
    widths: Vec<f64>,
    longest_s: f64,
}

/// Searches this often for mean capacities between 1,000 and a million.
fn searched(searches: u32, new: impl Fn() -> Capacity) -> Tally {
    let mut dice = fastrand::Rng::with_seed(7);
    let mut tally = Tally::default();
    for _ in 0..searches {
        let mean = 10_f64.powf(3.0 + 3.0 * dice.f64());
        let mut capacity = new();
        let mut search = LoadSearch::new(GOAL, 1000..=MOST, RECHECKS);
        let mut seconds = 0.0;
        while let Some(ask) = search.next().filter(|_| seconds < LIMIT_S) {
            let pause = if search.begins_recheck() {
                PAUSE_S
            } else {
                0.0
            };
            let elapsed = BETWEEN_S + ask.seconds + pause;
            seconds += elapsed;
            let limit = mean * capacity(elapsed, &mut dice);
            search.take(LoadTrial {
                load: ask.load,
                seconds: ask.seconds,
                outcome: TrialOutcome {
                    loss: (1.0 - limit / f64::from(ask.load)).max(0.0),
                    places: Vec::new(),
                    cpu_ns: [None, None],
                    is_disturbed: false,
                },
            });
        }
        let later = mean * capacity(LATER_S, &mut dice);
        tally.longest_s = tally.longest_s.max(seconds);
        let (low, high) = search.found().interval;
        let interval = low.zip(high).filter(|_| search.is_steady());
        let Some((low, high)) = interval else {
            tally.without += 1;
            continue;
        };
        // Loads are whole numbers.
        let (low, high) = (f64::from(low) - 1.0, f64::from(high) + 1.0);
        let holds = |truth: f64| u32::from(low <= truth && truth <= high);
        tally.holding += holds(mean);
        tally.holding_later += holds(later);
        tally.widths.push((high - low) / mean);
    }
    tally.widths.sort_by(f64::total_cmp);
    tally
}

/// Searches, prints the numbers, and returns the share of searches whose interval holds the mean, or that have none.
fn share(name: &str, searches: u32, new: impl Fn() -> Capacity) -> f64 {
    let tally = searched(searches, new);
    let share = f64::from(tally.holding + tally.without) / f64::from(searches);
    let width = tally.widths.get(tally.widths.len() / 2).copied();
    println!(
        "{name}: {share:.3}; of {searches}, {} without an interval, {} hold the mean, {} a later trial; width {:.4}, {:.0} s at most",
        tally.without,
        tally.holding,
        tally.holding_later,
        width.unwrap_or(f64::NAN),
        tally.longest_s,
    );
    share
}

/// Capacities that are the same or independent from trial to trial, and capacities that are not.
fn kinds() -> Vec<Kind> {
    vec![
        ("sharp", Box::new(sharp)),
        ("white, 1 %", Box::new(|| white(0.01))),
        (
            "correlated over 5 s, 1 %",
            Box::new(|| correlated(0.01, 5.0)),
        ),
        (
            "correlated over 30 s, 1 %",
            Box::new(|| correlated(0.01, 30.0)),
        ),
        ("levels of 2 s", Box::new(|| levels(0.05, 2.0))),
        ("levels of 10 s", Box::new(|| levels(0.05, 10.0))),
        ("levels of 25 s", Box::new(|| levels(0.05, 25.0))),
    ]
}

#[test]
fn an_interval_holds_the_capacity_or_there_is_none() {
    for (name, new) in kinds() {
        let share = share(name, 200, new);
        assert!(share >= 0.9, "{name}: {share}");
    }
}

/// Prints the figures of `docs/VALIDATION.md`: `cargo test --release --lib -- --ignored --nocapture of_1000_searches`.
#[test]
#[ignore = "takes a minute"]
fn intervals_of_1000_searches_of_each_kind() {
    let mut kinds = kinds();
    kinds.push(("white, 3 %", Box::new(|| white(0.03))));
    kinds.push((
        "correlated over 30 s, 3 %",
        Box::new(|| correlated(0.03, 30.0)),
    ));
    for (name, new) in kinds {
        let share = share(name, 1000, new);
        assert!(share >= 0.9, "{name}: {share}");
    }
}
