//! One-way delays over a wire whose delays are known, between two ends with one clock.

use std::io;

use udpbench::data::Histogram;
use udpbench_field::soak::log::Entry;

use super::{Watched, log};
use crate::common::lab::Lab;
use crate::common::{Place, assert_code, stdout, words};

#[test]
fn one_way_delays_are_those_of_the_wire_with_the_bounds_of_both_clocks() -> io::Result<()> {
    let wire = "a>b delay all by 20ms; b>a delay all by 10ms";
    let Some(lab) = Lab::builder().test_wire(wire).start() else {
        return Ok(());
    };
    let place = Place::new();
    let (lab, place) = (&lab, &place);
    // The ends have the same clock, whatever their daemons say.
    let tracking =
        "0A4D0003,10.77.0.3,2,1795872777.157,-0.0001,0.0,0.0,0.0,0.0,0.0,0.0006,0.0001,64.3,Normal";
    place.script("chronyc", &format!("echo {tracking}"));
    let watched = Watched { lab, place };
    let soak = watched.start("--for 2s --rate 200 --outage 500ms -o soak.jsonl");
    let output = soak.wait_with_output()?;
    assert_code(&output, 0);
    let shown = stdout(&output);
    assert!(
        words(&shown).contains("; each +-1.0 ms, the bounds of both clocks"),
        "{shown}"
    );
    let log = log(&place.path("soak.jsonl"));
    let minute = log.lines.iter().find_map(|entry| match entry {
        Entry::Minute(minute) => Some(minute),
        _ => None,
    });
    let minute = minute.expect("a minute");
    let delays = minute.one_way.as_ref().expect("two hosts");
    // 100 us of offset, 300 us of delay, 100 us of dispersion, and 4 us until the next report.
    assert_eq!(
        (delays.here_us, delays.there_us, delays.least_ns),
        (504, 504, 0)
    );
    let least_ms = |times: &Histogram| times.quantile(0.0).expect("probes") / 1e6;
    let (forward, back, rtt) = (
        least_ms(&delays.forward),
        least_ms(&delays.back),
        least_ms(&minute.rtt),
    );
    // Buckets are 3 % wide. A busy machine adds to each delay, and to the round trip that it is a part of.
    assert!(forward > 19.5 && back > 9.75, "{forward} {back} {rtt}");
    assert!(forward + back < 1.05 * rtt, "{forward} {back} {rtt}");
    Ok(())
}
