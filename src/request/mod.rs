//! What the command line means on this host: typed options and a board profile become a [`Request`].

mod axes;

use std::time::Duration;

use crate::board::{self, Detected};
use crate::cli::RunArgs;
use crate::engine::Entry;
use crate::engines;
use crate::error::UsageError;
use crate::host::Host;
use crate::placement::Pin;
use crate::plan::{Conditions, Plan};
use crate::runner::Settings;
use crate::sweep::Schedule;
use crate::sys::files::Root;
use crate::sys::steer;

/// Everything that a sweep needs to know.
#[derive(Debug)]
pub struct Request {
    /// The machine.
    pub host: Host,
    /// Its profile, and why that one.
    pub detected: Detected,
    /// What runs and what does not.
    pub plan: Plan,
    /// What to ask instead, where the answer cannot be what somebody wants to know.
    pub advice: Option<String>,
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

        let axes = axes::of(args, &board.defaults)?;
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
            root,
            #[cfg(feature = "calibration")]
            delay: args.delay,
        };
        let plan = Plan::new(
            &axes,
            &Conditions {
                host: &host,
                board,
                pin: &pin,
                steering_refusal: steer::probe().err().as_deref(),
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
            advice: axes.advice(),
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
