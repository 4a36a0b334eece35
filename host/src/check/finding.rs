//! Findings and their words, which `troubles.toml` has.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::VERSION;
use crate::text::{fill, sentences};

/// A property of the host that affects the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The observation.
    pub seen: Seen,
    /// Reason why it matters for the numbers.
    pub why: String,
    /// Command or action that removes it.
    pub fix: String,
}

impl Finding {
    /// Returns it as lines of text: what was seen, why it matters, and the fix.
    pub fn text(&self) -> String {
        let label = match self.problem() {
            Some(_) => "INVALID",
            None => "note",
        };
        let mut text = format!("{label:<9}{}\n  why    {}\n", self.seen, self.why);
        for line in self.fix.lines() {
            text.extend(["  fix    ", line, "\n"]);
        }
        text
    }
}

/// Observation of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The numbers would not be those of this board, or not the same tomorrow.
    Problem(Problem),
    /// Worth knowing when the numbers are read.
    Note(String),
}

/// Problem of one of the hosts of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The problem.
    pub unfit: Unfit,
    /// True if the other host has it.
    pub is_remote: bool,
}

impl Seen {
    /// Returns a problem of this host.
    pub fn problem(unfit: Unfit) -> Self {
        let is_remote = false;
        Self::Problem(Problem { unfit, is_remote })
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => problem.fmt(f),
            Self::Note(text) => f.write_str(text),
        }
    }
}

impl Problem {
    /// Returns whether other programs use the CPUs.
    pub fn is_other_programs(&self) -> bool {
        matches!(self.unfit, Unfit::OtherPrograms { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_remote {
            f.write_str("on the other host: ")?;
        }
        self.unfit.fmt(f)
    }
}

sentences! {
    /// Property of a host by which the numbers would not be those of this board, or not the same tomorrow.
    pub enum Unfit {
        "debug-build": DebugBuild => "this is a debug build ({VERSION})";
        "emulated": Emulated { by: String } => "this board is emulated or virtualised ({by})";
        "foreign-binary": ForeignBinary { target: String, machine: String } =>
            "a binary for {target} on a kernel for {machine}";
        "cpu-quota": CpuQuota { granted: f64, cpus: usize } =>
            "this control group grants the CPU time of {granted:.2} CPUs, of {cpus}";
        "other-programs": OtherPrograms { used: f64, cpus: usize, busiest: String } =>
            "other programs use {used:.1} of {cpus} CPUs now: {busiest}";
        "other-cpus": OtherCpus { contradiction: String } => "{contradiction}";
        "loopback": Loopback { problem: String } => "{problem}";
        "small-buffers": SmallBuffers { most_bytes: u64, asked_bytes: u64 } =>
            "net.core.rmem_max grants {most_bytes} B of receive buffer, not the {asked_bytes} asked for";
        "rps": Rps { cpus: String } => "RPS hands packets of lo to CPUs {cpus}";
        "conntrack": Conntrack => "conntrack tracks datagrams over loopback";
        "governor": Governor { governors: String } => "the cpufreq governor is {governors}";
        "low-clock": LowClock { cpus: String, now_mhz: u64, max_mhz: u64, governor: String } =>
            "CPUs {cpus} run at {now_mhz} MHz of {max_mhz}, and the governor is {governor}";
        "firmware-throttles": FirmwareThrottles { how: String, is_over: bool } =>
            "the firmware reports {how}{}", if *is_over { ": not now, but since it was last asked" } else { "" };
        "under-voltage": UnderVoltage => "the kernel reports under-voltage";
        "kernel-throttles": KernelThrottles => "the kernel throttles a CPU because of heat";
        "hot-board": HotBoard { celsius: i32, throttles_from_c: u16 } =>
            "the temperature is {celsius} C, and this board throttles from {throttles_from_c} C on";
        "link-down": LinkDown { interface: String } => "{interface} is down";
        "wireless": Wireless { interface: String } => "{interface} is wireless";
        "radio-sleeps": RadioSleeps { interface: String } => "power save of {interface} is on";
        "link-sleeps": LinkSleeps { interface: String, after: String } =>
            "Energy-efficient Ethernet is active: the link of {interface} sleeps{after}";
        "half-duplex": HalfDuplex { interface: String } => "{interface} has a half-duplex link";
        "slow-link": SlowLink { interface: String, mbps: u32 } =>
            "{interface} runs at {mbps} Mb/s, and could at 1000 or more";
        "driver-loses": DriverLoses { interface: String, counter: String, packets: u64 } =>
            "{interface} loses packets in its driver now: {counter} +{packets} during this check";
        "drops-of-others": DropsOfOthers { interface: String, places: String, ms: u64 } =>
            "other traffic is dropped at {interface} ({places} in {ms} ms): lost datagrams may be taken for that";
        "program-loses": ProgramLoses { how: String } => "{how}";
    }
}

/// What is said about a trouble. [`fill`] knows the syntax.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// The observation. Empty for a problem, which has its sentence in [`Unfit`].
    #[serde(default)]
    seen: String,
    why: String,
    fix: String,
}

static TROUBLES: LazyLock<BTreeMap<String, Words>> =
    LazyLock::new(|| toml::from_str(include_str!("troubles.toml")).expect("tests read it"));

impl Finding {
    /// Returns the finding about a problem. Its words may name the problem's own data.
    pub(super) fn unfit(unfit: Unfit) -> Self {
        Self::unfit_with(unfit, json!({}))
    }

    /// Returns the finding about a problem. Its words may name the problem's own data, and `values`.
    pub(super) fn unfit_with(unfit: Unfit, mut values: Value) -> Self {
        let mut own = serde_json::to_value(&unfit).unwrap_or_default();
        let own = own.get_mut(unfit.code()).and_then(Value::as_object_mut);
        if let (Some(own), Some(all)) = (own, values.as_object_mut()) {
            all.append(own);
        }
        let words = why_and_fix(unfit.code(), &values);
        Self::new(Seen::problem(unfit), words)
    }

    /// Returns the note about the trouble of this name.
    pub fn noted(name: &str, values: &Value) -> Self {
        let seen = fill(&TROUBLES[name].seen, values);
        Self::new(Seen::Note(seen), why_and_fix(name, values))
    }

    /// Returns a finding with why it matters and what removes it.
    pub fn new(seen: Seen, (why, fix): (String, String)) -> Self {
        Self { seen, why, fix }
    }

    /// Returns the problem, if it is one that makes the host unfit to measure on.
    pub fn problem(&self) -> Option<&Problem> {
        match &self.seen {
            Seen::Problem(problem) => Some(problem),
            Seen::Note(_) => None,
        }
    }

    /// Marks a finding of the other host.
    pub fn on_the_other_host(mut self) -> Self {
        match &mut self.seen {
            Seen::Problem(problem) => problem.is_remote = true,
            Seen::Note(text) => *text = format!("on the other host: {text}"),
        }
        self
    }
}

/// Returns why the trouble of this name matters, and what helps.
pub fn why_and_fix(name: &str, values: &Value) -> (String, String) {
    let words = &TROUBLES[name];
    (fill(&words.why, values), fill(&words.fix, values))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{fs, io};

    use super::*;

    /// Returns the sources below a folder as one text.
    fn sources(folder: &Path) -> io::Result<String> {
        let mut text = String::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                text += &sources(&path)?;
            } else if path.extension() == Some("rs".as_ref()) {
                text += &fs::read_to_string(path)?;
            }
        }
        Ok(text)
    }

    #[test]
    fn each_trouble_has_words_and_all_words_are_said() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        // The findings about other programs are in a package above.
        let field = own.join("../../field/src");
        let all = [own, field].map(|folder| sources(&folder).expect("sources"));
        let all = all.concat();
        // What a run finds, and no check.
        let of_runs = ["drops-of-others", "program-loses"];
        for code in Unfit::CODES.iter().filter(|code| !of_runs.contains(code)) {
            assert!(TROUBLES.contains_key(*code), "{code}");
        }
        for name in TROUBLES.keys() {
            assert!(all.contains(&format!("\"{name}\"")), "{name} is never said");
        }
        for call in ["noted(", "why_and_fix("] {
            for rest in all.split(call).skip(1) {
                let name = rest.trim_start().strip_prefix('"');
                // Not this text itself.
                let is_name = |name: &str| !name.contains(' ');
                if let Some((name, _)) = name
                    .and_then(|name| name.split_once('"'))
                    .filter(|(name, _)| is_name(name))
                {
                    assert!(TROUBLES.contains_key(name), "{name}");
                }
            }
        }
    }
}
