//! Drafts a profile for a board that has none, from host facts. The draft can be used unchanged. Its comments, in
//! `draft.toml`, name the source of each value and the choices that are left to the user.

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

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Removes control characters, so that a comment stays on its line. A host may put anything into its names.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
