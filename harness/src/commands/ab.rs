//! `udpbench ab`: did this change help.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::other_host::{OtherHost, run_script};
use super::{bar, interrupt_on_signals, log_file, run, say, width};
use crate::ab::log::Header;
use crate::ab::{self, Ending, Journal, Question, Record, Side, Sides, judge, rows, table};
use crate::cli::{AbArgs, ComparisonFormat, LinkArgs};
use crate::compare::table::Detail;
use crate::error::UsageError;
use crate::export::output_file::OutputFile;
use crate::log::{Event, Log};
use crate::measure::agents::Agents;
use crate::measure::spawned::THIS_PROGRAM;
use crate::options;
use crate::shell;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// Something is slower, dearer or broken.
const WORSE: u8 = 3;

/// Measures both sides in turn and prints what that says. Exit code 3: something is slower, dearer or broken.
///
/// # Errors
/// Bad input, a program that cannot be started, a command that fails, or a log that cannot be written.
pub fn run(args: &AbArgs) -> anyhow::Result<ExitCode> {
    let interrupt = interrupt_on_signals()?;
    let question = Question {
        by: args.asked.by,
        threshold: args.asked.threshold,
    };
    match with(args, question, &interrupt) {
        Err(error) if error.is::<Interrupted>() => Ok(run::before_anything(&interrupt).into()),
        done => done,
    }
}

fn with(args: &AbArgs, question: Question, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    let log = args.output.resume.as_deref();
    let log = log.map(|path| log_file::read::<Header>("--resume", path));
    let log = log.transpose()?;
    let programs = match &log {
        Some(log) => [&log.header.a.program, &log.header.b.program].map(Option::clone),
        None => [&args.sides.program_a, &args.sides.program_b].map(|path| {
            path.as_ref()
                .map(|path| path.to_string_lossy().into_owned())
        }),
    };
    let mut others = Vec::new();
    for program in &programs {
        others.extend(on(
            &args.link,
            program.as_deref(),
            args.output.quiet || !others.is_empty(),
            interrupt,
        )?);
    }
    let (mut record, log, path) = match log.zip(args.output.resume.as_deref()) {
        Some((log, path)) => resume(log, path, question, &mut others, interrupt)?,
        None => begin(args, &mut others, interrupt)?,
    };
    let mut progress = Progress::new(log, args.output.quiet, &record);
    if !args.output.quiet {
        say(&format!("log: {}", path.display()));
    }
    let header = record.header().clone();
    let sides = Sides {
        agents: agents(&header, &mut others, interrupt),
        prepare: &|side, command| {
            let done = run_script(&args.link, command, interrupt);
            done.with_context(|| format!("the command before {side}, {command:?}, failed"))
        },
    };
    let ran = ab::run(&mut record, question, sides, interrupt, &mut progress);
    progress.bar.finish_and_clear();
    let kept = progress.log.sync();
    let after = others.first().map_or("", |other| &*other.peer.words.after);
    let how = format!(
        "go on with: udpbench ab {after}--resume {}",
        shell::path(&path)
    );
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

/// The host of `--on`, if there is one, with that program.
fn on(
    link: &LinkArgs,
    program: Option<&str>,
    is_quiet: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<OtherHost>> {
    let mut link = link.clone();
    if let Some(program) = program.filter(|_| link.on.is_some()) {
        program.clone_into(&mut link.agent);
        link.deploy = false;
    }
    OtherHost::on(&link, "auto", is_quiet, interrupt)
}

/// What each side runs in.
fn agents<'a>(
    header: &'a Header,
    others: &'a mut [OtherHost],
    interrupt: &Interrupt,
) -> [Agents<'a>; 2] {
    if let [a, b] = others {
        return [a, b].map(|other| Agents::on(&mut other.agent));
    }
    Side::BOTH.map(|side| {
        let setup = header.setup(side);
        let program = Path::new(setup.program.as_deref().unwrap_or(THIS_PROGRAM));
        Agents::new(program, &setup.settings.root, None, interrupt)
    })
}

fn begin(
    args: &AbArgs,
    others: &mut [OtherHost],
    interrupt: &Interrupt,
) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let started_at = log_file::now();
    let peer = others.first().map(|other| &other.peer);
    let mut header = options::ab::header(args, peer, &started_at)?;
    // Whether they can be started, and what they are, before there is a file.
    let [a, b] = versions(&header, others, interrupt)?;
    (header.a.version, header.b.version) = (a, b);
    let name = (&*header.environment.board, &*started_at, "ab");
    let (log, path) = log_file::create(args.output.output.as_deref(), name, &header)?;
    let record = Record::new(header).map_err(anyhow::Error::msg)?;
    Ok((record, log, path))
}

/// Starts both programs, and asks them.
fn versions(
    header: &Header,
    others: &mut [OtherHost],
    interrupt: &Interrupt,
) -> anyhow::Result<[String; 2]> {
    let mut versions = [String::new(), String::new()];
    let agents = agents(header, others, interrupt);
    for (side, mut agents) in Side::BOTH.into_iter().zip(agents) {
        let program = header.setup(side).program.as_deref();
        versions[side as usize] = agents.version().map_err(|error| {
            if error.is::<Interrupted>() {
                return error;
            }
            let flag = program.unwrap_or("this udpbench");
            UsageError::flag("ab", flag, format!("{side}: {error:#}")).into()
        })?;
    }
    Ok(versions)
}

/// Nothing is written to a log that is complete.
fn resume(
    log: Log<Header>,
    path: &Path,
    question: Question,
    others: &mut [OtherHost],
    interrupt: &Interrupt,
) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let (bytes, whole_bytes) = (log.bytes, log.whole_bytes);
    let mut record = Record::of(log)?;
    let mut file = log_file::go_on(path, bytes, whole_bytes)?;
    if ab::is_complete(&record, question) {
        return Ok((record, file, path.to_owned()));
    }
    let header = record.header();
    for (side, now) in Side::BOTH
        .into_iter()
        .zip(versions(header, others, interrupt)?)
    {
        let then = &header.setup(side).version;
        ensure!(
            then.is_empty() || now == *then,
            "{side} was udpbench {then}, and is udpbench {now} now"
        );
    }
    let resumed = Event::Resumed {
        at: log_file::now(),
        unlike: Vec::new(),
    };
    log_file::append(&mut file, &resumed)?;
    record.take(&resumed).map_err(anyhow::Error::msg)?;
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
        if let Event::Window(_) = event {
            self.bar.inc(1);
        }
        Ok(())
    }

    fn windows_in_all(&mut self, windows: u64) {
        self.bar.set_length(windows);
    }
}
