//! Facts that all rows of a run share, and their texts in columns. A text is empty if a fact is unknown, and `no` if
//! something is known to be absent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::check::Problem;
use crate::host::facts::{CpufreqPolicy, Host, Interface, InterfaceKind};
use crate::sys::cpu_speed::CpuSpeed;
use crate::term::escape;
use crate::text::cpu_list;

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
