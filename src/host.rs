//! The host: what the plan and the rows need to know about the machine.

use std::net::UdpSocket;

use serde::{Deserialize, Serialize};

use crate::case::Ip;
use crate::sys::files::{Root, parse_cpu_list};

/// A machine, as its `/proc` and `/sys` show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// `compatible` of the device tree, most specific first. Empty without a device tree.
    pub compatible: Vec<String>,
    /// `model` of the device tree, or the DMI product name.
    pub model: Option<String>,
    /// What the CPUs call themselves, `+`-joined where they differ.
    pub cpu_model: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Kernel version line: build, preemption flavour.
    pub kernel_version: Option<String>,
    /// The cpufreq governors in use, `+`-joined where they differ. `None` without cpufreq.
    pub governor: Option<String>,
    /// The most that SO_RCVBUF grants without privilege, in bytes.
    pub rmem_max: Option<u64>,
    /// The CPUs that this process may run on, by number.
    pub cpus: Vec<Cpu>,
    /// Why IPv4 loopback cannot be used, if it cannot.
    pub v4_refusal: Option<String>,
    /// Why IPv6 loopback cannot be used, if it cannot.
    pub v6_refusal: Option<String>,
}

/// A CPU that this process may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Linux's number.
    pub id: usize,
    /// `cpu_capacity`: 1024 for the biggest kind (kernel ABI doc sysfs-devices-system-cpu).
    pub capacity: u32,
    /// The lowest CPU number of its core: equal for SMT siblings.
    pub core: usize,
    /// The lowest CPU number that shares its last-level cache.
    pub cache: usize,
}

impl Host {
    /// Reads the host below `root`; whether loopback works is tried out for real.
    pub fn read(root: &Root) -> Self {
        Self {
            compatible: root
                .text("proc/device-tree/compatible")
                .unwrap_or_default()
                .split('\0')
                .filter(|entry| !entry.is_empty())
                .map(str::to_owned)
                .collect(),
            model: root
                .text("proc/device-tree/model")
                .or_else(|| root.text("sys/class/dmi/id/product_name")),
            cpu_model: cpu_model(root),
            kernel: root.text("proc/sys/kernel/osrelease"),
            kernel_version: root.text("proc/version"),
            governor: governor(root),
            rmem_max: root.number("proc/sys/net/core/rmem_max"),
            cpus: cpus(root),
            v4_refusal: loopback_refusal(Ip::V4),
            v6_refusal: loopback_refusal(Ip::V6),
        }
    }

    /// Why this kind of loopback cannot be used, if it cannot.
    pub fn refusal(&self, ip: Ip) -> Option<&str> {
        match ip {
            Ip::V4 => self.v4_refusal.as_deref(),
            Ip::V6 => self.v6_refusal.as_deref(),
        }
    }

    /// Whether this process may run on CPU `id`.
    pub fn has_cpu(&self, id: usize) -> bool {
        self.cpus.iter().any(|cpu| cpu.id == id)
    }

    /// The numbers of the CPUs that this process may run on, for a message.
    pub fn cpu_list(&self) -> String {
        let ids: Vec<String> = self.cpus.iter().map(|cpu| cpu.id.to_string()).collect();
        ids.join(",")
    }
}

fn loopback_refusal(ip: Ip) -> Option<String> {
    let address = ip.loopback();
    // With lo down, binding may work and only reaching it fails.
    let reach = || {
        let socket = UdpSocket::bind((address, 0))?;
        socket.connect(socket.local_addr()?)
    };
    let error = reach().err()?;
    let cure = match ip {
        Ip::V4 => "is lo up? (ip link set lo up)",
        Ip::V6 => "is IPv6 switched off? (sysctl net.ipv6.conf.lo.disable_ipv6)",
    };
    Some(format!("{address} cannot be used here: {error}; {cure}"))
}

/// The CPUs in `Cpus_allowed_list`, which is what affinity and cpusets leave of those online.
fn cpus(root: &Root) -> Vec<Cpu> {
    let status = root.text("proc/self/status").unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .and_then(|list| parse_cpu_list(list).ok())
        .unwrap_or_default();
    let online = root
        .text("sys/devices/system/cpu/online")
        .and_then(|list| parse_cpu_list(&list).ok());
    let is_online = |id: &usize| online.as_ref().is_none_or(|online| online.contains(id));
    allowed
        .into_iter()
        .filter(is_online)
        .map(|id| cpu(root, id))
        .collect()
}

fn cpu(root: &Root, id: usize) -> Cpu {
    let directory = format!("sys/devices/system/cpu/cpu{id}");
    let first_of = |file: &str| {
        let list = root.text(format!("{directory}/{file}"))?;
        parse_cpu_list(&list).ok()?.first().copied()
    };
    let caches = root.names(format!("{directory}/cache"), "index");
    Cpu {
        id,
        capacity: root
            .number(format!("{directory}/cpu_capacity"))
            .unwrap_or(1024),
        core: first_of("topology/thread_siblings_list").unwrap_or(id),
        // Names sort by level: the last one is the last-level cache.
        cache: caches
            .last()
            .and_then(|index| first_of(&format!("cache/{index}/shared_cpu_list")))
            .unwrap_or(0),
    }
}

/// x86 prints a name; arm64 prints part numbers, of each CPU its own.
fn cpu_model(root: &Root) -> Option<String> {
    let info = root.text("proc/cpuinfo")?;
    let values = |name: &'static str| {
        let fields = info.lines().filter_map(|line| line.split_once(':'));
        let named = fields.filter(move |(key, _)| key.trim() == name);
        named.map(|(_, value)| value.trim())
    };
    let parts = values("CPU implementer").zip(values("CPU part"));
    let parts: Vec<String> = parts
        .map(|(implementer, part)| arm_core(implementer, part))
        .collect();
    match joined(parts) {
        Some(parts) => Some(parts),
        None => values("model name").next().map(str::to_owned),
    }
}

fn arm_core(implementer: &str, part: &str) -> String {
    const ARM_LTD: &str = "0x41";
    let known = ARM_PARTS
        .iter()
        .find(|(number, _)| *number == part && implementer == ARM_LTD);
    known.map_or_else(
        || format!("implementer {implementer} part {part}"),
        |(_, name)| (*name).to_owned(),
    )
}

/// Arm Ltd's part numbers, as in the kernel's `arch/arm64/include/asm/cputype.h` and util-linux's
/// `lscpu-arm.c`.
const ARM_PARTS: &[(&str, &str)] = &[
    ("0xb76", "ARM1176"),
    ("0xc07", "Cortex-A7"),
    ("0xc08", "Cortex-A8"),
    ("0xc09", "Cortex-A9"),
    ("0xc0f", "Cortex-A15"),
    ("0xd03", "Cortex-A53"),
    ("0xd04", "Cortex-A35"),
    ("0xd05", "Cortex-A55"),
    ("0xd07", "Cortex-A57"),
    ("0xd08", "Cortex-A72"),
    ("0xd09", "Cortex-A73"),
    ("0xd0a", "Cortex-A75"),
    ("0xd0b", "Cortex-A76"),
    ("0xd0c", "Neoverse-N1"),
    ("0xd0d", "Cortex-A77"),
    ("0xd40", "Neoverse-V1"),
    ("0xd41", "Cortex-A78"),
    ("0xd42", "Cortex-A78AE"),
    ("0xd44", "Cortex-X1"),
    ("0xd46", "Cortex-A510"),
    ("0xd47", "Cortex-A710"),
    ("0xd49", "Neoverse-N2"),
];

fn governor(root: &Root) -> Option<String> {
    let directory = "sys/devices/system/cpu/cpufreq";
    let policies = root.names(directory, "policy");
    let governor = |policy| root.text(format!("{directory}/{policy}/scaling_governor"));
    joined(policies.iter().filter_map(governor).collect())
}

/// Each kind once. `None`: there are none.
fn joined(mut kinds: Vec<String>) -> Option<String> {
    kinds.sort();
    kinds.dedup();
    (!kinds.is_empty()).then(|| kinds.join("+"))
}
