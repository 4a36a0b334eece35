//! One row of the results. This is the one place where raw counters become numbers to read.
//!
//! `docs/RESULTS.md` says the same for people who only have the CSV.

mod climate;
mod contamination;
mod counters_by_name;
mod doubts;
mod environment;
mod fairness;
mod input;
mod joined;
mod labels;
pub(crate) mod lost;
mod machine;
mod new;
mod numbers;
mod on_the_way;
mod outcome;
mod own;
pub(crate) mod pacing;
mod refusals;
mod round_trips;
mod rounding;
mod shown;
mod verdict;

use serde::{Deserialize, Serialize};

pub use self::environment::{Environment, OtherHost};
pub use self::input::RowInput;
pub use self::machine::Machine;
pub(crate) use self::numbers::{cpu_ns_per_packet, received_pps};
pub use self::outcome::{EndedBy, Interruption, Outcome, Status};
pub(crate) use self::rounding::milliseconds;

use crate::data::{
    Address, Arrivals, Batch, Buffer, Connection, Direction, Duplex, Flows, Ip, Outstanding,
    Payload, Rate, ServerModel, ServiceTime, SharingKind, Spread, ThinkTime, Threads, Tos,
    Transport, Wait, Workers, Workload,
};

/// One row. Units are in the names; what could not be measured is empty, never 0. In a CSV that is read, columns of
/// an `Option` or with a default may be missing: they are then empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "docs/RESULTS.md explains every column, and a test holds it to that"
)]
pub struct Row {
    pub sender: String,
    pub receiver: String,
    pub threads: Threads,
    pub payload_bytes: Payload,
    pub connection: Connection,
    pub ip: Ip,
    pub received_mbps: Option<f64>,
    pub received_mbps_low: Option<f64>,
    pub received_mbps_high: Option<f64>,
    pub received_pps: Option<f64>,
    pub received_pps_low: Option<f64>,
    pub received_pps_high: Option<f64>,
    pub loss_pct: Option<f64>,
    pub cpu_ns_per_packet: Option<f64>,
    pub cpu_ns_per_packet_low: Option<f64>,
    pub cpu_ns_per_packet_high: Option<f64>,
    pub ratio_to_std: Option<f64>,
    pub ratio_to_std_low: Option<f64>,
    pub ratio_to_std_high: Option<f64>,
    pub status: Status,
    pub reason: String,
    #[serde(with = "joined")]
    pub warnings: Vec<String>,
    pub case: String,
    pub senders: usize,
    pub receivers: usize,
    pub batch: Option<Batch>,
    pub tokio_workers: Option<Workers>,
    pub wait: Option<Wait>,
    pub rcvbuf_asked_bytes: Option<Buffer>,
    pub sndbuf_asked_bytes: Option<Buffer>,
    pub tos: Option<Tos>,
    #[serde(default)]
    pub workload: Workload,
    #[serde(default)]
    pub transport: Transport,
    #[serde(default)]
    pub address: Address,
    pub direction: Option<Direction>,
    pub duplex: Option<Duplex>,
    pub flows: Option<Flows>,
    pub outstanding: Option<Outstanding>,
    pub rate_asked_rps: Option<Rate>,
    pub arrivals: Option<Arrivals>,
    pub think_time: Option<ThinkTime>,
    pub service_time: Option<ServiceTime>,
    pub server_model: Option<ServerModel>,
    pub sharing: Option<SharingKind>,
    pub spread: Option<Spread>,
    pub pin: String,
    pub rounds: u32,
    pub window_ms: Option<f64>,
    pub warmup_ms: f64,
    pub settles_ms: Option<f64>,
    pub sent_pps: Option<f64>,
    pub late_packets: Option<u64>,
    pub gap_p50_us: Option<f64>,
    pub gap_p99_us: Option<f64>,
    pub gap_max_us: Option<f64>,
    #[serde(default)]
    pub gap_source: String,
    pub rtt_p50_us: Option<f64>,
    pub rtt_p50_us_low: Option<f64>,
    pub rtt_p50_us_high: Option<f64>,
    pub rtt_p90_us: Option<f64>,
    pub rtt_p90_us_low: Option<f64>,
    pub rtt_p90_us_high: Option<f64>,
    pub rtt_p99_us: Option<f64>,
    pub rtt_p99_us_low: Option<f64>,
    pub rtt_p99_us_high: Option<f64>,
    pub rtt_p999_us: Option<f64>,
    pub rtt_p999_us_low: Option<f64>,
    pub rtt_p999_us_high: Option<f64>,
    pub rtt_p9999_us: Option<f64>,
    pub rtt_p9999_us_low: Option<f64>,
    pub rtt_p9999_us_high: Option<f64>,
    pub rtt_max_us: Option<f64>,
    pub rtt_mean_us: Option<f64>,
    pub rtt_sd_us: Option<f64>,
    pub rtt_trend_p: Option<f64>,
    pub wakeup_p50_us: Option<f64>,
    pub answered_requests: Option<u64>,
    pub unanswered_requests: Option<u64>,
    pub late_answers: Option<u64>,
    pub sent_packets: Option<u64>,
    pub received_packets: Option<u64>,
    pub unread_packets: Option<u64>,
    pub refused_packets: Option<u64>,
    pub dropped_socket_packets: Option<u64>,
    pub dropped_kernel_packets: Option<u64>,
    pub dropped_kernel_out_packets: Option<u64>,
    pub dropped_qdisc_packets: Option<u64>,
    pub dropped_nic_out_packets: Option<u64>,
    pub lost_on_path_packets: Option<u64>,
    pub dropped_nic_in_packets: Option<u64>,
    pub dropped_backlog_packets: Option<u64>,
    pub dropped_kernel_in_packets: Option<u64>,
    pub dropped_protocol_packets: Option<u64>,
    pub surplus_packets: Option<u64>,
    #[serde(default)]
    pub nic_counters: String,
    #[serde(default)]
    pub drop_reasons: String,
    pub unaccounted_packets: Option<i64>,
    pub queue_growth_packets: Option<i64>,
    pub verified_packets: Option<u64>,
    pub missing_packets: Option<u64>,
    pub duplicated_packets: Option<u64>,
    pub reordered_packets: Option<u64>,
    pub reordering_extent: Option<u64>,
    pub jitter_us: Option<f64>,
    pub truncated_packets: Option<u64>,
    pub corrupted_packets: Option<u64>,
    pub failed_calls: Option<u64>,
    pub sender_cpu_ns_per_packet: Option<f64>,
    pub receiver_cpu_ns_per_packet: Option<f64>,
    pub other_cpu_ns_per_packet: Option<f64>,
    pub cpu_ratio_to_std: Option<f64>,
    pub cpu_ratio_to_std_low: Option<f64>,
    pub cpu_ratio_to_std_high: Option<f64>,
    pub ratio_to_half: Option<f64>,
    pub ratio_to_half_low: Option<f64>,
    pub ratio_to_half_high: Option<f64>,
    pub interval_pct: Option<f64>,
    pub cv_pct: Option<f64>,
    pub ratio_pairs: Option<usize>,
    pub ratio_sd_pct: Option<f64>,
    pub cpu_ratio_sd_pct: Option<f64>,
    pub own_sd_pct: Option<f64>,
    pub own_cpu_sd_pct: Option<f64>,
    pub lost_cpu_pct: Option<f64>,
    pub steal_pct: Option<f64>,
    pub irq_pct: Option<f64>,
    pub softirq_pct: Option<f64>,
    pub disturbed_windows: Option<usize>,
    pub contaminated_windows: Option<usize>,
    pub repeated_windows: Option<usize>,
    #[serde(default)]
    pub ended_by: String,
    pub until_pct: Option<f64>,
    pub receiver_share_min_pct: Option<f64>,
    pub jains_index: Option<f64>,
    pub slowest_flow_pps: Option<f64>,
    pub fastest_flow_pps: Option<f64>,
    pub starved_flows: Option<usize>,
    pub rcvbuf_bytes: Option<u64>,
    pub sndbuf_bytes: Option<u64>,
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
    pub freq_low_mhz: Option<f64>,
    pub clock_min_pct: Option<f64>,
    #[serde(default)]
    pub clocksource: String,
    pub cpuidle_driver: String,
    #[serde(default)]
    pub idle_states: String,
    pub isolated_cpus: String,
    pub load_1min: Option<f64>,
    pub rps_cpus: String,
    pub conntrack_entries: Option<u64>,
    pub nic_irq_cpus: String,
    pub temp_c_start: Option<f64>,
    pub temp_c_end: Option<f64>,
    pub temp_c_max: Option<f64>,
    pub throttled: String,
    #[serde(default)]
    pub nic: String,
    #[serde(default)]
    pub there: String,
    #[serde(default)]
    pub there_board: String,
    #[serde(default)]
    pub there_model: String,
    #[serde(default)]
    pub there_cpu_model: String,
    #[serde(default)]
    pub there_machine: String,
    #[serde(default)]
    pub there_kernel: String,
    #[serde(default)]
    pub there_governor: String,
    #[serde(default)]
    pub there_nic: String,
    pub seed: u32,
    pub started_at: String,
    pub version: String,
}

#[cfg(test)]
pub(crate) mod tests;
