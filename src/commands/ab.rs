//! `udpbench ab`: compares two setups, measured in turn. It answers whether a change of program, options or settings
//! helped.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, ensure};

use super::remote_host::{RemoteHost, run_script};
use super::session::outputs::Outputs;
use super::session::progress::Progress;
use super::session::{self, Outcome};
use super::{measuring, run, show_answers};
use crate::cli::AbArgs;
use crate::cli::options;
use crate::error::UsageError;
use crate::experiment::ab::header::AbHeader;
use crate::experiment::ab::{AbComparison, judge, rows, table};
use crate::log::name::now;
use crate::results::export::{Conclusion, Format};
use crate::results::log::{Log, Side};
use crate::session::{Experiment, Logged, Resources};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::output::{say, width};
use crate::trial::agents::Agents;
use crate::trial::spawned::THIS_PROGRAM;
use crate::verdict::judge::Criterion;
use crate::verdict::judge::table::Detail;

/// Measures both sides in turn and prints the comparison. Exit code 3: something is slower, costs more CPU time or is
/// broken. Exit code 4: some engine may be.
///
/// # Errors
/// Fails on bad input, if a program cannot be started, if a command fails, or if the log cannot be written.
pub fn run(args: &AbArgs) -> anyhow::Result<ExitCode> {
    args.asked.form.shape()?;
    measuring(|interrupt| with(args, args.asked.question(), interrupt))
}

fn with(args: &AbArgs, question: Criterion, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let log = args.output.resume.as_deref();
    let log = log.map(|path| Ok::<_, UsageError>((Log::<AbHeader>::open_to_resume(path)?, path)));
    let log = log.transpose()?;
    let programs = if let Some((log, _)) = &log {
        [&log.header.a, &log.header.b].map(|setup| setup.program.clone())
    } else {
        // The hosts then say whether they have the programs.
        options::ab::check_sides(args)?;
        let paths = [&args.sides.program_a, &args.sides.program_b];
        paths.map(|path| Some(path.as_ref()?.to_string_lossy().into_owned()))
    };
    let mut others = connect(args, programs, interrupt)?;
    let (mut comparison, outputs) = match log {
        Some((log, path)) => resume(&log, path, question, &mut others, interrupt)?,
        None => begin(args, question, &mut others, interrupt)?,
    };
    if !args.output.quiet {
        say(&format!("log: {}", outputs.shown));
    }
    let mut progress = Progress::new(outputs, args.output.quiet, comparison.work());
    let header = comparison.header().clone();
    let mut agents = agents(&header, &mut others, interrupt);
    if !args.output.quiet && !comparison.is_complete() {
        run::warn(agents[0].other_programs().as_slice());
    }
    let resources = Resources {
        agents: agents.into(),
        command: &|side, command| {
            let done = run_script(&args.remote, command, interrupt);
            done.with_context(|| format!("the command before {side}, {command:?}, failed"))
        },
        power_command: None,
        interrupt,
    };
    let show = |comparison: &AbComparison, _: &Progress, _: &mut [Agents]| {
        let detail = Detail::of(args.asked.details);
        show_comparison(comparison, args.asked.form.shape()?, detail)
    };
    let ending = session::measure(&mut comparison, resources, &mut progress, show)?;
    let outcome = session::ended(&ending, "", &progress.outputs, interrupt)?;
    let judgement = judge(&comparison, question);
    let judged = if judgement.is_worse() {
        Outcome::Worse
    } else if judgement.is_inconclusive() && args.asked.accept.is_none() {
        Outcome::Inconclusive
    } else {
        Outcome::Done
    };
    Ok(outcome.unwrap_or(judged))
}

/// Connects to the host of `--on` for each side, if the option was given, with the side's program as its agent.
fn connect(
    args: &AbArgs,
    programs: [Option<String>; 2],
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<RemoteHost>> {
    let mut others = Vec::new();
    for program in programs {
        let mut remote = args.remote.clone();
        if remote.on.is_some() && program.is_some() {
            (remote.agent, remote.deploy) = (program, false);
        }
        let is_quiet = args.output.quiet || !others.is_empty();
        others.extend(RemoteHost::on(&remote, "auto", is_quiet, interrupt)?);
    }
    Ok(others)
}

/// Prints the comparison of the windows measured so far.
pub(super) fn show_comparison(
    comparison: &AbComparison,
    shape: Format,
    detail: Detail,
) -> anyhow::Result<()> {
    let judgement = judge(comparison, comparison.question);
    let table = || table::draw(comparison, &judgement, detail, width());
    let conclusion = match comparison.header().tunings {
        None => Conclusion::of_comparison(judgement.is_worse(), judgement.is_inconclusive()),
        Some(_) => Conclusion::default(),
    };
    show_answers(shape, &conclusion, table, || rows(comparison, &judgement))
}

/// Returns the agents of each side: one of a remote host per side, or local processes of that side's program.
fn agents<'a>(
    header: &'a AbHeader,
    others: &'a mut [RemoteHost],
    interrupt: &Interrupt,
) -> [Agents<'a>; 2] {
    // Both sides have the same loopback.
    let plans = [&header.a.plan, &header.b.plan];
    if let [a, b] = others {
        return [a, b].map(|other| Agents::on(&mut other.agent).for_plans(&plans));
    }
    Side::BOTH.map(|side| {
        let setup = header.setup(side);
        let program = Path::new(setup.program.as_deref().unwrap_or(THIS_PROGRAM));
        Agents::new(program, &setup.settings.root, None, interrupt).for_plans(&plans)
    })
}

fn begin(
    args: &AbArgs,
    question: Criterion,
    others: &mut [RemoteHost],
    interrupt: &Interrupt,
) -> anyhow::Result<(AbComparison, Outputs)> {
    let started_at = now();
    let peer = others.first().map(|other| &other.peer);
    let mut header = options::ab::header(args, peer, &started_at)?;
    // Starts both programs before a file is created, to see that they run and to learn their versions.
    let [a, b] = versions(&header, others, interrupt)?;
    (header.a.version, header.b.version) = (a, b);
    let name = (&*header.environment.board, &*started_at, "ab");
    let outputs = Outputs::log_of(args.output.output.as_deref(), name, &header)?;
    let mut comparison = AbComparison::begin(header).map_err(anyhow::Error::msg)?;
    comparison.question = question;
    Ok((comparison, outputs))
}

/// Starts both programs and returns their versions.
fn versions(
    header: &AbHeader,
    others: &mut [RemoteHost],
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

fn resume(
    log: &Log<AbHeader>,
    path: &Path,
    question: Criterion,
    others: &mut [RemoteHost],
    interrupt: &Interrupt,
) -> anyhow::Result<(AbComparison, Outputs)> {
    let mut comparison = AbComparison::of(log)?;
    comparison.question = question;
    let mut outputs = Outputs::resume_log(path, log.end)?;
    if comparison.is_complete() {
        return Ok((comparison, outputs));
    }
    let header = comparison.header();
    for side in Side::BOTH {
        let added = header.setup(side).plan.add_programs();
        added.map_err(anyhow::Error::msg)?;
    }
    let versions = versions(header, others, interrupt)?;
    for (side, now) in Side::BOTH.into_iter().zip(versions) {
        let then = &header.setup(side).version;
        ensure!(
            then.is_empty() || now == *then,
            "{side} was udpbench {then}, and is udpbench {now} now"
        );
    }
    session::resumed(&mut comparison, &mut outputs, Vec::new())?;
    Ok((comparison, outputs))
}
