//! `udpbench ab`: did this change help.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::{bar, log_file, run, say, width};
use crate::ab::log::Event;
use crate::ab::{self, Ending, Journal, Question, Record, Side, judge, log, rows, table};
use crate::cli::{AbArgs, ComparisonFormat};
use crate::compare::table::Detail;
use crate::error::UsageError;
use crate::export::output_file::OutputFile;
use crate::measure::spawned::Spawned;
use crate::options;
use crate::shell;
use crate::sys::interrupt::Interrupt;

/// Something is slower, dearer or broken.
const WORSE: u8 = 3;

/// Measures both sides in turn and prints what that says. Exit code 3: something is slower, dearer or broken.
///
/// # Errors
/// Bad input, a program that cannot be started, a command that fails, or a log that cannot be written.
pub fn run(args: &AbArgs) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::on_signals().context("cannot handle Ctrl-C")?;
    let question = Question {
        by: args.asked.by,
        threshold: args.asked.threshold,
    };
    let (mut record, log, path) = match &args.output.resume {
        Some(path) => resume(path, question)?,
        None => match begin(args, &interrupt) {
            Err(_) if interrupt.signal().is_some() => {
                return Ok(run::before_anything(&interrupt).into());
            }
            begun => begun?,
        },
    };
    let mut progress = Progress::new(log, args.output.quiet, &record);
    if !args.output.quiet {
        say(&format!("log: {}", path.display()));
    }
    let ran = ab::run(&mut record, question, &interrupt, &mut progress);
    progress.bar.finish_and_clear();
    let kept = progress.log.sync();
    let how = format!("go on with: udpbench ab --resume {}", shell::path(&path));
    let ending = ran.with_context(|| how.clone())?;
    kept?;
    let judgement = judge(&record, question);
    let detail = if args.asked.all {
        Detail::All
    } else {
        Detail::Changes
    };
    match args.asked.format {
        ComparisonFormat::Table => {
            log_file::show(&table::draw(&record, &judgement, detail, width()))?;
        }
        format => super::show_rows(format, &rows::rows(&judgement))?,
    }
    match ending {
        Ending::Interrupted => {
            say(&format!("interrupted; {how}"));
            let signal = interrupt.signal().unwrap_or_default();
            return Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)));
        }
        Ending::OutOfTime => say("--max-time is over"),
        Ending::Complete => {}
    }
    let code = if judgement.is_worse() { WORSE } else { 0 };
    Ok(ExitCode::from(code))
}

fn begin(args: &AbArgs, interrupt: &Interrupt) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let started_at = log_file::now();
    let mut header = options::ab::header(args, &started_at)?;
    // Whether they can be started, and what they are, before there is a file.
    for side in Side::BOTH {
        let version = version(side, &header, interrupt)?;
        let setup = match side {
            Side::A => &mut header.a,
            Side::B => &mut header.b,
        };
        setup.version = version;
    }
    let name = (&*header.environment.board, &*started_at, "ab");
    let first = Event::Ab(Box::new(header.clone()));
    let (log, path) = log_file::create(args.output.output.as_deref(), name, &first)?;
    let record = Record::new(header).map_err(anyhow::Error::msg)?;
    Ok((record, log, path))
}

fn version(side: Side, header: &ab::log::Header, interrupt: &Interrupt) -> anyhow::Result<String> {
    let setup = header.setup(side);
    let agent: anyhow::Result<Spawned> = ab::start(side, setup, interrupt);
    let flag = setup.program.as_deref().unwrap_or("this udpbench");
    match agent {
        Ok(agent) => Ok(agent.version().to_owned()),
        Err(error) => Err(UsageError::flag("ab", flag, format!("{error:#}")).into()),
    }
}

/// Nothing is written to a log that is complete.
fn resume(path: &Path, question: Question) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let log = log_file::read("--resume", path, log::parse)?;
    let mut record =
        Record::new(log.header).map_err(|problem| UsageError::file(&log.name, 1, &problem))?;
    for (number, event) in (2..).zip(&log.lines) {
        let taken = record.take(event);
        taken.map_err(|problem| UsageError::file(&log.name, number, &problem))?;
    }
    let mut file = log_file::go_on(path, log.bytes, log.whole_bytes)?;
    if !ab::is_complete(&record, question) {
        let resumed = Event::Resumed {
            at: log_file::now(),
        };
        log_file::append(&mut file, &resumed)?;
        record.take(&resumed).map_err(anyhow::Error::msg)?;
    }
    Ok((record, file, path.to_owned()))
}

/// Where the news arrive.
struct Progress {
    log: OutputFile,
    bar: ProgressBar,
}

impl Progress {
    fn new(log: OutputFile, quiet: bool, record: &Record) -> Self {
        let bar = ProgressBar::new(0);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let settings = &record.header().a.settings;
        bar.set_style(bar::style(settings.time_per_window()));
        bar.set_position(record.windows());
        Self { log, bar }
    }
}

impl Journal for Progress {
    fn doing(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        log_file::append(&mut self.log, event)?;
        if let Event::Window { .. } = event {
            self.bar.inc(1);
        }
        Ok(())
    }

    fn windows_in_all(&mut self, windows: u64) {
        self.bar.set_length(windows);
    }
}
