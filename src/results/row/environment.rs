//! What all rows of a run share: the circumstances that move a result.

use serde::{Deserialize, Serialize};

use super::rounding::decimals;
use crate::host::facts::{self, CpufreqPolicy, Host};
use crate::plan::OtherHost;
use crate::sys::cpu_speed::CpuSpeed;

/// What all rows of a run share. Texts are empty where nothing is known, and say `no` where there is known
/// to be nothing.
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
    /// How fast each CPU ran at the start.
    pub paces: Vec<CpuSpeed>,
    /// The temperature from which the board throttles, in degrees Celsius, if its profile knows.
    pub throttles_from_c: Option<u16>,
    /// What would invalidate a run, as it was found before the start: every row carries it as a warning.
    pub unfit: Vec<String>,
    /// The other host. All empty: there is none.
    pub there: OtherHost,
}

impl Environment {
    /// What `host` tells of itself. The rest is the caller's.
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
                .map(|cpus| or_no(&facts::list(cpus, "+")))
                .unwrap_or_default(),
            conntrack_entries: host.conntrack.map(|conntrack| conntrack.entries),
            nic_irq_cpus: nic_irq_cpus(host),
            ..Self::default()
        }
    }
}

/// Not with the kernel's `2-3`: spreadsheets take that for a day in March.
fn or_no(list: &str) -> String {
    if list.is_empty() {
        "no".to_owned()
    } else {
        list.replace('-', " to ").replace(',', "+")
    }
}

/// `eth0 on 0+1`, several joined with a comma.
fn nic_irq_cpus(host: &Host) -> String {
    let seen = host.nics.iter().filter(|nic| !nic.irq_cpus.is_empty());
    let texts = seen.map(|nic| format!("{} on {}", nic.name, facts::list(&nic.irq_cpus, "+")));
    texts.collect::<Vec<_>>().join(", ")
}
