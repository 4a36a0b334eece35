//! Trip points of the thermal zones: temperatures at which the kernel takes action.

use crate::sys::files::Root;

/// A trip point of a thermal zone (kernel ABI doc sysfs-class-thermal).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TripPoint {
    /// The zone's type, such as `cpu-thermal`.
    pub zone: String,
    /// Kind of action: `passive` lowers clocks, `critical` shuts down, `active` starts fans. `hot` exists as well.
    pub kind: String,
    /// Temperature in thousandths of a degree Celsius.
    pub millic: i32,
}

/// Returns all trip points, zone by zone.
pub fn trip_points(root: &Root) -> Vec<TripPoint> {
    let class = "sys/class/thermal";
    let mut points = Vec::new();
    for zone in root.names(class, "thermal_zone") {
        let directory = format!("{class}/{zone}");
        let name = root.text(format!("{directory}/type")).unwrap_or(zone);
        for file in root.names(&directory, "trip_point_") {
            let Some(point) = file.strip_suffix("_temp") else {
                continue;
            };
            let kind = root.text(format!("{directory}/{point}_type"));
            let millic = root.number(format!("{directory}/{file}"));
            if let (Some(kind), Some(millic)) = (kind, millic) {
                let zone = name.clone();
                points.push(TripPoint { zone, kind, millic });
            }
        }
    }
    points
}
