//! Writes the temperatures at which heat slows a board down into its draft profile.

use std::fmt::Write;

use super::comment;
use crate::sys::files::Root;
use crate::sys::thermal_trips::{TripPoint, trip_points};

/// Degrees Celsius below throttling that a board must reach before it is measured again. Chosen by judgement.
const MARGIN_C: i32 = 15;

/// Returns the tables `[cooldown]` and `[throttle]`, from the lowest passive and the lowest critical trip point, or a
/// comment on writing them by hand if no zone shows a passive one.
pub(super) fn text(root: &Root) -> String {
    let mut trips = trip_points(root);
    trips.retain(|trip| ["passive", "critical"].contains(&&*trip.kind));
    // Some drivers fill in temperatures that no chip reaches, or -274 C.
    let plausible = |trip: &&TripPoint| (40_000..150_000).contains(&trip.millic);
    let first = |kind: &str| {
        let of_kind = trips.iter().filter(|trip| trip.kind == kind);
        let celsius = of_kind.filter(plausible).map(|trip| trip.millic / 1000);
        celsius.min()
    };
    let Some(from_c) = first("passive") else {
        return UNKNOWN.to_owned();
    };
    let mut text = format!(
        "\n[cooldown]\n# To decide: what the board gets down to when it idles. This is {MARGIN_C} degrees below throttling.\n\
         below_c = {}\nat_most = \"120s\"\n\n\
         [throttle]\n# Trip points in /sys/class/thermal:\n",
        from_c - MARGIN_C
    );
    for TripPoint { zone, kind, millic } in &trips {
        let zone = comment(zone);
        let _ = writeln!(text, "# {zone}: {kind} {} C.", f64::from(*millic) / 1000.0);
    }
    let _ = writeln!(text, "from_c = {from_c}");
    if let Some(critical_c) = first("critical").filter(|critical| *critical > from_c) {
        let _ = writeln!(text, "critical_c = {critical_c}");
    }
    text
}

const UNKNOWN: &str = "
# No thermal zone shows a passive trip point. To decide, from the board's documentation:
# [cooldown]
# below_c = 60
# at_most = \"120s\"
#
# [throttle]
# from_c = 80
";
