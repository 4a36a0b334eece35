//! Drafts a profile for a board that has none, from host facts. The draft can be used unchanged. Its comments, in
//! `draft.toml`, name the source of each value and the choices that are left to the user.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;

use super::detect::without_revision;
use crate::facts::Host;
use crate::sys::files::Root;
use crate::text::fill;

/// Returns the draft. Its placements are computed, as those of the profile `generic` are.
pub fn draft(host: &Host, root: &Root) -> String {
    let is_text = |text: &&str| !text.trim().is_empty();
    let model = host.model.as_deref().map(without_revision).filter(is_text);
    let mut compatible = host.compatible.iter().map(String::as_str);
    let first = compatible.next().filter(is_text);
    let title = model.or(first).unwrap_or("My board").trim();
    let cpus = host.cpu_model.as_deref().unwrap_or("unknown CPUs");
    let present = root.cpu_list("sys/devices/system/cpu/present");
    let usable = host.cpus.iter().map(|cpu| cpu.id);
    let last = present.into_iter().flatten().chain(usable).max();
    let count = last.map(|last| last + 1);
    let values = json!({
        "heading": comment(&format!("{title}: {cpus}")),
        "version": crate::VERSION,
        "kernel": comment(host.kernel.as_deref().unwrap_or("of unknown version")),
        "name": quoted(&name(first.unwrap_or(title))),
        "title": quoted(title),
        "target": quoted(crate::TARGET),
        "others": comment(&compatible.collect::<Vec<_>>().join(", ")),
        "compatible": first.map_or_else(String::new, quoted),
        "model": model.map_or_else(String::new, quoted),
        "cpus": count.map_or_else(String::new, |count| format!("\n[cpus]\ncount = {count}\n")),
        "threads": if host.cpus.len() == 1 { "1, 2" } else { "1, 2, 4" },
        "heat": heat(root),
    });
    fill(include_str!("draft.toml"), &values)
}

/// Returns a name of lower-case letters, digits and dashes, from the text that identifies the board best.
fn name(from: &str) -> String {
    let from = from.to_lowercase();
    let words = from.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.join("-").as_str() {
        "" | "auto" => "my-board".to_owned(),
        name => name.to_owned(),
    }
}

const UNKNOWN_HEAT: &str = "
# No thermal zone shows a passive trip point. To decide, from the board's documentation:
# [cooldown]
# below_c = 60
# at_most = \"120s\"
#
# [throttle]
# from_c = 80
";

/// Returns the tables `[cooldown]` and `[throttle]`, from the lowest passive and the lowest critical trip point of the
/// thermal zones (kernel ABI doc sysfs-class-thermal), or a comment on writing them by hand if none is passive.
fn heat(root: &Root) -> String {
    /// Degrees Celsius below throttling that a board must reach before it is measured again. Chosen by judgement.
    const MARGIN_C: i32 = 15;
    let class = "sys/class/thermal";
    let (mut comments, mut lowest) = (String::new(), BTreeMap::<String, i32>::new());
    for zone in root.names(class, "thermal_zone") {
        let file = |file: &str| format!("{class}/{zone}/{file}");
        let name = comment(&root.text(file("type")).unwrap_or_default());
        for trip in root.names(file(""), "trip_point_") {
            let Some(trip) = trip.strip_suffix("_temp") else {
                continue;
            };
            let kind = root.text(file(&format!("{trip}_type"))).unwrap_or_default();
            let millic: Option<i32> = root.number(file(&format!("{trip}_temp")));
            // Some drivers fill in temperatures that no chip reaches, or -274 C.
            let plausible = millic.filter(|millic| (40_000..150_000).contains(millic));
            let known = plausible.filter(|_| ["passive", "critical"].contains(&&*kind));
            if let Some(celsius) = known.map(|millic| millic / 1000) {
                let _ = writeln!(comments, "# {name}: {kind} {celsius} C.");
                let least = lowest.entry(kind).or_insert(celsius);
                *least = celsius.min(*least);
            }
        }
    }
    let Some(from_c) = lowest.get("passive") else {
        return UNKNOWN_HEAT.to_owned();
    };
    let critical_c = lowest
        .get("critical")
        .filter(|critical_c| *critical_c > from_c);
    let critical_c = critical_c.map(|it| format!("critical_c = {it}\n"));
    format!(
        "\n[cooldown]\n# To decide: what the board gets down to when it idles. This is {MARGIN_C} degrees below throttling.\n\
         below_c = {}\nat_most = \"120s\"\n\n\
         [throttle]\n# Trip points in /sys/class/thermal:\n{comments}from_c = {from_c}\n{}",
        from_c - MARGIN_C,
        critical_c.unwrap_or_default()
    )
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Removes control characters, so that a comment stays on its line. A host may put anything into its names.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
