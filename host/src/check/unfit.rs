//! Problems that make a host unfit to measure on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::text::sentences;

/// Problem of one of the hosts of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The problem.
    pub unfit: Unfit,
    /// True if the other host has it.
    pub is_remote: bool,
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
