//! What a row is computed from: the facts that all rows of a run share, and what its case has. Texts of facts are empty
//! if a fact is unknown, and `no` if something is known to be absent.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::column::milliseconds;
use super::{EndedBy, Reason, Warning};
use crate::data::{Case, EnginePair, EngineProperties, Sample, Verified};
use crate::host::check::Problem;
use crate::host::facts::{CpufreqPolicy, Host, Interface, InterfaceKind};
use crate::host::placement::Placement;
use crate::plan::{Meter, Schedule, Wire};
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::power::IdlePower;
use crate::term::escape;
use crate::text::cpu_list;

/// Input of the computation of a row.
#[derive(Clone, Debug)]
pub struct RowInput<'a> {
    /// The case.
    pub case: &'a Case,
    /// Engines of the case.
    pub engines: EnginePair<'a>,
    /// CPUs of the threads. `None`: the case does not run.
    pub pin: Option<&'a Placement>,
    /// Schedule of the run. `None`: there is none.
    pub schedule: Option<&'a Schedule>,
    /// The remote host and the links to it. `None`: all threads are on one host.
    pub wire: Option<&'a Wire>,
    /// Local and remote network interface.
    pub nics: (NicText, NicText),
    /// Warnings about the case from the plan and the sweep.
    pub warnings: Vec<Warning>,
    /// Reason why no more rounds were measured. An error: the case was not measured to the end, for this reason.
    pub ended: Result<EndedBy, Reason>,
    /// Windows of the case.
    pub samples: &'a [Sample],
    /// Rounds whose windows were measured a second time, each with the reason.
    pub repeated: &'a [(u32, String)],
    /// Result of `--verify`.
    pub verified: Option<Verified>,
    /// Windows of the reference case of the block.
    pub reference: &'a [Sample],
    /// Windows of the same case in half duplex, if this case is in full duplex.
    pub half: &'a [Sample],
    /// Windows of each case of the block with another engine.
    pub others: &'a [&'a [Sample]],
    /// Rates of the case in earlier runs, in datagrams received per second.
    pub earlier_pps: &'a [f64],
    /// Time that traffic takes to settle on this machine, if measured.
    pub settles_after: Option<Duration>,
    /// Idle powers of the machine so far.
    pub idle_powers: &'a [IdlePower],
}

impl<'a> RowInput<'a> {
    /// Returns the warm-up before each window, in milliseconds. `None`: there is no schedule.
    pub(super) fn warmup_ms(&self) -> Option<f64> {
        let schedule = self.schedule?;
        Some(milliseconds(schedule.settings.warmup))
    }

    /// Returns the name of the meter of the machine's power. `None`: there is none, or the case does not run.
    pub(super) fn meter(&self) -> Option<String> {
        let meter = self.schedule?.settings.meter.as_ref();
        meter.filter(|_| self.pin.is_some()).map(Meter::to_string)
    }

    /// Returns the input of a case that was not measured, for this reason.
    pub fn skipped(case: &'a Case, reason: String) -> Self {
        Self {
            case,
            engines: EnginePair {
                sender: &EngineProperties::PLAIN,
                receiver: &EngineProperties::PLAIN,
            },
            pin: None,
            schedule: None,
            wire: None,
            nics: <_>::default(),
            warnings: Vec::new(),
            ended: Err(Reason::Skipped(reason)),
            samples: &[],
            repeated: &[],
            verified: None,
            reference: &[],
            half: &[],
            others: &[],
            earlier_pps: &[],
            settles_after: None,
            idle_powers: &[],
        }
    }
}

/// Facts that all rows of a run share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Name of the board's profile.
    pub board: String,
    /// The machine on which the trials run. Between two hosts, the local one.
    pub host: Host,
    /// Speed of each CPU at the start.
    #[serde(rename = "paces")]
    pub cpu_speeds: Vec<CpuSpeed>,
    /// Temperature at which the board starts to throttle, in degrees Celsius, if the board's profile has it.
    pub throttles_from_c: Option<u16>,
    /// Problems found before the start that would invalidate a run. Every row has them as warnings.
    pub unfit: Vec<Problem>,
}

/// Returns the text of a fact.
#[expect(clippy::ref_option, reason = "a line for each column")]
pub(super) fn known(fact: &Option<String>) -> String {
    fact.as_deref().map(safe).unwrap_or_default()
}

/// Returns a text of a host or a user as columns have it, with control characters escaped.
pub(super) fn safe(text: &str) -> String {
    escape::line(text).into_owned()
}

/// Returns the lowest or the highest clock of all CPUs, in MHz.
pub(super) fn mhz(
    host: &Host,
    of: fn(&CpufreqPolicy) -> Option<u64>,
    among: fn(u64, u64) -> u64,
) -> Option<f64> {
    let clocks = host.cpufreq.iter().filter_map(of);
    clocks.reduce(among).map(|khz| khz as f64 / 1000.0)
}

/// Returns whether the kernel keeps softirq time out of the CPU time of threads.
pub(super) fn irq_time_accounting(host: &Host) -> &'static str {
    match host.irq_time_accounting {
        None => "",
        Some(true) => "yes",
        Some(false) => "no",
    }
}

/// Returns the list of isolated CPUs.
pub fn isolated_cpus(host: &Host) -> String {
    let cpus = host.isolated_cpus.as_deref();
    cpus.map(or_no).unwrap_or_default()
}

/// Returns the CPUs that RPS hands packets of lo to.
pub fn rps_cpus(host: &Host) -> String {
    let cpus = host.lo_rps_cpus.as_deref();
    let list = cpus.map(|cpus| or_no(&cpu_list::join(cpus, "+")));
    list.unwrap_or_default()
}

/// Returns a list of CPUs, or `no` if it is empty. The ranges of the kernel are rewritten, because spreadsheets take
/// `2-3` for a day in March.
fn or_no(list: &str) -> String {
    if list.is_empty() {
        "no".to_owned()
    } else {
        safe(&list.replace('-', " to ").replace(',', "+"))
    }
}

/// Returns the interrupt CPUs of each interface, joined by commas: `eth0 on 0+1`.
pub(super) fn nic_irq_cpus(host: &Host) -> String {
    let seen = host.nics.iter().filter(|nic| !nic.irq_cpus.is_empty());
    let texts = seen.map(|nic| format!("{} on {}", nic.name, cpu_list::join(&nic.irq_cpus, "+")));
    safe(&texts.collect::<Vec<_>>().join(", "))
}

/// Network interface of a row, in words. Empty: all threads are on one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NicText {
    pub(super) text: String,
    /// True if it is one end of a veth(4).
    pub is_veth: bool,
    /// Speed of its link, in Mb/s. `None`: unknown, or a veth(4), which has none.
    pub speed_mbps: Option<u32>,
}

impl NicText {
    /// Returns the words for an interface.
    pub(crate) fn of(interface: &Interface) -> Self {
        let is_veth = interface.kind == InterfaceKind::Veth;
        Self {
            text: safe(&format!("{}: {interface}", interface.name)),
            is_veth,
            speed_mbps: interface.speed_mbps.filter(|_| !is_veth),
        }
    }
}

impl fmt::Display for NicText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
