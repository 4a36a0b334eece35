//! Writes the temperatures at which heat slows a board down into its draft profile.

use std::fmt::Write;

use super::comment;
use crate::sys::files::Root;
use crate::sys::thermal_trips::{TripPoint, trip_points};

/// Returns the tables `[cooldown]` and `[throttle]`, or a comment on writing them by hand.
pub(super) fn text(root: &Root) -> String {
    let trips = trip_points(root);
    Throttling::read(&trips).map_or_else(unknown, |throttling| throttling.text())
}

/// Degrees Celsius below throttling that a board must reach before it is measured again. Chosen by judgement.
const MARGIN_C: i32 = 15;

/// Temperatures at which the kernel lowers the clock and shuts down.
struct Throttling<'a> {
    from_c: i32,
    critical_c: Option<i32>,
    trips: &'a [TripPoint],
}

impl<'a> Throttling<'a> {
    /// Takes the lowest passive and the lowest critical trip point. `None` if no zone shows a passive one.
    fn read(trips: &'a [TripPoint]) -> Option<Self> {
        // Some drivers fill in temperatures that no chip reaches, or -274 C.
        let plausible = |trip: &&TripPoint| (40_000..150_000).contains(&trip.millic);
        let first = |kind: &str| {
            let of_kind = trips
                .iter()
                .filter(|trip| trip.kind == kind)
                .filter(plausible);
            of_kind.map(|trip| trip.millic / 1000).min()
        };
        let from_c = first("passive")?;
        let critical_c = first("critical").filter(|critical| *critical > from_c);
        Some(Self {
            from_c,
            critical_c,
            trips,
        })
    }

    fn text(&self) -> String {
        let from_c = self.from_c;
        let mut text = format!(
            "\n[cooldown]\n# To decide: what the board gets down to when it idles. This is {MARGIN_C} degrees below throttling.\n\
             below_c = {}\nat_most = \"120s\"\n\n\
             [throttle]\n# Trip points in /sys/class/thermal:\n",
            from_c - MARGIN_C
        );
        let acting = self
            .trips
            .iter()
            .filter(|trip| trip.kind == "passive" || trip.kind == "critical");
        for TripPoint { zone, kind, millic } in acting {
            let zone = comment(zone);
            let _ = writeln!(text, "# {zone}: {kind} {} C.", f64::from(*millic) / 1000.0);
        }
        let _ = writeln!(text, "from_c = {from_c}");
        if let Some(critical_c) = self.critical_c {
            let _ = writeln!(text, "critical_c = {critical_c}");
        }
        text
    }
}

fn unknown() -> String {
    "\n# No thermal zone shows a passive trip point. To decide, from the board's documentation:\n\
     # [cooldown]\n# below_c = 60\n# at_most = \"120s\"\n#\n# [throttle]\n# from_c = 80\n"
        .to_owned()
}
