//! The sweep: blocks in shuffled order, rounds within a block, cases shuffled within a round.
//!
//! What is compared is measured within seconds of each other, so that drift (heat, neighbours) cancels in
//! the ratio to the reference of the same round; and a block's rows are final when the block is done.

use std::time::{Duration, Instant};

use crate::board::Cooldown;
use crate::plan::{Block, Plan, Planned, Verdict};
use crate::record::{Environment, Findings, Outcome, Record};
use crate::runner::{self, NoSample, Settings};
use crate::sample::Sample;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::sys::sensors;
use crate::verify::{self, Verified};

/// How a plan is gone through.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// How each window is run.
    pub settings: Settings,
    /// Windows per case.
    pub rounds: u32,
    /// Whether the datagrams of each case are looked at first.
    pub verify: bool,
    /// Traffic once before the first block.
    pub soak: Duration,
    /// When to wait between blocks.
    pub cooldown: Option<Cooldown>,
    /// Of the shuffles.
    pub seed: u32,
}

/// What a sweep tells while it goes on. Errors of a journal end the sweep.
pub trait Journal {
    /// Something is about to happen, for the person who waits.
    fn doing(&mut self, what: &str);
    /// Something that takes a while and is not measuring, for whoever reads it, now or later.
    fn waiting(&mut self, what: &str);
    /// A window is over.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn window(&mut self, sample: &Sample) -> anyhow::Result<()>;
    /// The window in which the datagrams of a case were looked at is over.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn verified(&mut self, sample: &Sample) -> anyhow::Result<()>;
    /// A case of the block will have no further windows although it should: so many are not to come.
    fn lost_windows(&mut self, windows: u32);
    /// These rows are final.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn rows(&mut self, rows: Vec<Record>) -> anyhow::Result<()>;
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every case of the plan has its row.
    Complete,
    /// Somebody asked it to end; the blocks that were not begun have no rows.
    Interrupted,
}

/// Measures everything in `plan` that can run.
///
/// # Errors
/// Only those of `journal`: a case that breaks becomes a row.
pub fn run(
    plan: &Plan,
    schedule: &Schedule,
    environment: &Environment,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let mut random = fastrand::Rng::with_seed(schedule.seed.into());
    journal.rows(skipped_rows(plan, environment))?;
    let mut blocks: Vec<&Block> = plan.blocks.iter().collect();
    blocks.retain(|block| block.cases.iter().any(Planned::runs));
    random.shuffle(&mut blocks);
    if let Some(first) = blocks.first() {
        if soak(first, schedule, interrupt, journal).is_err() {
            return Ok(Ending::Interrupted);
        }
    }
    for block in blocks {
        let Ok(too_hot) = cool_down(schedule, interrupt, journal) else {
            return Ok(Ending::Interrupted);
        };
        let mut measuring = Measuring::new(block, too_hot);
        let ending = measuring.run(schedule, &mut random, interrupt, journal)?;
        journal.rows(measuring.records(ending, environment))?;
        if ending == Ending::Interrupted {
            return Ok(ending);
        }
    }
    Ok(Ending::Complete)
}

/// What does not run has its row before anything runs.
fn skipped_rows(plan: &Plan, environment: &Environment) -> Vec<Record> {
    let row = |(case, reason): (&_, &str)| {
        let findings = Findings {
            case,
            pin: String::new(),
            warnings: Vec::new(),
            outcome: Outcome::Skipped(reason.to_owned()),
            samples: &[],
            verified: None,
            reference: &[],
        };
        Record::new(&findings, environment)
    };
    plan.skipped().map(row).collect()
}

/// Traffic that nobody counts: clocks come up, the board leaves its idle state. If the case breaks, its
/// block will say so.
fn soak(
    block: &Block,
    schedule: &Schedule,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> Result<(), Interrupted> {
    let runnable = block
        .cases
        .iter()
        .find_map(|planned| match &planned.verdict {
            Verdict::Run(placement, _) => Some((&planned.case, placement)),
            Verdict::Skip(_) => None,
        });
    let Some((case, placement)) = runnable.filter(|_| !schedule.soak.is_zero()) else {
        return Ok(());
    };
    journal.doing(&format!(
        "soaking for {}",
        humantime::format_duration(schedule.soak)
    ));
    let settings = Settings {
        warmup: Duration::ZERO,
        window: schedule.soak,
        ..schedule.settings.clone()
    };
    match runner::measure(case, placement, &settings, interrupt) {
        Err(NoSample::Interrupted) => Err(Interrupted),
        Ok(_) | Err(NoSample::Failed(_)) => Ok(()),
    }
}

/// Waits until the board is cool enough, or for as long as its profile allows: then there is a warning.
fn cool_down(
    schedule: &Schedule,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> Result<Option<String>, Interrupted> {
    const LOOK: Duration = Duration::from_secs(1);
    let Some(cooldown) = schedule.cooldown else {
        return Ok(None);
    };
    let since = Instant::now();
    loop {
        let left = cooldown.at_most.saturating_sub(since.elapsed());
        let Some(millic) = sensors::hottest_millic(&schedule.settings.root) else {
            return Ok(None);
        };
        let (degrees, wanted) = (millic / 1000, cooldown.below_c);
        if degrees < i32::from(wanted) {
            return Ok(None);
        }
        if left.is_zero() {
            return Ok(Some(format!(
                "it was not below {wanted} C when the cool-down was over (temp_c_start)"
            )));
        }
        let seconds = left.as_secs();
        if since.elapsed() < LOOK {
            journal.waiting(&format!(
                "{degrees} C: waiting until it is below {wanted} C, for {seconds} s at most"
            ));
        }
        journal.doing(&format!("{degrees} C, want {wanted}: {seconds} s at most"));
        interrupt.sleep(left.min(LOOK))?;
    }
}

/// A block while it is measured.
struct Measuring<'a> {
    block: &'a Block,
    /// What its rows should say about how it began.
    warning: Option<String>,
    cases: Vec<Progress<'a>>,
}

struct Progress<'a> {
    planned: &'a Planned,
    samples: Vec<Sample>,
    verified: Option<Verified>,
    /// Why it was not verified although it should have been.
    unverified: Option<String>,
    failure: Option<String>,
}

impl<'a> Measuring<'a> {
    fn new(block: &'a Block, warning: Option<String>) -> Self {
        let progress = |planned| Progress {
            planned,
            samples: Vec::new(),
            verified: None,
            unverified: None,
            failure: None,
        };
        let runnable = block.cases.iter().filter(|planned| planned.runs());
        Self {
            block,
            warning,
            cases: runnable.map(progress).collect(),
        }
    }

    fn run(
        &mut self,
        schedule: &Schedule,
        random: &mut fastrand::Rng,
        interrupt: &Interrupt,
        journal: &mut dyn Journal,
    ) -> anyhow::Result<Ending> {
        if schedule.verify && self.verify(schedule, interrupt, journal)? == Ending::Interrupted {
            return Ok(Ending::Interrupted);
        }
        for round in 1..=schedule.rounds {
            let mut order: Vec<usize> = (0..self.cases.len()).collect();
            random.shuffle(&mut order);
            for (position, &index) in (1..).zip(&order) {
                let progress = &mut self.cases[index];
                let Verdict::Run(placement, _) = &progress.planned.verdict else {
                    continue;
                };
                if progress.failure.is_some() {
                    continue;
                }
                let case = &progress.planned.case;
                journal.doing(&format!("{}: {}", self.block.key, case.label()));
                match runner::measure(case, placement, &schedule.settings, interrupt) {
                    Ok(mut sample) => {
                        (sample.round, sample.position) = (round, position);
                        journal.window(&sample)?;
                        progress.samples.push(sample);
                    }
                    Err(NoSample::Interrupted) => return Ok(Ending::Interrupted),
                    Err(NoSample::Failed(error)) => {
                        progress.failure = Some(format!("{error:#}"));
                        journal.lost_windows(schedule.rounds - round + 1);
                    }
                }
            }
        }
        Ok(Ending::Complete)
    }

    /// Looks at what each case delivers, before anything is measured.
    fn verify(
        &mut self,
        schedule: &Schedule,
        interrupt: &Interrupt,
        journal: &mut dyn Journal,
    ) -> anyhow::Result<Ending> {
        for progress in &mut self.cases {
            let case = &progress.planned.case;
            let Verdict::Run(placement, _) = &progress.planned.verdict else {
                continue;
            };
            if let Some(reason) = verify::refusal(case) {
                progress.unverified = Some(format!("not verified: {reason}"));
                continue;
            }
            journal.doing(&format!("verifying {}", case.label()));
            match runner::verify(case, placement, &schedule.settings, interrupt) {
                Ok(sample) => {
                    journal.verified(&sample)?;
                    progress.verified = sample.verified;
                    progress.failure = sample.verified.and_then(|verified| verified.fault());
                }
                Err(NoSample::Interrupted) => return Ok(Ending::Interrupted),
                Err(NoSample::Failed(error)) => progress.failure = Some(format!("{error:#}")),
            }
            if progress.failure.is_some() {
                journal.lost_windows(schedule.rounds);
            }
        }
        Ok(Ending::Complete)
    }

    fn records(&self, ending: Ending, environment: &Environment) -> Vec<Record> {
        let reference = self
            .cases
            .iter()
            .find(|progress| progress.planned.case.is_reference());
        // One that starved, or whose books do not close, is no measure for others.
        let sound = |progress: &&Progress| progress.samples.iter().all(Sample::is_sound);
        let reference = reference
            .filter(sound)
            .map_or(&[][..], |progress| &progress.samples);
        let record = |progress: &Progress| {
            let (pin, mut warnings) = match &progress.planned.verdict {
                Verdict::Run(placement, warnings) => (placement.to_string(), warnings.clone()),
                Verdict::Skip(_) => (String::new(), Vec::new()),
            };
            warnings.extend(self.warning.clone());
            warnings.extend(progress.unverified.clone());
            let findings = Findings {
                case: &progress.planned.case,
                pin,
                warnings,
                outcome: match (&progress.failure, ending) {
                    (Some(reason), _) => Outcome::Failed(reason.clone()),
                    (None, Ending::Interrupted) => Outcome::Interrupted,
                    (None, Ending::Complete) => Outcome::Complete,
                },
                samples: &progress.samples,
                verified: progress.verified,
                reference,
            };
            Record::new(&findings, environment)
        };
        self.cases.iter().map(record).collect()
    }
}
