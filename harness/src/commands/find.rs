//! `udpbench find`: where something begins.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::other_host::OtherHost;
use super::{bar, knob, log_file, run, say, width};
use crate::cli::{ComparisonFormat, FindArgs, FindCommand, FindOutputArgs};
use crate::error::UsageError;
use crate::export::output_file::OutputFile;
use crate::find::log::{Header, Question};
use crate::find::{self, Ending, Journal, Record, rows, table};
use crate::log::Event;
use crate::options;
use crate::options::wire::{Peer, Words};
use crate::shell;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// Searches on this host.
///
/// # Errors
/// Bad input, or a log that cannot be written.
pub fn run(args: &FindArgs) -> anyhow::Result<ExitCode> {
    let (what, interrupt) = (&args.what, super::interrupt_on_signals()?);
    let (output, board) = (what.output(), &what.placement().board);
    match OtherHost::on(&output.link, board, output.quiet, &interrupt) {
        Err(error) if error.is::<Interrupted>() => Ok(run::before_anything(&interrupt).into()),
        other => with(what, &interrupt, other?.as_mut()),
    }
}

/// The same with another host, if there is one.
///
/// # Errors
/// As for [`run()`].
pub(super) fn with(
    what: &FindCommand,
    interrupt: &Interrupt,
    other: Option<&mut OtherHost>,
) -> anyhow::Result<ExitCode> {
    // Before the first setting is read: it may be in the middle of another search's trial.
    let _lock = knob::lock(what)?;
    let output = what.output();
    let root = Root::new(&output.root);
    let (mut agents, peer) = run::agents(other, &root, interrupt);
    let words = peer.map(|peer| peer.words.clone());
    let (mut record, log, path) = if let Some(path) = &output.resume {
        resume(path, what, peer)?
    } else {
        let started_at = log_file::now();
        let mut header = options::find::header(what, peer, &started_at)?;
        if matches!(header.question, Question::Burst(_)) {
            let payloads = header.plan.cases().map(|planned| planned.case.payload);
            header.truesizes = agents.truesizes(payloads.map(u32::from).collect());
        }
        if !knob::confirm(what, &header)? {
            return Ok(ExitCode::SUCCESS);
        }
        begin(output, header, &started_at)?
    };
    if !output.quiet {
        say(&format!("log: {}", path.display()));
    }
    let mut progress = Progress::new(log, output.quiet, &record);
    let ran = find::run(&mut record, agents, interrupt, &mut progress);
    progress.bar.finish_and_clear();
    let kept = progress.log.sync();
    let how = format!(
        "go on with: {}",
        resume_words(record.header(), words, &path)
    );
    let ending = ran.map_err(|error| error.context(how.clone()))?;
    kept?;
    let is_as_before = knob::check_after(what, &record);
    match output.format {
        ComparisonFormat::Table => log_file::show(&table::draw(&record, width()))?,
        format => super::show_rows(format, &rows::rows(&record))?,
    }
    is_as_before?;
    match ending {
        Ending::Interrupted => {
            say(&format!("interrupted; {how}"));
            return Ok(run::interrupted(interrupt).into());
        }
        Ending::Lost(reason) => anyhow::bail!("the other host is gone: {reason}; {how}"),
        Ending::OutOfTime => say(&format!("--max-time is over for some cases; {how}")),
        Ending::Complete => {}
    }
    let has_failed = record.has_failed();
    Ok(if has_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn resume_words(header: &Header, words: Option<Words>, path: &Path) -> String {
    let words = words.or_else(|| Some(Words::of_wire(header.wire.as_ref()?)));
    let Words { before, after } = words.unwrap_or_default();
    let what = header.question.name();
    let path = shell::path(path);
    format!("udpbench {before}find {what} {after}--resume {path}")
}

fn begin(
    output: &FindOutputArgs,
    header: Header,
    started_at: &str,
) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let name = (&*header.environment.board, started_at, "find");
    let (log, path) = log_file::create(output.output.as_deref(), name, &header)?;
    Ok((Record::new(header), log, path))
}

/// Nothing is written to a log that is complete.
fn resume(
    path: &Path,
    what: &FindCommand,
    peer: Option<&Peer>,
) -> anyhow::Result<(Record, OutputFile, PathBuf)> {
    let mut log = log_file::read::<Header>("--resume", path)?;
    log.header.settings.root = Root::new(&what.output().root);
    let wire = log.header.wire.as_ref().map(|wire| &wire.to);
    let reached = peer.and_then(Peer::across_wire).map(|wire| &wire.to);
    let is_asked = log.header.question.name() == what.name();
    if wire != reached || !is_asked {
        let how = resume_words(&log.header, None, path);
        let problem = format!("it is of another search: use {how}");
        return Err(UsageError::flag("--resume", &path.display(), problem).into());
    }
    let (bytes, whole_bytes) = (log.bytes, log.whole_bytes);
    let record = Record::of(log)?;
    knob::check_resume(what, &record, path)?;
    let mut file = log_file::go_on(path, bytes, whole_bytes)?;
    if !record.is_complete() {
        let resumed = Event::Resumed {
            at: log_file::now(),
            unlike: Vec::new(),
        };
        log_file::append(&mut file, &resumed)?;
    }
    Ok((record, file, path.to_owned()))
}

/// Where the news arrive.
struct Progress {
    log: OutputFile,
    bar: ProgressBar,
    /// What a case takes, in the unit of the bar.
    each: u64,
    cases: u64,
    since: Instant,
}

/// The bar counts milliseconds.
const UNIT: Duration = Duration::from_millis(1);

impl Progress {
    fn new(log: OutputFile, quiet: bool, record: &Record) -> Self {
        let each = u64::try_from(record.expected_time().as_millis()).unwrap_or(u64::MAX);
        let cases = record.cases().iter();
        let left = cases.filter(|case| case.next().is_some()).count() as u64;
        let bar = ProgressBar::new(each.saturating_mul(left));
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.set_style(bar::style(UNIT));
        Self {
            log,
            bar,
            each,
            cases: 0,
            since: Instant::now(),
        }
    }
}

impl Journal for Progress {
    fn doing(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        log_file::append(&mut self.log, event)?;
        let spent = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        // A case that takes longer than usual has its end still before it.
        let begun = self.cases * self.each;
        self.bar
            .set_position(begun + spent.min(self.each.saturating_sub(1)));
        Ok(())
    }

    fn case_is_over(&mut self) {
        self.cases += 1;
        self.since = Instant::now();
        self.bar.set_position(self.cases * self.each);
    }
}
