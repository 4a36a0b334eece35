use super::*;
use crate::soak::event::{Kind, Place};
use crate::workload::probe::{EchoState, OneWay};

const GAP_NS: u64 = 1_000_000;
const LIMITS: Limits = Limits {
    gap_ns: GAP_NS as f64,
    outage_ns: 20_000_000,
    delay_ns: 5_000_000,
};

/// A path that returns each probe after 1 ms, except where `fault` says otherwise, by time in ms.
struct Path {
    echo: u32,
    state: EchoState,
}

impl Path {
    fn returned(&mut self, rtt_ms: u64) -> Fate {
        self.state.received += 1;
        let rtt_ns = rtt_ms * 1_000_000;
        let (echo, state) = (self.echo, self.state);
        Fate::Returned(Return {
            rtt_ns,
            echo,
            one_way: OneWay::default(),
            state,
        })
    }
}

fn found(ms: u64, mut fault: impl FnMut(u64, &mut Path) -> Option<Fate>) -> Vec<Event> {
    let mut path = Path {
        echo: 1,
        state: EchoState::default(),
    };
    let mut finder = Finder::new(LIMITS);
    let mut events = Vec::new();
    for start in (0..ms).step_by(100) {
        let outcomes = (start..ms.min(start + 100)).map(|at| ProbeOutcome {
            at_ns: at * GAP_NS,
            fate: fault(at, &mut path).unwrap_or_else(|| path.returned(1)),
        });
        let batch = ProbeBatch {
            outcomes: outcomes.collect(),
            ..ProbeBatch::default()
        };
        events.extend(finder.take(&batch));
    }
    events.extend(finder.finish());
    events
}

/// Start and length in ms, kind and place.
fn shape(event: &Event) -> (u64, u64, Kind, Place) {
    let ms = |ns: u64| ns / GAP_NS;
    (
        ms(event.start_ns),
        ms(event.length_ns),
        event.kind,
        event.place,
    )
}

#[test]
fn without_faults_there_is_no_event() {
    assert_eq!(found(10_000, |_, _| None), []);
}

#[test]
fn a_silence_has_its_start_its_length_and_its_direction() {
    let events = found(10_000, |at, path| match at {
        3000..3300 => Some(Fate::Lost),
        6000..6050 => {
            path.state.received += 1;
            Some(Fate::Lost)
        }
        _ => None,
    });
    let shapes: Vec<_> = events.iter().map(shape).collect();
    let expected = [
        (3000, 300, Kind::Silence, Place::Forward),
        (6000, 50, Kind::Silence, Place::Back),
    ];
    assert_eq!(shapes, expected);
    let first = &events[0];
    assert_eq!(
        (first.lost, first.due, first.lost_forward),
        (300, 300, Some(300))
    );
    assert_eq!((first.silences, first.silent_ns), (1, 300_000_000));
}

#[test]
fn losses_within_a_second_are_one_event_and_short_runs_are_no_silence() {
    let events = found(20_000, |at, _| {
        let is_lost = matches!(at, 5000..7000 if at % 10 == 0) || at == 9000 || at == 9002;
        is_lost.then_some(Fate::Lost)
    });
    let shapes: Vec<_> = events.iter().map(shape).collect();
    let expected = [
        (5000, 1991, Kind::Loss, Place::Forward),
        (9000, 3, Kind::Loss, Place::Forward),
    ];
    assert_eq!(shapes, expected);
    assert_eq!((events[0].lost, events[0].silences), (200, 0));
}

#[test]
fn a_delay_is_compared_with_what_was_usual_and_becomes_usual_after_a_minute() {
    let events = found(100_000, |at, path| match at {
        5030..5300 => Some(path.returned(30)),
        20_000.. => Some(path.returned(50)),
        _ => None,
    });
    let shapes: Vec<_> = events.iter().map(shape).collect();
    assert_eq!(shapes[0], (5030, 270, Kind::Delay, Place::Path));
    let (start, length, ..) = shapes[1];
    assert!(
        start == 20_000 && (60_000..62_000).contains(&length),
        "{length}"
    );
    assert_eq!(shapes.len(), 2);
    assert_eq!(events[1].rtt_ns, 50_000_000);
    assert_eq!(events[1].usual_rtt_ns, 1_000_000);
}

#[test]
fn an_end_that_stops_or_starts_again_is_the_place() {
    let events = found(26_000, |at, path| {
        match at {
            // It stops for 3 s. What it answers after more than a second is lost.
            20_000..22_000 => path.state.received += 1,
            22_000..23_000 => {
                path.state.held_us = u32::try_from(23_000 - at).expect("small") * 1000;
                let fate = path.returned(23_000 - at);
                path.state.held_us = 0;
                return Some(fate);
            }
            // It answers late, one after the other.
            5000..5400 => {
                path.state.held_us = u32::try_from(5400 - at).expect("small") * 1000;
                let fate = path.returned(5400 - at);
                path.state.held_us = 0;
                return Some(fate);
            }
            // Its socket drops them.
            10_000..10_400 => path.state.dropped += 1,
            // It is killed, and another one counts from 0.
            15_000..15_400 => {
                path.echo = 2;
                path.state = EchoState::default();
            }
            _ => return None,
        }
        Some(Fate::Lost)
    });
    let shapes: Vec<_> = events.iter().map(shape).collect();
    let (_, length, ..) = shapes[0];
    assert!((390..=400).contains(&length), "{length}");
    let expected = [
        (5000, length, Kind::Delay, Place::FarEnd),
        (10_000, 400, Kind::Silence, Place::FarEnd),
        (15_000, 400, Kind::Silence, Place::FarEnd),
        (20_000, shapes[3].1, Kind::Silence, Place::FarEnd),
    ];
    assert_eq!(shapes, expected);
    assert!((2900..=3000).contains(&shapes[3].1), "{shapes:?}");
}

#[test]
fn an_end_that_answers_from_a_full_buffer_too_late_to_count_is_the_place() {
    let places = [0, 2_000_000].map(|late_held_us| {
        let mut path = Path {
            echo: 1,
            state: EchoState::default(),
        };
        let mut finder = Finder::new(LIMITS);
        let mut outcomes = |from: u64, to: u64, is_lost: bool| -> Vec<ProbeOutcome> {
            let each = (from..to).map(|at| ProbeOutcome {
                at_ns: at * GAP_NS,
                fate: if is_lost {
                    Fate::Lost
                } else {
                    path.returned(1)
                },
            });
            each.collect()
        };
        for (from, to, is_lost) in [
            (0, 3000, false),
            (3000, 16_000, true),
            (16_000, 16_100, false),
        ] {
            finder.take(&ProbeBatch {
                outcomes: outcomes(from, to, is_lost),
                late_held_us: if from == 16_000 { late_held_us } else { 0 },
                ..ProbeBatch::default()
            });
        }
        finder.finish().expect("an event").place
    });
    assert_eq!(places, [Place::Forward, Place::FarEnd]);
}

#[test]
fn what_this_host_could_not_send_is_no_loss() {
    let events = found(15_000, |at, path| match at {
        // The second time is too little of an interval.
        3000..3080 | 8000..8020 => Some(Fate::Unsent),
        6000..6300 => Some(Fate::Refused(101)),
        // Late because of this host: most is unsent.
        12_000..12_200 if at % 4 != 0 => Some(Fate::Unsent),
        12_000..12_200 => Some(path.returned(40)),
        _ => None,
    });
    let shapes: Vec<_> = events.iter().map(shape).collect();
    let expected = [
        (3000, 80, Kind::Unsent, Place::Here),
        (6000, 300, Kind::Silence, Place::Here),
        (12_000, 200, Kind::Unsent, Place::Here),
    ];
    assert_eq!(shapes, expected);
    assert_eq!((events[0].unsent, events[0].lost), (80, 0));
    assert_eq!((events[1].refused, events[1].refused_errno), (300, 101));
}

#[test]
fn time_in_which_this_host_did_not_send_is_no_silence_of_the_path() {
    let events = found(10_000, |at, _| match at {
        3000..3005 | 3035..3040 => Some(Fate::Lost),
        3005..3035 => Some(Fate::Unsent),
        _ => None,
    });
    let [event] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((event.kind, event.silences), (Kind::Loss, 0));
    assert_eq!((event.lost, event.unsent), (10, 30));
}

#[test]
fn a_silence_to_the_end_is_an_event() {
    let events = found(5000, |at, _| (at >= 4000).then_some(Fate::Lost));
    let shapes: Vec<_> = events.iter().map(shape).collect();
    assert_eq!(shapes, [(4000, 1000, Kind::Silence, Place::Path)]);
}

/// An end that stops at `start` ms for `stop_ms`. Its socket holds what came in the first `held_ms` of that.
fn stopped(start: u64, stop_ms: u64, held_ms: u64) -> Vec<Event> {
    let end = start + stop_ms;
    found(12_000, |at, path| {
        if !(start..end).contains(&at) {
            return None;
        }
        if at >= start + held_ms {
            path.state.dropped += 1;
            return Some(Fate::Lost);
        }
        let rtt_ms = end - at;
        path.state.held_us = u32::try_from(rtt_ms).expect("small") * 1000;
        let fate = path.returned(rtt_ms + 1);
        path.state.held_us = 0;
        Some(if rtt_ms < 1000 { fate } else { Fate::Lost })
    })
}

#[test]
fn a_silence_lasts_until_something_arrives_again_also_what_was_sent_in_it() {
    // The first three hold all probes, and answer those of the last second. At 500 ms, nothing is usual yet.
    for (start, stop_ms, held_ms) in [
        (5000, 1020, 5000),
        (5000, 1300, 5000),
        (500, 1300, 5000),
        (5000, 1300, 30),
        (5000, 900, 30),
        (5000, 3000, 300),
    ] {
        let events = stopped(start, stop_ms, held_ms);
        let shapes: Vec<_> = events.iter().map(shape).collect();
        let expected = (start, stop_ms, Kind::Silence, Place::FarEnd);
        assert_eq!(shapes, [expected], "{stop_ms} {held_ms}");
        let ms = |ns: u64| ns / GAP_NS;
        assert_eq!((ms(events[0].silent_ns), events[0].silences), (stop_ms, 1));
    }
    // Nothing was lost.
    let events = stopped(5000, 400, 5000);
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Delay]);
}

#[test]
fn losses_on_a_slow_path_are_no_silence() {
    let events = found(9000, |at, path| match at {
        // Its queue fills slowly.
        2000..4000 => Some(path.returned(1 + (at - 2000) * 9 / 20)),
        4000..5000 if at % 2 == 0 => Some(Fate::Lost),
        4000..5000 => Some(path.returned(900)),
        _ => None,
    });
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Loss], "{events:?}");
}

#[test]
fn an_event_begins_with_its_first_loss_and_not_with_what_was_not_sent_before() {
    let events = found(9000, |at, _| match at {
        3000..3080 | 6000..6080 => Some(Fate::Unsent),
        // In the same tenth of a second, and half a second later.
        3090..3095 | 3600..3700 | 6500..6600 => Some(Fate::Lost),
        _ => None,
    });
    let shapes: Vec<_> = events.iter().map(shape).collect();
    let expected = [
        (3090, 610, Kind::Silence, Place::Forward),
        (6500, 100, Kind::Silence, Place::Forward),
    ];
    assert_eq!(shapes, expected);
    assert_eq!(events[1].silent_ns, 100_000_000);
}
