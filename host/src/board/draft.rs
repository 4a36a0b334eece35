//! Drafts a profile for a board that has none, from host facts. The draft can be used unchanged. Its comments, in
//! `draft.toml`, name the source of each value and the choices that are left to the user.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;

use super::detect::without_revision;
use crate::data::Threads;
use crate::facts::{Cpu, Host};
use crate::placement::Placement;
use crate::sys::files::Root;
use crate::text::{cpu_list, fill};

/// Returns the draft. Its placements are those of the profile `generic`.
pub fn draft(host: &Host, root: &Root) -> String {
    let is_text = |text: &&str| !text.trim().is_empty();
    let model = host.model.as_deref().map(without_revision).filter(is_text);
    let mut compatible = host.compatible.iter().map(String::as_str);
    let first = compatible.next().filter(is_text);
    let title = model.or(first).unwrap_or("My board").trim();
    let cpus = host.cpu_model.as_deref().unwrap_or("unknown CPUs");
    let count = count(host, root);
    let is_all = count == Some(host.cpus.len());
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
        "cpus": count.map_or_else(String::new, |count| clusters(count, host, is_all)),
        "threads": if host.cpus.len() == 1 { "1, 2" } else { "1, 2, 4" },
        "heat": heat(root),
        "placements": if is_all { placements(&host.cpus) } else { String::new() },
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

/// Returns the number of CPUs of the board. `None`: it shows none.
fn count(host: &Host, root: &Root) -> Option<usize> {
    let present = root.cpu_list("sys/devices/system/cpu/present");
    let usable = host.cpus.iter().map(|cpu| cpu.id);
    let last = present.into_iter().flatten().chain(usable).max()?;
    Some(last + 1)
}

/// Returns the table `[cpus]`. Unless all CPUs can be used, it is not known whether some are big.
fn clusters(count: usize, host: &Host, is_all: bool) -> String {
    let mut kinds = BTreeMap::<Speed, Vec<usize>>::new();
    for cpu in host.cpus.iter().filter(|_| is_all) {
        kinds.entry(cpu.speed()).or_default().push(cpu.id);
    }
    let mut text = format!(
        "\n[cpus]\n# /sys/devices/system/cpu/present. Which are big is known only if all could be used: their\n\
         # cpu_capacity, core in /proc/cpuinfo, highest clock:\ncount = {count}\n"
    );
    for ((capacity, _, khz, part), cpus) in &kinds {
        let (mhz, cpus) = (khz / 1000, list(cpus));
        let _ = writeln!(
            text,
            "#   {capacity}, part {part:#x}, {mhz} MHz (CPUs {cpus})"
        );
    }
    text + &format!("big = [{}]\n", list(&big(&kinds)))
}

/// Speed, as returned by [`Cpu::speed`].
type Speed = (u32, bool, u64, u16);

/// Returns the CPUs above the widest step from one speed to the next. A step of less than a fifth does not count:
/// clusters of one kind may differ a little in their highest clocks.
fn big(kinds: &BTreeMap<Speed, Vec<usize>>) -> Vec<usize> {
    let speeds = kinds.keys().zip(kinds.keys().skip(1));
    let steps = speeds.map(|(slower, faster)| (step(*slower, *faster), faster));
    let widest = steps.max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, least)) = widest.filter(|(step, _)| *step >= 1.2) else {
        return Vec::new();
    };
    let mut big = kinds
        .range(least..)
        .flat_map(|(_, cpus)| cpus)
        .copied()
        .collect::<Vec<_>>();
    big.sort_unstable();
    big
}

/// Estimates the ratio of two speeds.
fn step(slower: Speed, faster: Speed) -> f64 {
    /// Ratio for different kinds of core with the same capacity. The real ratio is unknown then, as between an A53
    /// and an A73.
    const OTHER_CORE: f64 = 2.0;
    let (capacity, is_big, khz, part) = slower;
    if capacity != faster.0 {
        f64::from(faster.0) / f64::from(capacity.max(1))
    } else if is_big != faster.1 || part != faster.3 {
        OTHER_CORE
    } else {
        faster.2 as f64 / khz.max(1) as f64
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

/// Returns the placements of the thread counts of the default sweep, of one thread per CPU, and of two.
fn placements(cpus: &[Cpu]) -> String {
    let mut counts = vec![1, 2, 4, cpus.len(), 2 * cpus.len()];
    counts.sort_unstable();
    counts.dedup();
    let counts = counts
        .into_iter()
        .filter_map(|count| u16::try_from(count).ok());
    let mut text = String::new();
    for threads in counts.filter_map(|count| Threads::try_from(count).ok()) {
        let Placement { senders, receivers } = Placement::generic(threads, cpus);
        let (senders, receivers) = (list(&flat(&senders)), list(&flat(&receivers)));
        let _ = writeln!(
            text,
            "[[loopback]]\nthreads = {threads}\nsenders = [{senders}]\nreceivers = [{receivers}]\n"
        );
    }
    let order = flat(&Placement::apart(cpus.len(), cpus, &[0]));
    for count in [1, 2, 4].into_iter().filter(|&count| count <= order.len()) {
        let cpus = list(&order[..count]);
        let _ = writeln!(text, "[[wire]]\nthreads = {count}\ncpus = [{cpus}]\n");
    }
    text.trim_end().to_owned()
}

fn flat(cpus: &[Option<usize>]) -> Vec<usize> {
    cpus.iter().flatten().copied().collect()
}

fn list(cpus: &[usize]) -> String {
    cpu_list::join(cpus, ", ")
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Removes control characters, so that a comment stays on its line. A host may put anything into its names.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
