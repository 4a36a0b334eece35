//! Facts that all rows of a run share, and their texts in columns. A text is empty if a fact is unknown, and `no` if
//! something is known to be absent.

use serde::{Deserialize, Serialize};

use crate::host::check::Problem;
use crate::host::facts::{CpufreqPolicy, Host};
use crate::sys::cpu_speed::CpuSpeed;
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
    fact.clone().unwrap_or_default()
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
        list.replace('-', " to ").replace(',', "+")
    }
}

/// Returns the interrupt CPUs of each interface, joined by commas: `eth0 on 0+1`.
pub(super) fn nic_irq_cpus(host: &Host) -> String {
    let seen = host.nics.iter().filter(|nic| !nic.irq_cpus.is_empty());
    let texts = seen.map(|nic| format!("{} on {}", nic.name, cpu_list::join(&nic.irq_cpus, "+")));
    texts.collect::<Vec<_>>().join(", ")
}
