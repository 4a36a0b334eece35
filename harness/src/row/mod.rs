//! One row of the results. This is the one place where raw counters become numbers to read.
//!
//! `docs/RESULTS.md` says the same for people who only have the CSV.

mod climate;
mod contamination;
mod environment;
mod input;
mod joined;
mod labels;
mod lost;
mod machine;
mod numbers;
mod outcome;
mod own;
mod round_trips;
mod rounding;
mod shown;
mod verdict;

use serde::{Deserialize, Serialize};

use self::contamination::Windows;
pub use self::environment::Environment;
pub use self::input::RowInput;
pub use self::machine::Machine;
use self::numbers::{Speeds, high, low, middle};
pub(crate) use self::numbers::{cpu_ns_per_packet, received_pps};
pub use self::outcome::{EndedBy, Outcome, Status};
use self::round_trips::Latencies;
use self::rounding::decimals;
pub(crate) use self::rounding::milliseconds;

use crate::data::{
    Arrivals, Batch, Buffer, Connection, Ip, Outstanding, Payload, Rate, ServiceTime, Sharing,
    SharingKind, Spread, Threads, Tos, Wait, Workers, Workload,
};

/// One row. Units are in the names; what could not be measured is empty, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "docs/RESULTS.md explains every column, and a test holds it to that"
)]
pub struct Row {
    pub case: String,
    pub status: Status,
    pub reason: String,
    pub sender: String,
    pub receiver: String,
    pub threads: Threads,
    pub senders: usize,
    pub receivers: usize,
    pub payload_bytes: Payload,
    pub connection: Connection,
    pub ip: Ip,
    pub batch: Option<Batch>,
    pub tokio_workers: Option<Workers>,
    pub wait: Option<Wait>,
    pub rcvbuf_asked_bytes: Option<Buffer>,
    pub sndbuf_asked_bytes: Option<Buffer>,
    pub tos: Option<Tos>,
    #[serde(default)]
    pub workload: Workload,
    pub outstanding: Option<Outstanding>,
    pub rate_asked_rps: Option<Rate>,
    pub arrivals: Option<Arrivals>,
    pub service_time: Option<ServiceTime>,
    pub sharing: Option<SharingKind>,
    pub spread: Option<Spread>,
    pub pin: String,
    pub rounds: u32,
    pub window_ms: Option<f64>,
    pub warmup_ms: f64,
    pub settles_ms: Option<f64>,
    pub received_pps: Option<f64>,
    pub received_pps_low: Option<f64>,
    pub received_pps_high: Option<f64>,
    pub received_mbps: Option<f64>,
    pub received_mbps_low: Option<f64>,
    pub received_mbps_high: Option<f64>,
    pub sent_pps: Option<f64>,
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
    pub answered_requests: Option<u64>,
    pub unanswered_requests: Option<u64>,
    pub late_answers: Option<u64>,
    pub loss_pct: Option<f64>,
    pub sent_packets: Option<u64>,
    pub received_packets: Option<u64>,
    pub unread_packets: Option<u64>,
    pub dropped_socket_packets: Option<u64>,
    pub dropped_kernel_packets: Option<u64>,
    pub unaccounted_packets: Option<i64>,
    pub queue_growth_packets: Option<i64>,
    pub verified_packets: Option<u64>,
    pub duplicated_packets: Option<u64>,
    pub reordered_packets: Option<u64>,
    pub truncated_packets: Option<u64>,
    pub corrupted_packets: Option<u64>,
    pub failed_calls: Option<u64>,
    pub sender_cpu_ns_per_packet: Option<f64>,
    pub receiver_cpu_ns_per_packet: Option<f64>,
    pub cpu_ns_per_packet: Option<f64>,
    pub cpu_ns_per_packet_low: Option<f64>,
    pub cpu_ns_per_packet_high: Option<f64>,
    pub other_cpu_ns_per_packet: Option<f64>,
    pub ratio_to_std: Option<f64>,
    pub ratio_to_std_low: Option<f64>,
    pub ratio_to_std_high: Option<f64>,
    pub cpu_ratio_to_std: Option<f64>,
    pub cpu_ratio_to_std_low: Option<f64>,
    pub cpu_ratio_to_std_high: Option<f64>,
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
    pub left_out_windows: Option<usize>,
    pub repeated_windows: Option<usize>,
    #[serde(default)]
    pub ended_by: String,
    pub until_pct: Option<f64>,
    pub receiver_share_min_pct: Option<f64>,
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
    pub cpuidle_driver: String,
    pub isolated_cpus: String,
    pub load_1min: Option<f64>,
    pub rps_cpus: String,
    pub conntrack_entries: Option<u64>,
    pub nic_irq_cpus: String,
    pub temp_c_start: Option<f64>,
    pub temp_c_end: Option<f64>,
    pub temp_c_max: Option<f64>,
    pub throttled: String,
    #[serde(with = "joined")]
    pub warnings: Vec<String>,
    pub seed: u32,
    pub started_at: String,
    pub version: String,
}

impl Row {
    /// Makes the row.
    #[expect(clippy::too_many_lines, reason = "a line for each column")]
    pub fn new(input: &RowInput, environment: &Environment) -> Self {
        let (case, samples, verified) = (input.case, input.samples, input.verified);
        let (status, reason) = verdict::status(input);
        // A starved or faulty case has counts, but no speed.
        let speaks = status == Status::Ok || status == Status::Interrupted;
        let windows = Windows::new(samples, input.reference, environment);
        let speeds = if speaks {
            windows.speeds()
        } else {
            Speeds::of(&[], &[])
        };
        let own_sd_pct = |value| {
            let found = own::sd_pct(samples, input.others, value).filter(|_| speaks);
            found.map(decimals::<3>)
        };
        // What was asked for is no result.
        let ratio = speeds.ratio.filter(|_| !case.is_open_loop());
        let all = Latencies::of(samples);
        let is_overloaded = round_trips::overload(case, samples).is_some();
        let latencies = Latencies::of(samples.iter().filter(|_| speaks && !is_overloaded));
        let [p50, p90, p99, p999, p9999] = latencies.quantiles_us;
        let taken_pct = |what| lost::taken_pct(samples, what).map(decimals::<2>);
        let books = (!samples.is_empty()).then(|| numbers::total_books(samples));
        Self {
            case: case.key(),
            status,
            reason,
            sender: case.sender.to_string(),
            receiver: case.receiver.to_string(),
            threads: case.threads,
            senders: case.threads.senders(),
            receivers: case.threads.receivers(),
            payload_bytes: case.payload,
            connection: case.connection,
            ip: case.ip,
            batch: case.batch,
            tokio_workers: case.tokio_workers,
            wait: case.wait,
            rcvbuf_asked_bytes: Some(case.rcvbuf),
            sndbuf_asked_bytes: case.sndbuf,
            tos: case.tos,
            workload: case.workload.unwrap_or_default(),
            outstanding: (case.asks() && !case.is_open_loop())
                .then(|| case.outstanding.unwrap_or(Outstanding::DEFAULT)),
            rate_asked_rps: case.rate,
            arrivals: case.rate.map(|_| case.arrivals.unwrap_or_default()),
            service_time: case.service,
            sharing: case.sharing.map(Sharing::kind),
            spread: case.sharing.and_then(Sharing::spread),
            pin: input.pin.clone(),
            rounds: samples.len().try_into().unwrap_or(u32::MAX),
            window_ms: numbers::window_ms(samples),
            warmup_ms: environment.warmup_ms,
            settles_ms: input.settles_after.map(milliseconds),
            received_pps: middle::<0>(speeds.received_pps),
            received_pps_low: low::<0>(speeds.received_pps),
            received_pps_high: high::<0>(speeds.received_pps),
            received_mbps: middle::<3>(speeds.received_mbps),
            received_mbps_low: low::<3>(speeds.received_mbps),
            received_mbps_high: high::<3>(speeds.received_mbps),
            sent_pps: middle::<0>(speeds.sent_pps),
            rtt_p50_us: middle::<3>(p50),
            rtt_p50_us_low: low::<3>(p50),
            rtt_p50_us_high: high::<3>(p50),
            rtt_p90_us: middle::<3>(p90),
            rtt_p90_us_low: low::<3>(p90),
            rtt_p90_us_high: high::<3>(p90),
            rtt_p99_us: middle::<3>(p99),
            rtt_p99_us_low: low::<3>(p99),
            rtt_p99_us_high: high::<3>(p99),
            rtt_p999_us: middle::<3>(p999),
            rtt_p999_us_low: low::<3>(p999),
            rtt_p999_us_high: high::<3>(p999),
            rtt_p9999_us: middle::<3>(p9999),
            rtt_p9999_us_low: low::<3>(p9999),
            rtt_p9999_us_high: high::<3>(p9999),
            rtt_max_us: latencies.longest_us(),
            rtt_mean_us: latencies.mean_us(),
            rtt_sd_us: latencies.sd_us(),
            answered_requests: all.total(|all| all.times.count()),
            unanswered_requests: all.total(|all| all.unanswered),
            late_answers: all.total(|all| all.late),
            loss_pct: books.and_then(numbers::loss_pct),
            sent_packets: books.map(|books| books.sent),
            received_packets: books.map(|books| books.received),
            unread_packets: books.map(|books| books.unread),
            dropped_socket_packets: books.map(|books| books.dropped_socket),
            dropped_kernel_packets: books.map(|books| books.dropped_kernel),
            unaccounted_packets: books.map(|books| books.unaccounted),
            queue_growth_packets: books.map(|_| numbers::queue_growth(samples)),
            verified_packets: verified.map(|found| found.packets),
            duplicated_packets: verified.map(|found| found.duplicated),
            reordered_packets: verified.map(|found| found.reordered),
            truncated_packets: verified.map(|found| found.truncated),
            corrupted_packets: verified.map(|found| found.corrupted),
            failed_calls: books.map(|_| numbers::failed_calls(samples)),
            sender_cpu_ns_per_packet: middle::<1>(speeds.sender_cpu_ns_per_packet),
            receiver_cpu_ns_per_packet: middle::<1>(speeds.receiver_cpu_ns_per_packet),
            cpu_ns_per_packet: middle::<1>(speeds.cpu_ns_per_packet),
            cpu_ns_per_packet_low: low::<1>(speeds.cpu_ns_per_packet),
            cpu_ns_per_packet_high: high::<1>(speeds.cpu_ns_per_packet),
            other_cpu_ns_per_packet: middle::<1>(speeds.other_cpu_ns_per_packet),
            ratio_to_std: middle::<4>(ratio),
            ratio_to_std_low: low::<4>(ratio),
            ratio_to_std_high: high::<4>(ratio),
            cpu_ratio_to_std: middle::<4>(speeds.cpu_ratio),
            cpu_ratio_to_std_low: low::<4>(speeds.cpu_ratio),
            cpu_ratio_to_std_high: high::<4>(speeds.cpu_ratio),
            interval_pct: speeds.interval_pct,
            cv_pct: speeds.cv_pct,
            ratio_pairs: speeds.ratio.map(|_| speeds.pairs),
            ratio_sd_pct: speeds.ratio_sd_pct,
            cpu_ratio_sd_pct: speeds.cpu_ratio_sd_pct,
            own_sd_pct: own_sd_pct(received_pps),
            own_cpu_sd_pct: own_sd_pct(cpu_ns_per_packet),
            lost_cpu_pct: windows.lost_cpu_pct.map(decimals::<2>),
            steal_pct: taken_pct(|taken| taken.steal_ns),
            irq_pct: taken_pct(|taken| taken.irq_ns),
            softirq_pct: taken_pct(|taken| taken.softirq_ns),
            disturbed_windows: books.map(|_| windows.disturbed()),
            contaminated_windows: books.map(|_| windows.contaminated),
            left_out_windows: books.map(|_| 0),
            repeated_windows: books.map(|_| input.repeated),
            ended_by: verdict::ended_by(&input.outcome).to_owned(),
            until_pct: input.until_pct,
            receiver_share_min_pct: numbers::receiver_share_min_pct(samples),
            rcvbuf_bytes: samples.first().map(|sample| sample.rcvbuf_bytes),
            sndbuf_bytes: samples.first().map(|sample| sample.sndbuf_bytes),
            board: environment.board.clone(),
            model: environment.model.clone(),
            soc: environment.soc.clone(),
            cpu_model: environment.cpu_model.clone(),
            arch: environment.arch.clone(),
            target: environment.target.clone(),
            machine: environment.machine.clone(),
            virtualization: environment.virtualization.clone(),
            kernel: environment.kernel.clone(),
            preemption: environment.preemption.clone(),
            page_bytes: environment.page_bytes,
            irq_time_accounting: environment.irq_time_accounting.clone(),
            governor: environment.governor.clone(),
            cpufreq_driver: environment.cpufreq_driver.clone(),
            freq_min_mhz: environment.freq_min_mhz,
            freq_max_mhz: environment.freq_max_mhz,
            freq_low_mhz: climate::freq_low_mhz(samples),
            clock_min_pct: climate::clock_min_pct(samples, &environment.paces),
            cpuidle_driver: environment.cpuidle_driver.clone(),
            isolated_cpus: environment.isolated_cpus.clone(),
            load_1min: environment.load_1min,
            rps_cpus: environment.rps_cpus.clone(),
            conntrack_entries: environment.conntrack_entries,
            nic_irq_cpus: environment.nic_irq_cpus.clone(),
            temp_c_start: climate::temp_c_start(samples),
            temp_c_end: climate::temp_c_end(samples),
            temp_c_max: climate::temp_c_max(samples),
            throttled: climate::throttled(samples),
            warnings: verdict::warnings(input, environment, &windows, &speeds),
            seed: environment.seed,
            started_at: numbers::started_at(samples),
            version: environment.version.clone(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
