//! What the command line means on this host: typed options and a board profile become a [`Request`].

use std::time::Duration;

use crate::board::{self, Detected};
use crate::case::{Batch, Connection, Ip, Threads};
use crate::cli::{EngineArg, RunArgs};
use crate::engine::Entry;
use crate::engines;
use crate::error::UsageError;
use crate::host::Host;
use crate::placement::Pin;
use crate::plan::{Axes, Conditions, Plan};
use crate::runner::{Settings, Spread};
use crate::sweep::Schedule;
use crate::sys::files::Root;

/// Everything that a sweep needs to know.
#[derive(Debug)]
pub struct Request {
    /// The machine.
    pub host: Host,
    /// Its profile, and why that one.
    pub detected: Detected,
    /// What runs and what does not.
    pub plan: Plan,
    /// How it is gone through.
    pub schedule: Schedule,
}

const DEFAULT_DURATION: Duration = Duration::from_secs(1);
const QUICK_DURATION: Duration = Duration::from_millis(300);
const QUICK_WARMUP: Duration = Duration::from_millis(20);
const QUICK_SOAK: Duration = Duration::from_millis(500);
/// The fewest windows whose range is a 95 % interval of the median (1 - 2 / 2^6 = 96.9 %).
const DEFAULT_ROUNDS: u32 = 6;
/// Below this, opening and closing a window would be part of what is measured.
const MIN_WINDOW: Duration = Duration::from_millis(1);

impl Request {
    /// Reads the host, chooses the profile, and makes the plan.
    ///
    /// # Errors
    /// What was asked for and cannot be, with the cure.
    pub fn new(args: &RunArgs) -> Result<Self, UsageError> {
        let root = Root::new(&args.root);
        let host = Host::read(&root);
        let detected = board::choose(&args.board, &host)?;
        let board = &detected.board;

        let axes = axes(args, &detected)?;
        let pin = args.pin.clone().unwrap_or_default();
        pin.check(&axes.threads, &host)
            .map_err(|problem| UsageError::flag("--pin", &pin_text(&pin), problem))?;

        let rounds = args.rounds.unwrap_or(DEFAULT_ROUNDS);
        let quick = |full: Duration, most: Duration| if args.quick { full.min(most) } else { full };
        let settings = Settings {
            warmup: args
                .warmup
                .unwrap_or(quick(board.timing.warmup, QUICK_WARMUP)),
            window: window(args, rounds)?,
            rcvbuf_bytes: args.rcvbuf,
            spread: args.spread,
            root,
        };
        let plan = Plan::new(
            &axes,
            &Conditions {
                host: &host,
                board,
                pin: &pin,
                hash_spread: args.spread == Spread::Hash,
                engine_refusals: &engine_refusals(),
            },
        );
        let schedule = Schedule {
            settings,
            rounds,
            verify: args.verify,
            soak: args.soak.unwrap_or(quick(board.timing.soak, QUICK_SOAK)),
            cooldown: board.cooldown.filter(|_| !args.quick),
            seed: args.seed.unwrap_or_else(|| fastrand::u32(..)),
        };
        Ok(Self {
            host,
            detected,
            plan,
            schedule,
        })
    }

    /// About how long the sweep takes, without cool-downs.
    pub fn expected_time(&self) -> Duration {
        self.schedule.soak
            + self.time_per_window() * u32::try_from(self.windows()).unwrap_or(u32::MAX)
    }

    /// How many windows the sweep has.
    pub fn windows(&self) -> u64 {
        self.plan.runnable().count() as u64 * u64::from(self.schedule.rounds)
    }

    /// About how long one of them takes, with all that belongs to it.
    pub fn time_per_window(&self) -> Duration {
        let settings = &self.schedule.settings;
        settings.warmup + settings.window + BETWEEN_WINDOWS
    }
}

/// Sockets, threads, draining and closing the books.
const BETWEEN_WINDOWS: Duration = Duration::from_millis(4);

fn window(args: &RunArgs, rounds: u32) -> Result<Duration, UsageError> {
    let default = if args.quick {
        QUICK_DURATION
    } else {
        DEFAULT_DURATION
    };
    let duration = args.duration.unwrap_or(default);
    let window = duration / rounds;
    if window < MIN_WINDOW {
        let least = humantime::format_duration(MIN_WINDOW * rounds);
        return Err(UsageError::flag(
            "--duration",
            &humantime::format_duration(duration),
            format!("{rounds} rounds need windows of at least 1 ms each: {least} or more"),
        ));
    }
    Ok(window)
}

fn axes(args: &RunArgs, detected: &Detected) -> Result<Axes, UsageError> {
    let defaults = &detected.board.defaults;
    let both = |all: [Connection; 2]| {
        if args.quick {
            vec![all[0]]
        } else {
            all.to_vec()
        }
    };
    let ips = |all: [Ip; 2]| {
        if args.quick {
            vec![all[0]]
        } else {
            all.to_vec()
        }
    };
    let or =
        |given: &Option<Vec<Threads>>| given.clone().unwrap_or_else(|| defaults.threads.clone());
    Ok(Axes {
        engines: engine_pairs(args)?,
        threads: distinct("--threads", or(&args.threads))?,
        payloads: distinct(
            "--payload",
            args.payload
                .clone()
                .unwrap_or_else(|| defaults.payload.clone()),
        )?,
        connections: distinct(
            "--connection",
            args.connection
                .clone()
                .unwrap_or_else(|| both([Connection::Connected, Connection::Unconnected])),
        )?,
        ips: distinct(
            "--ip",
            args.ip.clone().unwrap_or_else(|| ips([Ip::V4, Ip::V6])),
        )?,
        batches: distinct(
            "--batch",
            args.batch.clone().unwrap_or_else(|| vec![Batch::DEFAULT]),
        )?,
        reference: !args.no_reference,
    })
}

type Pair = (&'static Entry, &'static Entry);

/// `--engine X` pairs X with itself, or with its partner; `--sender` and `--receiver` override a side, and
/// every sender meets every receiver.
fn engine_pairs(args: &RunArgs) -> Result<Vec<Pair>, UsageError> {
    let both: Vec<Pair> = match &args.engine {
        Some(given) => {
            let entries = given.iter().flat_map(|arg| arg.entries()).collect();
            let pairs = distinct("--engine", entries)?;
            pairs.into_iter().map(Entry::pair).collect()
        }
        None => engines::default_selection().map(Entry::pair).collect(),
    };
    if args.sender.is_none() && args.receiver.is_none() {
        return Ok(both);
    }
    let senders = match &args.sender {
        Some(given) => side("--sender", given, Entry::sends)?,
        None => once_each(both.iter().map(|pair| pair.0)),
    };
    let receivers = match &args.receiver {
        Some(given) => side("--receiver", given, Entry::receives)?,
        None => once_each(both.iter().map(|pair| pair.1)),
    };
    let meet = |sender| receivers.iter().map(move |&receiver| (sender, receiver));
    Ok(senders.into_iter().flat_map(meet).collect())
}

/// Those of a group that can take this side; one that was named must be able to.
fn side(
    flag: &'static str,
    given: &[EngineArg],
    can: fn(&Entry) -> bool,
) -> Result<Vec<&'static Entry>, UsageError> {
    let named = given.iter().filter_map(|arg| match arg {
        EngineArg::One(entry) => Some(*entry),
        EngineArg::All | EngineArg::Group(_) => None,
    });
    if let Some(entry) = named.into_iter().find(|entry| !can(entry)) {
        let (sender, receiver) = entry.pair();
        return Err(UsageError::flag(
            flag,
            entry,
            format!("{entry} is half an engine: --sender {sender} --receiver {receiver}"),
        ));
    }
    let entries = given.iter().flat_map(|arg| arg.entries());
    distinct(flag, entries.filter(|entry| can(entry)).collect())
}

fn once_each(entries: impl Iterator<Item = &'static Entry>) -> Vec<&'static Entry> {
    let mut once: Vec<&'static Entry> = Vec::new();
    for entry in entries {
        if !once.contains(&entry) {
            once.push(entry);
        }
    }
    once
}

fn distinct<T: PartialEq + ToString>(
    flag: &'static str,
    values: Vec<T>,
) -> Result<Vec<T>, UsageError> {
    match board::repeated(&values) {
        Some(value) => Err(UsageError::flag(
            flag,
            value,
            "stands twice in the list; name it once",
        )),
        None => Ok(values),
    }
}

fn engine_refusals() -> Vec<(&'static Entry, String)> {
    let refusal = |entry: &'static Entry| Some((entry, (entry.probe)().err()?));
    engines::ALL.iter().filter_map(refusal).collect()
}

fn pin_text(pin: &Pin) -> String {
    let list = |cpus: &[usize]| {
        cpus.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    match pin {
        Pin::Board => String::new(),
        Pin::None => "none".to_owned(),
        Pin::To(senders, receivers) if receivers.is_empty() => list(senders),
        Pin::To(senders, receivers) => format!("{}:{}", list(senders), list(receivers)),
    }
}
