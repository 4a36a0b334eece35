//! Facts that all rows of a run share and that affect results.

use serde::{Deserialize, Serialize};

use super::rounding::decimals;
use crate::host::check::Problem;
use crate::host::facts::{CpufreqPolicy, Host};
use crate::plan::RemoteHostTexts;
use crate::sys::cpu_speed::CpuSpeed;
use crate::term::cpu_list;

/// Facts that all rows of a run share. A text is empty if unknown, and `no` if something is known to be absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the columns")]
pub struct Environment {
    pub board: String,
    pub model: String,
    pub soc: String,
    pub cpu_model: String,
    pub arch: String,
    pub target: String,
    pub machine: String,
    pub virtualization: String,
    pub kernel: String,
    pub preemption: String,
    pub page_bytes: Option<u64>,
    pub irq_time_accounting: String,
    pub governor: String,
    pub cpufreq_driver: String,
    pub freq_min_mhz: Option<f64>,
    pub freq_max_mhz: Option<f64>,
    pub clocksource: String,
    pub cpuidle_driver: String,
    pub isolated_cpus: String,
    pub load_1min: Option<f64>,
    pub rps_cpus: String,
    pub conntrack_entries: Option<u64>,
    pub nic_irq_cpus: String,
    pub warmup_ms: f64,
    pub seed: u32,
    pub version: String,
    /// Speed of each CPU at the start.
    #[serde(rename = "paces")]
    pub cpu_speeds: Vec<CpuSpeed>,
    /// Temperature at which the board starts to throttle, in degrees Celsius, if the board's profile has it.
    pub throttles_from_c: Option<u16>,
    /// Problems found before the start that would invalidate a run. Every row has them as warnings.
    pub unfit: Vec<Problem>,
    /// The remote host. All empty: none.
    pub remote: RemoteHostTexts,
}

impl Environment {
    /// Returns the facts that `host` has. The caller adds the others.
    pub fn of(host: &Host) -> Self {
        let known = |value: &Option<String>| value.clone().unwrap_or_default();
        let of_policies =
            |khz: fn(&CpufreqPolicy) -> Option<u64>| host.cpufreq.iter().filter_map(khz);
        let mhz = |khz: Option<u64>| khz.map(|khz| khz as f64 / 1000.0);
        Self {
            model: known(&host.model),
            soc: known(&host.soc),
            cpu_model: known(&host.cpu_model),
            arch: std::env::consts::ARCH.to_owned(),
            target: crate::TARGET.to_owned(),
            machine: known(&host.machine),
            virtualization: known(&host.virtualization),
            kernel: known(&host.kernel),
            preemption: known(&host.preemption),
            page_bytes: host.page_bytes,
            irq_time_accounting: match host.irq_time_accounting {
                None => String::new(),
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
            },
            governor: known(&host.governor),
            cpufreq_driver: host.cpufreq_driver().unwrap_or_default(),
            freq_min_mhz: mhz(of_policies(|policy| policy.min_khz).min()),
            freq_max_mhz: mhz(of_policies(|policy| policy.max_khz).max()),
            clocksource: known(&host.clocksource),
            cpuidle_driver: known(&host.cpuidle_driver),
            isolated_cpus: host.isolated_cpus.as_deref().map(or_no).unwrap_or_default(),
            load_1min: host.load_1min.map(decimals::<2>),
            rps_cpus: host
                .lo_rps_cpus
                .as_deref()
                .map(|cpus| or_no(&cpu_list::join(cpus, "+")))
                .unwrap_or_default(),
            conntrack_entries: host.conntrack.map(|conntrack| conntrack.entries),
            nic_irq_cpus: nic_irq_cpus(host),
            ..Self::default()
        }
    }
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
fn nic_irq_cpus(host: &Host) -> String {
    let seen = host.nics.iter().filter(|nic| !nic.irq_cpus.is_empty());
    let texts = seen.map(|nic| format!("{} on {}", nic.name, cpu_list::join(&nic.irq_cpus, "+")));
    texts.collect::<Vec<_>>().join(", ")
}
