//! The record: one row of the results. This is the one place where raw counters become numbers to read.
//!
//! `docs/RESULTS.md` says the same for people who only have the CSV.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::case::{Case, Connection, Ip, Payload, Threads};
use crate::sample::{LaneSample, Sample, Side, WindowBooks};
use crate::stats::{self, Estimate};

/// One row. Units are in the names; what could not be measured is empty, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "docs/RESULTS.md explains every column, and a test holds it to that"
)]
pub struct Record {
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
    pub pin: String,
    pub rounds: u32,
    pub window_ms: Option<f64>,
    pub warmup_ms: f64,
    pub received_pps: Option<f64>,
    pub received_pps_low: Option<f64>,
    pub received_pps_high: Option<f64>,
    pub received_mbps: Option<f64>,
    pub received_mbps_low: Option<f64>,
    pub received_mbps_high: Option<f64>,
    pub sent_pps: Option<f64>,
    pub loss_pct: Option<f64>,
    pub sent_packets: Option<u64>,
    pub received_packets: Option<u64>,
    pub unread_packets: Option<u64>,
    pub dropped_socket_packets: Option<u64>,
    pub dropped_kernel_packets: Option<u64>,
    pub unaccounted_packets: Option<i64>,
    pub send_errors: Option<u64>,
    pub sender_cpu_ns_per_packet: Option<f64>,
    pub receiver_cpu_ns_per_packet: Option<f64>,
    pub cpu_ns_per_packet: Option<f64>,
    pub ratio_to_std: Option<f64>,
    pub ratio_to_std_low: Option<f64>,
    pub ratio_to_std_high: Option<f64>,
    pub cpu_ratio_to_std: Option<f64>,
    pub cpu_ratio_to_std_low: Option<f64>,
    pub cpu_ratio_to_std_high: Option<f64>,
    pub interval_pct: Option<f64>,
    pub cv_pct: Option<f64>,
    pub receiver_share_min_pct: Option<f64>,
    pub rcvbuf_bytes: Option<u64>,
    pub sndbuf_bytes: Option<u64>,
    pub board: String,
    pub cpu_model: String,
    pub arch: String,
    pub target: String,
    pub kernel: String,
    pub governor: String,
    pub temp_c_max: Option<f64>,
    pub throttled: String,
    #[serde(with = "joined")]
    pub warnings: Vec<String>,
    pub seed: u32,
    pub started_at: String,
    pub version: String,
}

/// Several texts in one CSV field.
mod joined {
    use serde::{Deserialize, Deserializer, Serializer};

    const SEPARATOR: &str = "; ";

    pub(super) fn serialize<S: Serializer>(
        texts: &[String],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&texts.join(SEPARATOR))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<String>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let texts = text.split(SEPARATOR).filter(|text| !text.is_empty());
        Ok(texts.map(str::to_owned).collect())
    }
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Measured, and its books are closed.
    Ok,
    /// Not run, for the reason given.
    Skipped,
    /// It broke, starved, or its books do not close.
    Failed,
    /// Ended early, with the rounds that it had.
    Interrupted,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        })
    }
}

/// What all rows of a run share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the columns")]
pub struct Environment {
    pub board: String,
    pub cpu_model: String,
    pub arch: String,
    pub target: String,
    pub kernel: String,
    pub governor: String,
    pub warmup_ms: f64,
    pub seed: u32,
    pub version: String,
}

/// How a case ended, seen from the sweep.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All its rounds ran.
    Complete,
    /// The sweep was interrupted.
    Interrupted,
    /// Its last window could not be measured; the reason.
    Failed(String),
    /// It was never to run; the reason.
    Skipped(String),
}

/// All that a row is made from.
#[derive(Clone, Debug)]
pub struct Findings<'a> {
    /// The case.
    pub case: &'a Case,
    /// Where it was pinned, as `--pin` takes it.
    pub pin: String,
    /// What may mislead about it.
    pub warnings: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Its windows.
    pub samples: &'a [Sample],
    /// The windows of the reference case of its block.
    pub reference: &'a [Sample],
}

impl Record {
    /// Makes the row.
    pub fn new(findings: &Findings, environment: &Environment) -> Self {
        let Findings { case, samples, .. } = *findings;
        let (status, reason) = verdict(findings);
        // A starved or faulty case has counts, but no speed.
        let speaks = status == Status::Ok || status == Status::Interrupted;
        let speeds: &[Sample] = if speaks { samples } else { &[] };
        let over = |value: fn(&Sample) -> Option<f64>| {
            stats::estimate(&speeds.iter().filter_map(value).collect::<Vec<f64>>())
        };
        let against = |value: fn(&Sample) -> Option<f64>| {
            let ratios = paired_ratios(speeds, findings.reference, value);
            stats::estimate(&ratios)
        };
        let (pps, mbps) = (over(received_pps), over(received_mbps));
        let (ratio, cpu_ratio) = (against(received_pps), against(cpu_ns_per_packet));
        let measured = !samples.is_empty();
        let books = measured.then(|| total_books(samples));
        let rates: Vec<f64> = speeds.iter().filter_map(received_pps).collect();
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
            pin: findings.pin.clone(),
            rounds: samples.len().try_into().unwrap_or(u32::MAX),
            window_ms: stats::estimate(&samples.iter().map(window_ms).collect::<Vec<f64>>())
                .map(|window| decimals::<3>(window.median)),
            warmup_ms: environment.warmup_ms,
            received_pps: median::<0>(pps),
            received_pps_low: low::<0>(pps),
            received_pps_high: high::<0>(pps),
            received_mbps: median::<3>(mbps),
            received_mbps_low: low::<3>(mbps),
            received_mbps_high: high::<3>(mbps),
            sent_pps: median::<0>(over(sent_pps)),
            loss_pct: books.and_then(|books| {
                percent(books.sent.saturating_sub(books.received), books.sent).map(decimals::<4>)
            }),
            sent_packets: books.map(|books| books.sent),
            received_packets: books.map(|books| books.received),
            unread_packets: books.map(|books| books.unread),
            dropped_socket_packets: books.map(|books| books.dropped_socket),
            dropped_kernel_packets: books.map(|books| books.dropped_kernel),
            unaccounted_packets: books.map(|books| books.unaccounted),
            send_errors: measured.then(|| lanes(samples).map(|lane| lane.errors).sum()),
            sender_cpu_ns_per_packet: median::<1>(over(sender_cpu_ns_per_packet)),
            receiver_cpu_ns_per_packet: median::<1>(over(receiver_cpu_ns_per_packet)),
            cpu_ns_per_packet: median::<1>(over(cpu_ns_per_packet)),
            ratio_to_std: median::<4>(ratio),
            ratio_to_std_low: low::<4>(ratio),
            ratio_to_std_high: high::<4>(ratio),
            cpu_ratio_to_std: median::<4>(cpu_ratio),
            cpu_ratio_to_std_low: low::<4>(cpu_ratio),
            cpu_ratio_to_std_high: high::<4>(cpu_ratio),
            interval_pct: (rates.len() > 1)
                .then(|| decimals::<1>(100.0 * stats::coverage(rates.len()))),
            cv_pct: stats::coefficient_of_variation(&rates).map(|cv| decimals::<2>(100.0 * cv)),
            receiver_share_min_pct: receiver_share_min_pct(samples).map(decimals::<2>),
            rcvbuf_bytes: samples.first().map(|sample| sample.rcvbuf_bytes),
            sndbuf_bytes: samples.first().map(|sample| sample.sndbuf_bytes),
            board: environment.board.clone(),
            cpu_model: environment.cpu_model.clone(),
            arch: environment.arch.clone(),
            target: environment.target.clone(),
            kernel: environment.kernel.clone(),
            governor: environment.governor.clone(),
            temp_c_max: samples
                .iter()
                .filter_map(|sample| sample.hottest_millic)
                .max()
                .map(|millic| f64::from(millic) / 1000.0),
            throttled: throttled(samples),
            warnings: all_warnings(findings),
            seed: environment.seed,
            started_at: samples.first().map(started_at).unwrap_or_default(),
            version: environment.version.clone(),
        }
    }
}

/// A fault of the run outranks how it ended.
fn verdict(findings: &Findings) -> (Status, String) {
    let books = total_books(findings.samples);
    match &findings.outcome {
        Outcome::Skipped(reason) => return (Status::Skipped, reason.clone()),
        Outcome::Failed(reason) => return (Status::Failed, reason.clone()),
        Outcome::Complete | Outcome::Interrupted => {}
    }
    if books.unread > 0 {
        let why = findings.case.receiver.about.starves;
        let why = why.unwrap_or("the receiver slept on a queue that was not empty");
        let reason = format!("starved and left datagrams unread: {why}");
        return (Status::Failed, reason);
    }
    if books.unaccounted != 0 {
        let reason = format!(
            "the books do not close: {} datagrams unaccounted for",
            books.unaccounted
        );
        return (Status::Failed, reason);
    }
    match findings.outcome {
        Outcome::Interrupted => (Status::Interrupted, "ended by a signal".to_owned()),
        _ => (Status::Ok, String::new()),
    }
}

fn all_warnings(findings: &Findings) -> Vec<String> {
    let mut warnings = findings.warnings.clone();
    let samples = findings.samples;
    let pinned = |sample: &Sample| sample.lanes.iter().all(|lane| lane.cpu.is_some());
    if findings.pin != "none" && !samples.iter().all(pinned) {
        warnings.push("a thread could not be pinned".to_owned());
    }
    let coverage = stats::coverage(samples.len());
    if samples.len() > 1 && coverage < stats::CONFIDENCE {
        warnings.push(format!(
            "intervals of {} rounds cover {:.1} %, not 95 %: 6 rounds or more do",
            samples.len(),
            100.0 * coverage
        ));
    }
    if !samples.is_empty() && samples.iter().all(|sample| received(sample) == 0) {
        warnings.push(
            "nothing was received while a window was open: make --duration longer".to_owned(),
        );
    }
    let errors: u64 = lanes(samples).map(|lane| lane.errors).sum();
    if errors > 0 {
        warnings.push(format!("{errors} system calls failed"));
    }
    warnings
}

fn lanes(samples: &[Sample]) -> impl Iterator<Item = &LaneSample> {
    samples.iter().flat_map(|sample| &sample.lanes)
}

fn total_books(samples: &[Sample]) -> WindowBooks {
    let mut total = WindowBooks::default();
    for sample in samples {
        total += sample.books.of_window();
    }
    total
}

fn window_seconds(sample: &Sample) -> f64 {
    Duration::from_nanos(sample.window_ns).as_secs_f64()
}

fn window_ms(sample: &Sample) -> f64 {
    1000.0 * window_seconds(sample)
}

fn sum(sample: &Sample, count: fn(&LaneSample) -> u64) -> u64 {
    sample.lanes.iter().map(count).sum()
}

fn received(sample: &Sample) -> u64 {
    sum(sample, |lane| lane.received_packets)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the values that may be missing set the signature"
)]
fn received_pps(sample: &Sample) -> Option<f64> {
    Some(received(sample) as f64 / window_seconds(sample))
}

#[expect(clippy::unnecessary_wraps, reason = "as for received_pps")]
fn received_mbps(sample: &Sample) -> Option<f64> {
    let bits = 8.0 * sum(sample, |lane| lane.received_bytes) as f64;
    Some(bits / 1e6 / window_seconds(sample))
}

#[expect(clippy::unnecessary_wraps, reason = "as for received_pps")]
fn sent_pps(sample: &Sample) -> Option<f64> {
    Some(sum(sample, |lane| lane.sent_packets) as f64 / window_seconds(sample))
}

/// CPU time of the lanes that `counts` wants, per datagram that `packets` counts.
fn cpu_ns_per(
    sample: &Sample,
    counts: fn(Side) -> bool,
    packets: fn(&LaneSample) -> u64,
) -> Option<f64> {
    let lanes = || sample.lanes.iter().filter(|lane| counts(lane.side));
    let cpu_ns: u64 = lanes().map(|lane| lane.cpu_ns).sum::<Option<u64>>()?;
    let packets: u64 = sum(sample, packets);
    (lanes().count() > 0 && packets > 0).then(|| cpu_ns as f64 / packets as f64)
}

fn sender_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    cpu_ns_per(
        sample,
        |side| side == Side::Sender,
        |lane| lane.sent_packets,
    )
}

fn receiver_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    cpu_ns_per(
        sample,
        |side| side == Side::Receiver,
        |lane| lane.received_packets,
    )
}

fn cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    cpu_ns_per(sample, |_| true, |lane| lane.received_packets)
}

/// The case's value over the reference's, round by round: what drifts meets both.
fn paired_ratios(
    samples: &[Sample],
    reference: &[Sample],
    value: fn(&Sample) -> Option<f64>,
) -> Vec<f64> {
    let ratio = |sample: &Sample| {
        let mut partners = reference.iter().filter(|other| other.round == sample.round);
        let base = value(partners.next()?)?;
        (base > 0.0).then_some(value(sample)? / base)
    };
    samples.iter().filter_map(ratio).collect()
}

/// The smallest share of the received datagrams that one receiver got over all windows, in percent.
fn receiver_share_min_pct(samples: &[Sample]) -> Option<f64> {
    let receivers = |sample: &Sample| -> Vec<u64> {
        let lanes = sample.lanes.iter().filter(|lane| lane.side != Side::Sender);
        lanes.map(|lane| lane.received_packets).collect()
    };
    let mut totals = receivers(samples.first()?);
    for sample in &samples[1..] {
        for (total, more) in totals.iter_mut().zip(receivers(sample)) {
            *total += more;
        }
    }
    percent(totals.iter().copied().min()?, totals.iter().sum())
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// The Raspberry Pi firmware's bits of all windows, OR-ed, in words. Empty: no such sensor.
fn throttled(samples: &[Sample]) -> String {
    let Some(bits) = samples
        .iter()
        .filter_map(|sample| sample.throttle_bits)
        .reduce(|a, b| a | b)
    else {
        return String::new();
    };
    let meanings = [
        "under-voltage",
        "frequency capped",
        "throttled",
        "soft temperature limit",
    ];
    let set = |bit: &usize| bits >> bit & 1 == 1 || bits >> (bit + 16) & 1 == 1;
    let words: Vec<&str> = (0..4).filter(set).map(|bit| meanings[bit]).collect();
    if words.is_empty() {
        "no".to_owned()
    } else {
        words.join("+")
    }
}

fn started_at(sample: &Sample) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(sample.opened_unix_ms);
    humantime::format_rfc3339_millis(time).to_string()
}

/// Rounded: a spreadsheet shall not see an exponent, nor digits that mean nothing.
fn decimals<const PLACES: u8>(value: f64) -> f64 {
    let scale = 10_f64.powi(PLACES.into());
    (value * scale).round() / scale
}

fn median<const PLACES: u8>(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| decimals::<PLACES>(estimate.median))
}

fn low<const PLACES: u8>(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.low.map(decimals::<PLACES>)
}

fn high<const PLACES: u8>(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.high.map(decimals::<PLACES>)
}
