//! `udpbench soak`: a constant rate of probes for hours, over loopback or to another host, and each event on the way.
//!
//! Probes have outcomes in the order in which they were due ([`crate::workload::probe`]). [`finder`] makes events of
//! them, [`minute`] counts them, [`log`] keeps both, and [`summary`] follows from the log alone. [`notes`] collects
//! what the kernel says meanwhile, and [`far_end`] keeps the echo at the other end running. Only [`notes`] and
//! [`far_end`] touch the system.

mod args;
mod course;
pub mod event;
pub mod far_end;
pub mod finder;
mod journal;
pub mod log;
pub mod minute;
mod next;
pub mod notes;
pub mod one_way;
pub mod summary;

use std::sync::Arc;
use std::time::Duration;

pub use self::args::SoakArgs;
use self::course::Course;
use self::far_end::{EchoAddress, FarEnd, Start};
use self::journal::Journal;
use self::log::{SoakHeader, SoakLog};
use crate::data::Payload;
use crate::error::UsageError;
use crate::host::board;
use crate::host::facts::{Host, Interface};
use crate::log::name::{create_log, now, resume_log};
use crate::log::{Log, Run};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::output::{say, show, width};
use crate::term::shell;
use crate::term::words::words_as_text;
use crate::workload::probe::Target;

/// The other end before its echo is started.
pub struct OtherEnd {
    /// Its host as it was typed. `None`: a process of this host.
    pub to: Option<String>,
    /// Address of the echo.
    pub address: EchoAddress,
    /// Interface of this host.
    pub interface: Interface,
    /// Starts a program there that can echo.
    pub start: Start,
}

/// Soaks the path to the other end until the time is over or a signal comes.
///
/// # Errors
/// Fails on bad input, if the other end cannot be reached at the start, or if the log cannot be written.
pub fn run(args: &SoakArgs, other: OtherEnd, interrupt: &Interrupt) -> anyhow::Result<()> {
    if args.rate.per_second() * args.length.as_secs_f64() < 1.0 {
        let length = humantime::format_duration(args.length);
        let fix = "not a single probe is due in this time: use a longer one, such as 10m";
        return Err(UsageError::flag("--for", &length, fix).into());
    }
    let root = Root::new(&args.root);
    let (header, past, file, path) = match &args.resume {
        None => {
            let header = header(args, &other, &root)?;
            let name = (&*header.board, &*header.run.started_at, "soak");
            let (file, path) = create_log(args.output.as_deref(), name, &header)?;
            (header, None, file, path)
        }
        Some(path) => {
            let log = SoakLog::from(Log::open_to_resume(path)?);
            if log.left() < Duration::from_secs(1) {
                let fix = "it is complete: use udpbench summarize, or start another one";
                return Err(UsageError::flag("resume", &path.display(), fix).into());
            }
            let file = resume_log(path, log.end)?;
            (log.header.clone(), Some(log), file, path.clone())
        }
    };
    let name = header.far_end().to_owned();
    let target = Arc::<Target>::default();
    let started = FarEnd::start(&name, other.start, other.address, Arc::clone(&target));
    let far_end = started.map_err(|error| match interrupt.signal() {
        None => error,
        Some(_) => Interrupted.into(),
    })?;
    let journal = Journal::new(file, shell::path(&path));
    let mut course = Course::new(header, past.as_ref(), journal, args.quiet);
    if !args.quiet {
        say(&format!("log: {}", path.display()));
    }
    let ran = course.run(far_end, target, &root, interrupt);
    let text = course.summary().text(width());
    let shown = if args.quiet { Ok(()) } else { show(&text) };
    ran.and(shown)?;
    if interrupt.signal().is_some() {
        say("interrupted: what was measured is kept");
        say(&format!(
            "resume with: udpbench resume {}",
            shell::path(&path)
        ));
    }
    Ok(())
}

fn header(args: &SoakArgs, other: &OtherEnd, root: &Root) -> anyhow::Result<SoakHeader> {
    let host = Host::read(root);
    let chosen = board::choose("auto", &host)?;
    let payload = Payload::try_from(args.payload);
    Ok(SoakHeader {
        run: Run::new(&now(), words_as_text()),
        machine: chosen.machine(&host),
        board: chosen.board.name.clone(),
        to: other.to.clone(),
        address: other.address.there.to_string(),
        interface: other.interface.name.clone(),
        interface_kind: other.interface.kind,
        rate: args.rate,
        payload: payload.map_err(|fix| UsageError::flag("--payload", &args.payload, fix))?,
        length: args.length,
        outage: args.outage,
        delay: args.delay,
    })
}
