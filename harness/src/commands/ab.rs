//! `udpbench ab`: did this change help.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anstream::AutoStream;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::{bar, say, width};
use crate::ab::log::Event;
use crate::ab::{self, Ending, Journal, Question, Record, Side, judge, log, rows, table};
use crate::cli::{AbArgs, ComparisonFormat};
use crate::compare::table::Detail;
use crate::error::UsageError;
use crate::export::output_file::OutputFile;
use crate::export::{cannot_create, to_stdout, written_to_stdout};
use crate::measure::spawned::Spawned;
use crate::options;
use crate::sys::files::{self, Kind};
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
        None => begin(args)?,
    };
    let mut progress = Progress::new(log, args.output.quiet, &record);
    if !args.output.quiet {
        say(&format!("log: {}", path.display()));
    }
    let ran = ab::run(&mut record, question, &interrupt, &mut progress);
    progress.bar.finish_and_clear();
    let kept = progress.log.sync();
    let how = format!("go on with: udpbench ab --resume {}", path.display());
    let ending = ran.with_context(|| how.clone())?;
    kept?;
    let judgement = judge(&record, question);
    let detail = if args.asked.all {
        Detail::All
    } else {
        Detail::Changes
    };
    match args.asked.format {
        ComparisonFormat::Table => show(&table::draw(&record, &judgement, detail, width()))?,
        ComparisonFormat::Csv => to_stdout(rows::csv(&judgement)?.as_bytes())?,
        ComparisonFormat::Json => to_stdout(rows::json(&judgement)?.as_bytes())?,
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

fn begin(args: &AbArgs) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let started_at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut header = options::ab::header(args, &started_at)?;
    // Whether they can be started, and what they are, before there is a file.
    for side in Side::BOTH {
        let version = version(side, &header)?;
        let setup = match side {
            Side::A => &mut header.a,
            Side::B => &mut header.b,
        };
        setup.version = version;
    }
    let path = match &args.output.output {
        Some(path) => path.clone(),
        None => default_path(&header.environment.board, &started_at)?,
    };
    let mut log = OutputFile::create("--output", &path)?;
    let first = line(&Event::Ab(Box::new(header.clone())))?;
    if let Err(error) = log.append(&first) {
        log.remove();
        return Err(error);
    }
    let record = Record::new(header).map_err(anyhow::Error::msg)?;
    Ok((record, log, path))
}

fn version(side: Side, header: &ab::log::Header) -> anyhow::Result<String> {
    let setup = header.setup(side);
    let agent: anyhow::Result<Spawned> = ab::start(side, setup);
    let flag = setup.program.as_deref().unwrap_or("this udpbench");
    match agent {
        Ok(agent) => Ok(agent.version().to_owned()),
        Err(error) => Err(UsageError::flag("ab", flag, format!("{error:#}")).into()),
    }
}

/// Nothing is written to a log that is complete.
fn resume(path: &Path, question: Question) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let refused = |problem: String| UsageError::flag("--resume", &path.display(), problem);
    let bytes = files::read_whole(path, Kind::File)
        .map_err(|error| refused(format!("cannot read it: {error}")))?;
    let log = log::parse(&path.display().to_string(), &bytes)?;
    let mut record =
        Record::new(log.header).map_err(|problem| UsageError::file(&log.name, 1, &problem))?;
    for (number, event) in (2..).zip(&log.lines) {
        let taken = record.take(event);
        taken.map_err(|problem| UsageError::file(&log.name, number, &problem))?;
    }
    let mut file = OutputFile::resume(path, log.bytes, log.whole_bytes)
        .map_err(|error| refused(format!("cannot go on with it: {error}")))?;
    if !ab::is_complete(&record, question) {
        let resumed = Event::Resumed {
            at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        };
        file.append(&line(&resumed)?)?;
        record.take(&resumed).map_err(anyhow::Error::msg)?;
    }
    Ok((record, file, path.to_owned()))
}

/// `results/<UTC time>-<board>-ab.jsonl`.
fn default_path(board: &str, started_at: &str) -> Result<PathBuf, UsageError> {
    let directory = Path::new("results");
    std::fs::create_dir_all(directory)
        .map_err(|error| cannot_create("--output", directory, &error))?;
    let time = started_at.replace(':', "");
    Ok(directory.join(format!("{time}-{board}-ab.jsonl")))
}

fn line(event: &Event) -> anyhow::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(event)?;
    bytes.push(b'\n');
    Ok(bytes)
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
        self.log.append(&line(event)?)?;
        if let Event::Window { .. } = event {
            self.bar.inc(1);
        }
        Ok(())
    }

    fn windows_in_all(&mut self, windows: u64) {
        self.bar.set_length(windows);
    }
}

/// Like [`super::show`], in colours.
fn show(text: &str) -> anyhow::Result<()> {
    let mut out = AutoStream::auto(io::stdout());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        shown => written_to_stdout(shown),
    }
}
