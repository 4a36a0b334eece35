//! Made streams of sensors, of which every number's fate is known: what is said of them is exact, or not known.

mod made;

use std::collections::BTreeMap;

use self::made::{Datagram, Stream, Truth};

/// Verdicts on what was said of sources.
#[derive(Debug, Default)]
struct Verdicts {
    /// All is as it was.
    exact: u32,
    /// Counts are, and so are the limits of what the socket dropped.
    limits: u32,
    unknown: u32,
    /// Sources with plain numbers, and those of them of which losses are not known.
    plain: (u32, u32),
    reasons: BTreeMap<String, u32>,
    wrong: Vec<String>,
}

fn judge(seed: u64, verdicts: &mut Verdicts) {
    let mut stream = Stream::new(seed);
    let arrived = stream.travel();
    let (listened, fates) = stream.hear(&arrived);
    let are_matched = listened.sources.drops_are_matched();
    for source in listened.sources.known() {
        let is_it = |datagram: &Datagram| {
            let ip = source.address.map(|it| it.ip());
            let is_address = Some(datagram.address) == source.address
                || source.changes_port() && Some(datagram.address.ip()) == ip;
            is_address && datagram.interface == source.interface
        };
        let is_plain = stream.is_plain(is_it);
        verdicts.plain.0 += u32::from(is_plain);
        let series = match source.series().expect("all have numbers") {
            Ok(series) => series,
            Err(doubt) => {
                verdicts.unknown += 1;
                verdicts.plain.1 += u32::from(is_plain);
                let kind = format!("{doubt:?}");
                let kind = kind.split(' ').next().unwrap_or_default().to_owned();
                *verdicts.reasons.entry(kind).or_default() += 1;
                continue;
            }
        };
        let said = Truth::said(&series);
        let mut truth = stream.truth(&fates, is_it, false);
        if truth.restarts == said.restarts + 1 {
            truth = stream.truth(&fates, is_it, true);
        }
        let is_exact =
            said.at_socket == 0 || are_matched && series.possible_drops == series.matched_drops;
        if !is_right(said, truth, series.counts.strays, is_exact) {
            let about = stream.about.join("; ");
            let strays = series.counts.strays;
            verdicts.wrong.push(format!(
                "{about}\n  said {said:?}, strays {strays}, exact {is_exact}\n  true {truth:?}\n"
            ));
        } else if is_exact {
            verdicts.exact += 1;
        } else {
            verdicts.limits += 1;
        }
    }
}

/// Returns whether what was said is true. Strays may be missing numbers.
fn is_right(said: Truth, truth: Truth, strays: u64, is_exact: bool) -> bool {
    let are_counts_right = if strays > 0 {
        (said.missing.saturating_sub(strays)..=said.missing).contains(&truth.missing)
    } else {
        let counts = |it: Truth| (it.received, it.missing, it.places, it.restarts);
        counts(said) == counts(truth)
    };
    let is_place_right = if is_exact {
        said.at_socket == truth.at_socket
    } else {
        truth.at_socket <= said.at_socket
    };
    are_counts_right && is_place_right
}

#[test]
fn what_is_said_of_200_made_streams_is_exact_or_not_known() {
    let mut verdicts = Verdicts::default();
    // STREAMS=5000 tries more. A few in a thousand sources are misjudged then: those of short numbers, and of frames of
    // which a loss hides a whole one.
    let seeds = std::env::var("STREAMS").map_or(200, |it| it.parse().expect("a number"));
    for seed in 0..seeds {
        judge(seed, &mut verdicts);
    }
    let wrong = std::mem::take(&mut verdicts.wrong);
    eprintln!("{verdicts:?}");
    for text in &wrong {
        eprintln!("{text}");
    }
    assert_eq!(wrong.len(), 0);
    // Who never says anything is never wrong.
    let (plain, unknown) = verdicts.plain;
    assert!(10 * unknown < plain, "{verdicts:?}");
    assert!(2 * verdicts.limits < verdicts.exact, "{verdicts:?}");
}
