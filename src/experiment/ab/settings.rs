//! Plan of the settings that are tried, for people.

use std::fmt::Write as _;

use crate::host::tuning::{Location, Setting, Tuning, Tunings};
use crate::term::table::{Columns, Table};

/// Returns a table of the settings, each with its current and its tried value.
pub fn table(tunings: &Tunings) -> Table {
    let columns = Columns::<Tuning>::default()
        .word("setting", |tuning| tuning.name.text().to_owned())
        .word("where", location)
        .word("now", |tuning| value(tuning, |it| &it.before))
        .word("tried", |tuning| value(tuning, |it| &it.tried))
        .text("why it might help", |tuning| tuning.name.why().to_owned());
    columns.table(&tunings.tried)
}

fn location(tuning: &Tuning) -> String {
    match &tuning.settings[..] {
        [] => "nowhere".to_owned(),
        [one] => short(&one.location),
        [first, others @ ..] => format!("{} and {} more", short(&first.location), others.len()),
    }
}

/// Returns the value of all places of a setting.
fn value(tuning: &Tuning, of: fn(&Setting) -> &str) -> String {
    let mut values: Vec<&str> = tuning.settings.iter().map(of).collect();
    values.dedup();
    match &values[..] {
        [] => "-".to_owned(),
        [one] => (*one).to_owned(),
        [first, ..] => format!("{first}, .."),
    }
}

/// Returns the path without the directory that all paths of its kind share.
fn short(location: &Location) -> String {
    let text = location.to_string();
    let known = ["/sys/class/net/", "/sys/devices/system/cpu/cpufreq/"];
    let rest = known.iter().find_map(|known| text.strip_prefix(known));
    rest.map_or(text.clone(), str::to_owned)
}

/// Lists the settings that are not tried, each reason once.
pub fn left_out(tunings: &Tunings) -> String {
    let mut text = String::new();
    let alike = tunings
        .left_out
        .chunk_by(|one, other| one.reason == other.reason);
    for alike in alike {
        let names: Vec<&str> = alike.iter().map(|tuning| tuning.name.text()).collect();
        let _ = writeln!(text, "not tried: {}: {}", names.join(", "), alike[0].reason);
    }
    text
}
