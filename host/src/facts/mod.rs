//! Host facts: the properties of the machine that the plan, the checks and the rows need.
//!
//! They are read before anything is measured. Values that may change meanwhile (temperatures, clocks) are read around
//! every window instead, by [`crate::sys::sensors`].

mod cpu;
pub mod interface;
mod interrupts;
mod kernel;
mod model;
mod network;

use std::net::UdpSocket;

use serde::{Deserialize, Serialize};

use crate::data::Ip;
use crate::sys::busy_poll::Refusals;
use crate::sys::files::Root;
use crate::sys::power::PowerMeter;
use crate::sys::scheduling::Throttling;
use crate::sys::{limits, reuseport, scheduling, socket_queues};
use crate::text::cpu_list;

pub use self::cpu::Cpu;
pub(super) use self::cpu::{online, usable};
pub use self::interface::{Interface, InterfaceKind};
pub use self::kernel::CpufreqPolicy;
pub(super) use self::kernel::policies;
pub use self::network::{Conntrack, Nic, RcvbufLimit};

/// A build of udpbench.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Version, with the profile of cargo unless that is `dist`: `0.1.0-release`.
    pub version: String,
    /// Architecture that it was built for, such as `aarch64`.
    pub arch: String,
    /// Target triple that it was built for.
    pub target: String,
}

/// Facts about a machine when the program started: from `/proc`, `/sys`, system calls and sockets that are tried.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Host {
    /// The build of udpbench that read the facts.
    pub build: Build,
    /// `compatible` of the device tree, most specific first. Empty without a device tree.
    pub compatible: Vec<String>,
    /// `model` of the device tree, or the DMI product name, or `Model` of `/proc/cpuinfo`.
    pub model: Option<String>,
    /// True if there is a device tree that this process does not see, as in a container.
    pub hides_device_tree: bool,
    /// The least specific entry of `compatible`, which names the chip or its family.
    pub soc: Option<String>,
    /// Models of the CPUs, `+`-joined if they differ.
    pub cpu_model: Option<String>,
    /// The CPUs in the affinity mask of this process, by number. Automatic placements use them.
    pub cpus: Vec<Cpu>,
    /// CPUs that threads can be pinned to: online CPUs that no cpuset forbids.
    pub pinnable_cpus: Vec<usize>,
    /// Number of online CPUs, including CPUs that this process may not use. `None`: unknown.
    pub online_cpus: Option<usize>,
    /// Reason why the list of online CPUs is not the kernel's own, if it is not: then nobody believes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online_contradiction: Option<String>,
    /// CPUs that are present but not online.
    pub offline_cpus: Vec<usize>,
    /// CPUs that the scheduler leaves alone (`isolcpus=`), as the kernel lists them. Empty: none. `None`: unknown.
    pub isolated_cpus: Option<String>,
    /// CPUs without the scheduler's tick while they run one thread (`nohz_full=`), as the kernel lists them. Empty:
    /// none. `None`: unknown.
    pub nohz_full_cpus: Option<String>,
    /// Highest priority of real-time bench threads. `None`: they are not permitted.
    pub most_rt_priority: Option<u8>,
    /// Limit of the time of real-time threads. `None`: unknown.
    pub rt_throttling: Option<Throttling>,
    /// True if this process may lock its memory. `None`: unknown.
    pub locks_memory: Option<bool>,
    /// Reasons why sockets, epoll instances and rings cannot busy-poll, if they cannot.
    #[serde(default)]
    pub busy_poll: Refusals,
    /// Reason why the kernel does not choose among receivers of a port by their CPUs. `None`: it does, or RPS hides
    /// it.
    pub incoming_cpu_refusal: Option<String>,
    /// CPU time that the control groups grant this process, in CPUs' worth. `None`: no limit is visible.
    pub cpu_quota: Option<f64>,
    /// The emulator or hypervisor of the machine. `None`: none is visible.
    pub virtualization: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Kernel version line: build, preemption flavour.
    pub kernel_version: Option<String>,
    /// The kernel's name for its architecture (`uname -m`).
    pub machine: Option<String>,
    /// Preemption flavour, such as `PREEMPT_RT`; `none`: no or voluntary preemption.
    pub preemption: Option<String>,
    /// Size of a memory page, in bytes.
    pub page_bytes: Option<u64>,
    /// True if the kernel keeps softirq time out of the threads' CPU clocks (`CONFIG_IRQ_TIME_ACCOUNTING`). `None`:
    /// its configuration is unknown.
    pub irq_time_accounting: Option<bool>,
    /// The cpufreq governors in use, `+`-joined if they differ. `None` without cpufreq.
    pub governor: Option<String>,
    /// The CPUs' clocks, as cpufreq controls them. Empty without cpufreq.
    pub cpufreq: Vec<CpufreqPolicy>,
    /// Sensor that measures the power of the machine. `None`: there is none that can be read.
    pub power_meter: Option<String>,
    /// The kernel's clock source. `None`: unknown.
    pub clocksource: Option<String>,
    /// The driver that puts idle CPUs to sleep. `None`: there is none.
    pub cpuidle_driver: Option<String>,
    /// Load average over the last minute: tasks that ran or waited for a disk.
    pub load_1min: Option<f64>,
    /// Maximum number of files that this process may have open. `None`: unknown.
    pub open_files: Option<u64>,
    /// True if the drops of a socket can only be read from the list of all sockets, which takes long: there is no
    /// `SO_MEMINFO`.
    pub lists_drops: bool,
    /// Largest `SO_RCVBUF` that is granted without privilege, in bytes.
    pub rmem_max: Option<u64>,
    /// True if `rmem_max` can be changed elsewhere only: on the host of this container or network namespace.
    #[serde(default)]
    pub rmem_max_is_of_host: bool,
    /// True if this process may exceed `rmem_max` (`CAP_NET_ADMIN`).
    pub exceeds_rmem_max: bool,
    /// The CPUs that RPS hands packets of the loopback interface to. Empty: RPS is off. `None`: unknown.
    pub lo_rps_cpus: Option<Vec<usize>>,
    /// State of conntrack in this network namespace. `None`: it is not loaded.
    pub conntrack: Option<Conntrack>,
    /// Network interfaces with hardware behind them. Empty if `sys_is_foreign`.
    pub nics: Vec<Nic>,
    /// True if `/sys` does not show the interfaces of this network namespace: queues, interrupts and RPS are unknown
    /// then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sys_is_foreign: bool,
    /// Reason why IPv4 loopback cannot be used. `None` if it can.
    pub v4_refusal: Option<String>,
    /// Reason why IPv6 loopback cannot be used. `None` if it can.
    pub v6_refusal: Option<String>,
}

impl Host {
    /// Returns the command that sets `rmem_max`, with the place to type it.
    pub fn command_for_rmem_max(&self, bytes: u64) -> String {
        let limit = RcvbufLimit {
            most: self.rmem_max,
            is_of_host: self.rmem_max_is_of_host,
        };
        limit.command(bytes)
    }

    /// Reads the facts of the host whose file system is below `root`. Page size, limit of open files, loopback and the
    /// drops of a socket are always those of this machine.
    pub fn read(root: &Root) -> Self {
        let rcvbuf_limit = RcvbufLimit::read(root);
        let cpus = cpu::usable(root);
        let pinnable_cpus = cpu::pinnable(root, &cpus);
        let compatible = root.strings("proc/device-tree/compatible");
        let kernel = root.text("proc/sys/kernel/osrelease");
        let kernel_version = root.text("proc/version");
        let configuration = kernel::configuration(root, kernel.as_deref());
        let is_set = |option| Some(kernel::is_set(configuration.as_ref()?, option));
        let cpufreq = kernel::policies(root);
        let sys_is_foreign = !interface::is_in_sys(root);
        let mut interfaces = interface::names(root);
        interfaces.retain(|_| !sys_is_foreign);
        Self {
            build: Build {
                version: crate::VERSION.to_owned(),
                arch: std::env::consts::ARCH.to_owned(),
                target: crate::TARGET.to_owned(),
            },
            soc: compatible.last().cloned(),
            hides_device_tree: model::is_hidden(root, &compatible),
            model: model::board(root),
            cpu_model: model::cpus(root),
            offline_cpus: cpu::offline(root, &pinnable_cpus),
            pinnable_cpus,
            cpus,
            online_cpus: cpu::online(root).map(|cpus| cpus.len()),
            online_contradiction: cpu::online_contradiction(root),
            isolated_cpus: root.text("sys/devices/system/cpu/isolated"),
            nohz_full_cpus: root
                .text("sys/devices/system/cpu/nohz_full")
                .map(|cpus| cpus.trim().replace("(null)", "")),
            most_rt_priority: scheduling::most_priority(),
            rt_throttling: Throttling::read(root, kernel.as_deref(), is_set("RT_GROUP_SCHED")),
            locks_memory: Some(scheduling::may_lock_memory()),
            busy_poll: Refusals::read(),
            incoming_cpu_refusal: incoming_cpu_refusal(root),
            cpu_quota: cpu::quota(root),
            virtualization: model::virtualization(root, &compatible),
            machine: kernel::machine(root),
            preemption: kernel_version
                .as_deref()
                .map(|version| kernel::preemption(root, version)),
            page_bytes: kernel::page_bytes(),
            irq_time_accounting: is_set("IRQ_TIME_ACCOUNTING"),
            governor: joined(
                cpufreq
                    .iter()
                    .filter_map(|it| it.governor.clone())
                    .collect(),
            ),
            cpufreq,
            power_meter: PowerMeter::find(root).map(|meter| meter.name),
            clocksource: root
                .text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            cpuidle_driver: kernel::cpuidle_driver(root),
            load_1min: kernel::load_1min(root),
            open_files: limits::most_open_files(),
            lists_drops: !socket_queues::can_read_socket_drops(),
            rmem_max: rcvbuf_limit.most,
            rmem_max_is_of_host: rcvbuf_limit.is_of_host,
            exceeds_rmem_max: network::can_exceed_rmem_max(root),
            lo_rps_cpus: network::rps_cpus(root, "lo").filter(|_| !sys_is_foreign),
            sys_is_foreign,
            conntrack: network::conntrack(root),
            nics: network::nics(root, interfaces),
            v4_refusal: loopback_problem(Ip::V4),
            v6_refusal: loopback_problem(Ip::V6),
            compatible,
            kernel,
            kernel_version,
        }
    }

    /// Returns the reason why this kind of loopback cannot be used. `None` if it can.
    pub fn loopback_problem(&self, ip: Ip) -> Option<&str> {
        match ip {
            Ip::V4 => self.v4_refusal.as_deref(),
            Ip::V6 => self.v6_refusal.as_deref(),
        }
    }

    /// Returns whether CPU `id` is in the affinity mask of this process.
    pub fn has_cpu(&self, id: usize) -> bool {
        self.cpus.iter().any(|cpu| cpu.id == id)
    }

    /// Returns the drivers that set the CPUs' clocks, `+`-joined if they differ.
    pub fn cpufreq_driver(&self) -> Option<String> {
        let drivers = self.cpufreq.iter().map(|policy| policy.driver.clone());
        joined(drivers.flatten().collect())
    }

    /// Returns the numbers of the CPUs in the affinity mask of this process, for a message.
    pub fn cpu_list(&self) -> String {
        let cpus: Vec<usize> = self.cpus.iter().map(|cpu| cpu.id).collect();
        cpu_list::join(&cpus, ",")
    }
}

fn incoming_cpu_refusal(root: &Root) -> Option<String> {
    // With RPS, other CPUs may handle the datagrams of the probe.
    let has_rps = network::rps_cpus(root, "lo").is_some_and(|cpus| !cpus.is_empty());
    reuseport::probe_incoming_cpu().err().filter(|_| !has_rps)
}

fn loopback_problem(ip: Ip) -> Option<String> {
    let address = ip.loopback();
    // With lo down, binding may work and only connecting fails.
    let reach = || {
        let socket = UdpSocket::bind((address, 0))?;
        socket.connect(socket.local_addr()?)
    };
    let error = reach().err()?;
    Some(format!("{address} cannot be used here: {error}"))
}

/// Returns what to do if this kind of loopback cannot be used.
pub fn loopback_fix(ip: Ip) -> &'static str {
    match ip {
        Ip::V4 => "if lo is down: ip link set lo up",
        Ip::V6 => "if IPv6 is disabled: sysctl -w net.ipv6.conf.lo.disable_ipv6=0",
    }
}

/// Joins the distinct values with `+`. `None` if there are none.
fn joined(mut values: Vec<String>) -> Option<String> {
    values.sort_unstable();
    values.dedup();
    (!values.is_empty()).then(|| values.join("+"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A file below a root: its path and its text.
    pub(super) type File<'a> = (&'a str, &'a str);

    /// Returns a directory with these files, as a root.
    pub(super) fn tree<C: AsRef<[u8]>>(files: &[(&str, C)]) -> (TempDir, Root) {
        let dir = TempDir::new().expect("a temporary directory");
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
            fs::write(path, content).expect("writable");
        }
        let root = Root::new(dir.path());
        (dir, root)
    }
}
