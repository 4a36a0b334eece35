//! Logs that a test makes of measured ones: with speeds that it chooses, or with other facts.

use std::fs;
use std::path::Path;

use udpbench::data::{Accounting, Case, Counts, Sample};
use udpbench::results::log::{Event, Header, Log, LogWriter, Of};
use udpbench::results::row::{CaseWarning, Failure};

/// A log to be changed and written again.
pub struct MadeUp {
    /// The first line.
    pub header: Header,
    /// The other lines.
    pub events: Vec<Event>,
}

impl MadeUp {
    /// Reads the log of a sweep.
    pub fn from(log: &Path) -> Self {
        let log: Log = Log::open("FILE", log).expect("a log");
        Self {
            header: log.header,
            events: log.lines,
        }
    }

    /// Lets each sender and each receiver of a case move as many datagrams per second in a window as `pps` returns.
    /// Nothing is lost. All threads use half of their CPU.
    pub fn with_speeds(mut self, pps: impl Fn(&Case, &Sample) -> f64) -> Self {
        for event in &mut self.events {
            if let Event::Window(window) = event {
                let case = Case::of_key(&window.sample.case).expect("a key");
                let pps = pps(&case, &window.sample);
                move_datagrams(&mut window.sample, &case, pps);
            }
        }
        self
    }

    /// Lets the cases of these keys fail in the first round.
    pub fn failed(mut self, is_failed: impl Fn(&str) -> bool, reason: &str) -> Self {
        let change = |event| match event {
            Event::Window(window) if is_failed(&window.sample.case) => {
                let case = Case::of_key(&window.sample.case).expect("a key");
                let failed = Event::Failed {
                    of: Of::case(&case),
                    reason: Failure::told(reason),
                    round: 1,
                    other_programs: None,
                };
                (window.sample.round == 1).then_some(failed)
            }
            other => Some(other),
        };
        self.events = self.events.into_iter().filter_map(change).collect();
        self
    }

    /// Gives the rows of all blocks a warning.
    pub fn warned(mut self, of_block: &CaseWarning) -> Self {
        for event in &mut self.events {
            if let Event::BlockBegun { warning, .. } = event {
                *warning = Some(of_block.clone());
            }
        }
        self
    }

    /// Writes the log.
    pub fn write(&self, log: &Path) {
        // It may be the one that was read.
        let _ = fs::remove_file(log);
        let mut writer = LogWriter::create("--output", log).expect("writable");
        writer.header(&self.header).expect("there is space");
        for event in &self.events {
            writer.event(event).expect("there is space");
        }
    }
}

/// Datagrams per second that each receiver received.
pub fn measured_pps(sample: &Sample) -> f64 {
    let receivers = sample.threads.iter().filter(|it| it.side.receives());
    let packets: u64 = receivers.clone().map(|it| it.received_packets).sum();
    packets as f64 * 1e9 / sample.window_ns as f64 / receivers.count() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "far below 2^53"
)]
fn move_datagrams(sample: &mut Sample, case: &Case, pps: f64) {
    let packets = (pps * sample.window_ns as f64 * 1e-9) as u64;
    let mut moved = Counts::default();
    for thread in &mut sample.threads {
        thread.refused_packets = 0;
        if thread.side.sends() {
            thread.sent_packets = packets;
            moved.sent += packets;
        }
        if thread.side.receives() {
            thread.received_packets = packets;
            thread.received_bytes = packets * case.payload.bytes() as u64;
            moved.received += packets;
        }
        thread.cpu_ns = Some(sample.window_ns / 2);
        (thread.waited_ns, thread.taken) = (Some(0), None);
    }
    sample.other_cpu_ns = Some(0);
    sample.accounting = Accounting {
        at_closing: moved,
        at_end: moved,
        drops_may_be_aggregates: sample.accounting.drops_may_be_aggregates,
        discards_may_be_trains: sample.accounting.discards_may_be_trains,
        ..Accounting::default()
    };
}
