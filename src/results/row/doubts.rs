//! Requests of a case at a rate, and how many were answered.

use super::{CaseWarning, derived};
use crate::data::{Arrivals, Case, Sample};

/// Returns why the round trips of a case are invalid, if they are. Above capacity, round trips become longer the
/// longer the overload lasts.
pub(super) fn overload(case: &Case, samples: &[Sample]) -> Option<CaseWarning> {
    let rate = case.rate.filter(|_| case.is_open_loop())?;
    let seconds: f64 = samples.iter().map(derived::window_seconds).sum();
    let answered: u64 = samples.iter().map(derived::received).sum();
    let asked_rps = rate.per_second(case.payload);
    let asked = asked_rps * seconds;
    let edges = 2.0 * samples.len() as f64 * case.threads.senders() as f64;
    let by_chance = match case.arrivals.unwrap_or_default() {
        // Requests in flight at the edges of a window.
        Arrivals::Even => edges / asked,
        Arrivals::Train(length) => edges * f64::from(length) / asked,
        // Four standard deviations.
        Arrivals::Poisson => 4.0 / asked.sqrt(),
    };
    let slack = by_chance.max(0.02);
    let unanswered = 1.0 - answered as f64 / asked;
    if asked <= 0.0 || unanswered <= slack {
        return None;
    }
    let answered_rps = answered as f64 / seconds;
    Some(if unanswered - lost_on_the_way(samples) <= slack {
        CaseWarning::RequestsLost {
            asked_rps,
            answered_rps,
            most: where_most_were_lost(samples),
        }
    } else {
        CaseWarning::AboveCapacity {
            asked_rps,
            answered_rps,
        }
    })
}

/// Returns the fraction of the requests that have no response because one of their two datagrams was lost before it
/// reached a socket.
fn lost_on_the_way(samples: &[Sample]) -> f64 {
    let accounting = derived::total_accounting(samples);
    let came = accounting.received + accounting.unread + accounting.dropped_socket;
    let lost = accounting.sent.saturating_sub(came);
    // The accounting counts requests and responses together; the counts of the threads tell how many were requests.
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    let all: u64 = threads.map(|thread| thread.sent_packets).sum();
    let requests: u64 = samples.iter().map(derived::sent).sum();
    lost as f64 * all as f64 / (accounting.sent as f64 * requests as f64).max(1.0)
}

/// Returns the place on the way where most datagrams were lost, if any was.
fn where_most_were_lost(samples: &[Sample]) -> Option<String> {
    let accounting = derived::total_accounting(samples);
    let places = accounting.places.lost();
    let (place, most) = places.into_iter().max_by_key(|(_, lost)| *lost)?;
    if accounting.refused > most {
        return Some("refused at the sender".to_owned());
    }
    (most > 0).then(|| format!("at {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Side;
    use crate::results::row::tests::six;

    /// Returns the warning for windows of 100 ms in which `answered` requests at a rate of 10,000 per second got a
    /// response.
    fn overload_of(key: &str, answered: [u64; 6]) -> Option<CaseWarning> {
        let case = Case::of_key(&format!("std:std/2t/300B/connected/v4/rr/{key}"));
        let mut samples = six();
        for (sample, answered) in samples.iter_mut().zip(answered) {
            sample.threads[1].received_packets = answered;
        }
        overload(&case.expect("a case"), &samples)
    }

    #[test]
    fn above_capacity_is_where_fewer_are_answered_than_chance_would_have_it() {
        for enough in [[1000; 6], [985; 6], [1100, 900, 1000, 1000, 1000, 1000]] {
            assert_eq!(overload_of("rate10000", enough), None, "{enough:?}");
        }
        let too_few = overload_of("rate10000", [970; 6]).expect("3 % fewer");
        let expected =
            "above capacity: of 10000 requests per second 9700 were answered, so no round trips";
        assert_eq!(too_few.to_string(), expected);
        // The standard deviation of 6,000 random arrivals is 77; four times that is 5 %.
        assert_eq!(overload_of("rate10000/poisson", [960; 6]), None);
        assert!(overload_of("rate10000/poisson", [940; 6]).is_some());
        assert_eq!(
            overload_of("outstanding2", [1; 6]),
            None,
            "no rate was given"
        );
    }

    #[test]
    fn requests_that_were_lost_on_the_way_are_no_capacity() {
        let case = Case::of_key("std:std/2t/300B/connected/v4/rr/rate10000").expect("a case");
        let of = |lost: u64| {
            let mut samples = six();
            for sample in &mut samples {
                // One of five requests has no response; one of nine datagrams sent was lost.
                let [client, server] = &mut sample.threads[..] else {
                    panic!("two threads");
                };
                (client.side, server.side) = (Side::Client, Side::Server);
                (client.sent_packets, server.sent_packets) = (1000, 800);
                (client.received_packets, server.received_packets) = (800, 800);
                let end = &mut sample.accounting.at_end;
                (end.sent, end.received, end.dropped_socket) = (1800, 1800 - lost, 0);
            }
            let warning = overload(&case, &samples);
            warning.expect("fewer were answered").to_string()
        };
        let answered = "of 10000 requests per second 8000 were answered";
        assert_eq!(
            of(200),
            format!("{answered}, as datagrams were lost on the way, so no round trips")
        );
        assert_eq!(
            of(150),
            format!("above capacity: {answered}, so no round trips")
        );
    }
}
