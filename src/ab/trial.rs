//! The order: rounds of fresh processes, cases shuffled within a round, both sides of a case one after the other,
//! A first as often as B.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};

use super::judge::{Question, judge};
use super::log::{Event, Setup};
use super::pairs::runnable;
use super::{Record, Side};
use crate::data::{BlockKey, Sample};
use crate::log::Expected;
use crate::measure::site::Sites;
use crate::measure::sound::possible;
use crate::measure::spawned::Spawned;
use crate::measure::{self, NoSample};
use crate::row;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// What a trial tells while it goes on. Errors of a journal end it.
pub trait Journal {
    /// What is about to happen, for the progress display.
    fn doing(&mut self, what: &str);
    /// Something happened.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn event(&mut self, event: &Event) -> anyhow::Result<()>;
    /// There are to be so many windows in all.
    fn windows_in_all(&mut self, windows: u64);
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With all its rounds, or with its decision.
    Complete,
    /// With the time that it had.
    OutOfTime,
    /// It was asked to end.
    Interrupted,
}

/// Measures what `record` has not, up to the last round, or up to the look at which each verdict is found.
///
/// # Errors
/// Those of `journal`, programs that cannot be started, and commands that fail. A case that breaks is a verdict.
pub fn run(
    record: &mut Record,
    question: Question,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let mut trial = Trial {
        agents: [None, None],
        record,
        interrupt,
        journal,
    };
    match trial.looks(question) {
        Ok(ending) => Ok(ending),
        Err(End::Broken(error)) => Err(error),
        Err(End::Interrupted) => {
            trial.emit(&Event::Interrupted {})?;
            Ok(Ending::Interrupted)
        }
    }
}

/// Whether there is nothing left to measure.
pub fn is_complete(record: &Record, question: Question) -> bool {
    let (header, rounds) = (record.header(), record.rounds());
    let is_at_a_look = rounds > 0 && rounds % header.rounds == 0;
    rounds == header.most_rounds() || is_at_a_look && judge(record, question).is_decided()
}

/// Why a trial ends before it is complete.
enum End {
    Interrupted,
    Broken(anyhow::Error),
}

impl From<Interrupted> for End {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}

struct Trial<'a> {
    record: &'a mut Record,
    /// A's and B's of this round.
    agents: [Option<Spawned>; 2],
    interrupt: &'a Interrupt,
    journal: &'a mut dyn Journal,
}

impl Trial<'_> {
    fn looks(&mut self, question: Question) -> Result<Ending, End> {
        let header = self.record.header();
        let (rounds, until) = (header.rounds, header.until);
        let looks = until.map_or(1, |until| until.looks);
        let end = until.and_then(|until| Instant::now().checked_add(until.max_time));
        for look in 1..=looks {
            self.journal
                .windows_in_all(self.windows_up_to(look * rounds));
            for round in (look - 1) * rounds + 1..=look * rounds {
                if end.is_some_and(|end| Instant::now() >= end) {
                    return Ok(Ending::OutOfTime);
                }
                self.round(round)?;
            }
            if judge(self.record, question).is_decided() {
                break;
            }
        }
        Ok(Ending::Complete)
    }

    /// How many windows there are once that many rounds are over.
    fn windows_up_to(&self, rounds: u32) -> u64 {
        let pairs = self.record.pairs();
        let run = (0..pairs.len())
            .filter(|&pair| pairs[pair].refusal().is_none() && !self.record.has_failed(pair));
        2 * u64::from(rounds) * run.count() as u64
    }

    fn round(&mut self, round: u32) -> Result<(), End> {
        self.agents = [None, None];
        let mut position = 0;
        for group in self.order(round) {
            for side in group.sides {
                let pairs: Vec<usize> = group
                    .pairs
                    .iter()
                    .copied()
                    .filter(|&pair| self.record.is_wanted(pair, round, side))
                    .collect();
                if pairs.is_empty() {
                    continue;
                }
                self.prepare(side)?;
                for pair in pairs {
                    position += 1;
                    self.window(side, pair, round, position)?;
                }
            }
        }
        self.agents = [None, None];
        Ok(())
    }

    /// What is measured in a round, in its order. Every round has a seed of its own, so that a trial that is resumed
    /// goes on in the order in which it would have gone on.
    fn order(&self, round: u32) -> Vec<Group> {
        let header = self.record.header();
        let has_command = Side::BOTH.map(|side| header.setup(side).before.is_some());
        let mut groups: Vec<Group> = Vec::new();
        let mut last: Option<BlockKey> = None;
        for (number, pair) in self.record.pairs().iter().enumerate() {
            if pair.refusal().is_some() {
                continue;
            }
            // A command takes its time: it is run once for all cases of a block.
            let block = Some(pair.a.case.block()).filter(|_| has_command.contains(&true));
            match groups.last_mut() {
                Some(group) if block.is_some() && block == last => group.pairs.push(number),
                _ => groups.push(Group {
                    sides: sides(header.seed, number, round),
                    pairs: vec![number],
                }),
            }
            last = block;
        }
        let mut shuffle = fastrand::Rng::with_seed(seed(header.seed, 0, round));
        shuffle.shuffle(&mut groups);
        for group in &mut groups {
            shuffle.shuffle(&mut group.pairs);
        }
        groups
    }

    /// Has the machine be that of this side.
    fn prepare(&mut self, side: Side) -> Result<(), End> {
        if let Some(command) = &self.record.header().setup(side).before {
            self.journal.doing(&format!("{side}: {command}"));
            let done = make_it_so(side, command);
            // Ctrl-C goes to the command, too, which is no failure of it.
            self.interrupt.sleep(Duration::ZERO)?;
            done?;
        }
        Ok(())
    }

    fn window(&mut self, side: Side, pair: usize, round: u32, position: u32) -> Result<(), End> {
        let mut measured = self.measure(side, pair)?;
        if let Err(NoSample::Failed(reason)) = &measured {
            let reason = format!("{reason:#}");
            self.journal
                .doing(&format!("{side}, measured again: {reason}"));
            self.emit(&Event::Repeated {
                side,
                pair,
                round,
                reason,
            })?;
            // Whatever was wrong with the process goes with it.
            self.agents[side as usize] = None;
            measured = self.measure(side, pair)?;
        }
        match measured {
            Ok(sample) => self.emit(&Event::Window {
                side,
                pair,
                sample: Box::new(Sample {
                    round,
                    position,
                    ..sample
                }),
            })?,
            Err(NoSample::Interrupted) => return Err(End::Interrupted),
            Err(NoSample::Failed(error)) => {
                self.agents[side as usize] = None;
                self.emit(&Event::Failed {
                    side,
                    pair,
                    round,
                    reason: format!("{error:#}"),
                })?;
            }
        }
        Ok(())
    }

    fn measure(&mut self, side: Side, pair: usize) -> Result<Result<Sample, NoSample>, End> {
        let setup = self.record.header().setup(side);
        let planned = setup.plan.cases().nth(pair).context("a pair of the plan")?;
        let (case, engines, placement) = runnable(setup, planned).context("a case that runs")?;
        self.journal.doing(&format!("{side}: {}", case.key()));
        let agent = match &mut self.agents[side as usize] {
            Some(agent) => agent,
            none => none.insert(start(side, setup)?),
        };
        let trial = measure::Trial {
            case,
            placement,
            settings: &setup.settings,
        };
        let expected = Expected {
            case,
            engines,
            placement,
            window: setup.settings.window,
        };
        let measured = trial.window(&mut Sites::One(agent.site()?), self.interrupt);
        Ok(possible(measured, expected).and_then(sound))
    }

    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        self.journal.event(event)?;
        self.record.take(event).map_err(anyhow::Error::msg)
    }
}

/// A window whose packet counts do not add up says nothing, and of nothing there is no ratio.
fn sound(sample: Sample) -> Result<Sample, NoSample> {
    let is_empty = row::received_pps(&sample).is_none_or(|pps| pps <= 0.0);
    let nothing = || is_empty.then(|| "nothing was received in a window".to_owned());
    match sample.fault().or_else(nothing) {
        None => Ok(sample),
        Some(fault) => Err(anyhow!(fault).into()),
    }
}

/// Pairs that are measured on one side, and then on the other.
struct Group {
    sides: [Side; 2],
    pairs: Vec<usize>,
}

/// Which side comes first: in each two rounds, each once.
fn sides(seed_of_all: u32, number: usize, round: u32) -> [Side; 2] {
    let mut dice = fastrand::Rng::with_seed(seed(seed_of_all, number + 1, round.div_ceil(2)));
    let first = if dice.bool() == (round % 2 == 0) {
        Side::A
    } else {
        Side::B
    };
    [first, first.other()]
}

fn seed(of_all: u32, number: usize, round: u32) -> u64 {
    (u64::from(of_all) << 32) ^ ((number as u64) << 14) ^ u64::from(round)
}

fn make_it_so(side: Side, command: &str) -> anyhow::Result<()> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let status = shell.status().context("cannot start sh")?;
    ensure!(
        status.success(),
        "the command before {side}, {command:?}, failed: {status}"
    );
    Ok(())
}

/// A process of this side.
///
/// # Errors
/// When it cannot be started, or is not of the version that it was of.
pub fn start(side: Side, setup: &Setup) -> anyhow::Result<Spawned> {
    let program = match &setup.program {
        Some(program) => PathBuf::from(program),
        None => env::current_exe().context("cannot find this program")?,
    };
    let agent = Spawned::start(&side.to_string(), &program)?;
    let (version, then) = (agent.version(), &setup.version);
    ensure!(
        then.is_empty() || version == then,
        "{side}, {}, was udpbench {then}, and is udpbench {version} now",
        program.display()
    );
    Ok(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_comes_first_in_every_second_round() {
        for number in 0..20 {
            for round in (1..40).step_by(2) {
                let [first, second] = [round, round + 1].map(|round| sides(7, number, round)[0]);
                assert_eq!(first.other(), second);
            }
        }
        let first = (0..100).map(|number| sides(7, number, 1)[0]);
        let count = first.filter(|&side| side == Side::A).count();
        assert!((30..70).contains(&count), "{count}");
    }
}
