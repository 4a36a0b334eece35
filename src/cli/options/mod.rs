//! Turns typed options and the board profile into a [`Request`]: the plan, the schedule and the host facts of a sweep.

pub mod ab;
mod axes;
pub mod find;
pub mod latency;
mod resume_check;
pub mod suite;
pub mod wire;
pub mod without_effect;

use std::time::Duration;

pub use self::resume_check::again;
use crate::cli::peer::Peer;
use crate::cli::{MeasuringArgs, RunArgs};
use crate::data::LoopbackTrains;
use crate::engines::{self, Entry, exec};
use crate::error::UsageError;
use crate::host::board::{self, ChosenBoard};
use crate::host::facts::Host;
use crate::host::placement::Pin;
use crate::plan::{Conditions, Meter, Plan, Schedule, Settings, Until, Wire};
use crate::results::log::{Header, Run};
use crate::results::row::Environment;
use crate::sys::files::Root;
use crate::sys::{own_loopback, reuseport};
use crate::term::words::words_as_text;
use crate::trial::spawned::THIS_PROGRAM;

/// A sweep that can be run: host facts, plan and schedule.
#[derive(Debug)]
pub struct Request {
    /// Facts of the host whose profile and placements count.
    pub host: Host,
    /// The board profile, and the reason for the choice.
    pub detected: ChosenBoard,
    /// Cases to run and cases to skip.
    pub plan: Plan,
    /// Advice on a better command line, if this one cannot answer the likely question, and on options without effect.
    pub advice: Vec<String>,
    /// Rounds, windows, pauses and order of the cases.
    pub schedule: Schedule,
    /// The remote host and the links to it. `None` if all threads run on one host.
    pub wire: Option<Wire>,
}

const DEFAULT_DURATION: Duration = Duration::from_secs(1);
const QUICK_DURATION: Duration = Duration::from_millis(300);
const QUICK_WARMUP: Duration = Duration::from_millis(20);
const QUICK_HEAT: Duration = Duration::from_millis(500);
/// Default number of rounds. Rates differ between rounds since the machine's state changes over seconds, however long
/// the windows are. Many windows say more than long ones.
const DEFAULT_ROUNDS: u32 = 15;
/// Fewest windows whose range is a 95 % interval (1 - 2 / 2^6 = 96.9 %).
const FEWEST_ROUNDS: u32 = 6;
/// Shortest default window. If `--duration` is too short for [`DEFAULT_ROUNDS`] windows of this length, there are fewer
/// rounds.
const SHORT_WINDOW: Duration = Duration::from_millis(50);
/// Default time limit of `--until`.
pub const DEFAULT_MAX_TIME: Duration = Duration::from_secs(600);
/// Shortest window. In a shorter one, opening and closing it would affect the result.
const MIN_WINDOW: Duration = Duration::from_millis(1);

impl Request {
    /// Reads the host facts, chooses the board profile and makes the plan of a sweep, with the remote host `peer` or on
    /// this host alone.
    ///
    /// # Errors
    /// Fails if an option is wrong or impossible here, and names the fix.
    pub fn new(args: &RunArgs, peer: Option<&Peer>) -> Result<Self, UsageError> {
        let across = peer.and_then(Peer::across_wire);
        wire::check(&args.parameters, across.is_some())?;
        let root = Root::new(&args.root);
        let bench = Bench::read(&root, peer);
        let host = &bench.host;
        let detected = board::choose(&args.placement.board, host)?;
        let board = &detected.board;

        let mut axes = axes::of(args, &board.defaults.on(host.cpus.len()))?;
        if axes.loopback.is_empty() {
            // Loopback cuts trains if it can.
            axes.loopback.push(match bench.loopback_refusal {
                None => LoopbackTrains::Cut,
                Some(_) => LoopbackTrains::Whole,
            });
        }
        let pin = args.placement.pin.clone().unwrap_or_default();
        for host in [host].into_iter().chain(across.map(|wire| &wire.host)) {
            pin.check(&axes.threads, host)
                .map_err(|problem| UsageError::flag("--pin", &pin, problem))?;
            wire::check_permissions(&axes, host)?;
        }

        let schedule = schedule(args, board, host, (root, peer))?;
        let asked = axes.engines.iter().flat_map(|&(one, other)| [one, other]);
        let reference = axes.reference.then(engines::reference);
        let refusals = bench.engine_refusals(asked.chain(reference));
        let conditions = bench.conditions(board, &pin, &refusals, peer);
        let plan = Plan::new(&axes, &conditions);
        if let Some((program, place, reason)) = plan.missing_program(&conditions) {
            let place = bench.peer.map_or(place, |_| "there");
            let problem = format!("cannot run {place}: {reason}");
            return Err(UsageError::flag("--engine", &program.argument(), problem));
        }
        let of_loopback = axes.advice().into_iter().chain(axes.copied_over_loopback());
        let of_loopback = of_loopback.filter(|_| across.is_none());
        let unused = without_effect::of(&args.parameters, &plan);
        let advice = of_loopback.chain(unused).chain(axes.unable_to_spin());
        Ok(Self {
            host: bench.host,
            detected,
            advice: advice.collect(),
            plan,
            schedule,
            wire: across.cloned(),
        })
    }

    /// Returns what a search or a comparison tells about the machine.
    fn environment(&self) -> Environment {
        Environment {
            board: self.detected.board.name.clone(),
            host: self.host.clone(),
            ..Environment::default()
        }
    }

    /// Returns the first line of the log.
    pub fn header(self, args: &RunArgs, started_at: &str, environment: Environment) -> Header {
        Header {
            run: Run::new(started_at, words_as_text()),
            board_asked: args.placement.board.clone(),
            pin_asked: args.placement.pin.clone().unwrap_or_default().to_string(),
            schedule: self.schedule,
            plan: self.plan,
            environment,
            wire: self.wire,
            earlier_runs: Vec::new(),
        }
    }
}

/// Returns when and how long is measured: from the options, and from the profile of the board for those not given.
fn schedule(
    args: &RunArgs,
    board: &board::Board,
    host: &Host,
    (root, peer): (Root, Option<&Peer>),
) -> Result<Schedule, UsageError> {
    let measuring = &args.measuring;
    let rounds = rounds(args);
    let is_quick = measuring.quick;
    let quick = |full: Duration, most| if is_quick { full.min(most) } else { full };
    let warmup = || quick(board.timing.warmup, QUICK_WARMUP);
    let heat = || quick(board.timing.heat, QUICK_HEAT);
    let command = measuring.power_command.clone().map(Meter::Command);
    let settings = Settings {
        warmup: measuring.warmup.unwrap_or_else(warmup),
        window: window(args, rounds)?,
        drop_reasons: args.remote.drop_reasons,
        meter: command.or_else(|| host.power_meter.clone().map(Meter::Sensor)),
        root,
        request_time: peer.map_or(Duration::ZERO, |peer| peer.request_time),
        #[cfg(feature = "calibration")]
        delay: measuring.delay.clone(),
    };
    Ok(Schedule {
        settings,
        rounds,
        until: until(measuring)?,
        verify: measuring.verify,
        heat: measuring.heat.unwrap_or_else(heat),
        cooldown: board.cooldown.filter(|_| !measuring.quick),
        seed: measuring.seed.unwrap_or_else(|| fastrand::u32(..)),
    })
}

fn duration(args: &RunArgs) -> Duration {
    let is_quick = args.measuring.quick;
    let default = if is_quick {
        QUICK_DURATION
    } else {
        DEFAULT_DURATION
    };
    args.measuring.duration.unwrap_or(default)
}

fn rounds(args: &RunArgs) -> u32 {
    let fitting = duration(args).as_nanos() / SHORT_WINDOW.as_nanos();
    let fitting = u32::try_from(fitting).unwrap_or(DEFAULT_ROUNDS);
    let default = fitting.clamp(FEWEST_ROUNDS, DEFAULT_ROUNDS);
    args.measuring.rounds.unwrap_or(default)
}

/// Combines `--until` and `--max-time`. clap cannot check the pair: one may come from a file and the other be typed.
fn until(args: &MeasuringArgs) -> Result<Option<Until>, UsageError> {
    if let (None, Some(max_time)) = (args.until, args.max_time) {
        let fix = "it limits --until: add that, such as --until 1%";
        let time = humantime::format_duration(max_time);
        return Err(UsageError::flag("--max-time", &time, fix));
    }
    Ok(args.until.map(|half_width_pct| Until {
        half_width_pct,
        max_time: args.max_time.unwrap_or(DEFAULT_MAX_TIME),
    }))
}

fn window(args: &RunArgs, rounds: u32) -> Result<Duration, UsageError> {
    let duration = duration(args);
    let window = duration / rounds;
    if window < MIN_WINDOW {
        let least = humantime::format_duration(MIN_WINDOW * rounds);
        let fix =
            format!("{rounds} rounds need windows of at least 1 ms each: use {least} or more");
        let duration = humantime::format_duration(duration);
        return Err(UsageError::flag("--duration", &duration, fix));
    }
    Ok(window)
}

/// The host of placements, profiles and sensors: the remote host if whole trials run there, else this one.
struct Bench<'a> {
    host: Host,
    steering_refusal: Option<String>,
    /// Reason why trials can have no loopback of their own, if they cannot.
    loopback_refusal: Option<String>,
    /// The remote host. `None` if it is this one.
    peer: Option<&'a Peer>,
}

impl<'a> Bench<'a> {
    /// Reads this host's facts below `root`, or takes the remote host's.
    fn read(root: &Root, peer: Option<&'a Peer>) -> Self {
        let other = peer.filter(|peer| peer.runs_all());
        let host = other.map_or_else(|| Host::read(root), |peer| peer.wire.host.clone());
        Self::of(host, peer)
    }

    fn of(host: Host, peer: Option<&'a Peer>) -> Self {
        let peer = peer.filter(|peer| peer.runs_all());
        let (steering_refusal, loopback_refusal) = match peer {
            Some(peer) => (
                peer.facts.steering_refusal.clone(),
                peer.facts.loopback_refusal.clone(),
            ),
            None => (
                reuseport::probe_bpf().err(),
                own_loopback::probe(THIS_PROGRAM.as_ref()).err(),
            ),
        };
        Self {
            host,
            steering_refusal,
            loopback_refusal,
            peer,
        }
    }

    /// Decides again which cases of `plan` can run.
    fn judged(&self, plan: &Plan, board: &board::Board, pin: &Pin, peer: Option<&Peer>) -> Plan {
        let cases = plan.cases().map(|planned| &planned.case);
        let asked = cases.filter_map(|case| engines::of(case).ok());
        let refusals = self.engine_refusals(asked.flat_map(|(one, other)| [one, other]));
        plan.judged_again(&self.conditions(board, pin, &refusals, peer))
    }

    /// Returns what decides which cases can run.
    fn conditions<'b>(
        &'b self,
        board: &'b board::Board,
        pin: &'b Pin,
        engine_refusals: &'b [(&'static Entry, String)],
        peer: Option<&'b Peer>,
    ) -> Conditions<'b> {
        Conditions {
            host: &self.host,
            board,
            pin,
            steering_refusal: self.steering_refusal.as_deref(),
            loopback_refusal: self.loopback_refusal.as_deref(),
            engine_refusals,
            remote: peer.and_then(Peer::remote),
        }
    }

    /// Returns the engines that cannot run on the host, with the reasons. Probes each engine once.
    fn engine_refusals(
        &self,
        asked: impl Iterator<Item = &'static Entry>,
    ) -> Vec<(&'static Entry, String)> {
        if let Some(peer) = self.peer {
            return peer.engine_refusals.clone();
        }
        let asked: Vec<&Entry> = asked.collect();
        let known = engines::all().chain(exec::all());
        let wanted = known.filter(|entry| asked.contains(entry));
        let refusal = |entry: &'static Entry| Some((entry, entry.probe().err()?));
        wanted.filter_map(refusal).collect()
    }
}
