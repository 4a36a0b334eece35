//! `udpbench soak`: a constant rate of probes for hours, over loopback or to another host, and each event on the way.

mod course;
mod journal;

use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use self::course::Course;
use self::journal::Journal;
use super::remote_host::RemoteHost;
use super::session::{self, Outcome, outputs};
use super::start_time::now;
use super::{measuring, say, show};
use crate::cli::options::wire::complete;
use crate::cli::{SoakArgs, WireArgs, words_as_text};
use crate::data::{Destination, HostAddress, Payload};
use crate::error::UsageError;
use crate::host::board;
use crate::host::facts::{Host, Interface};
use crate::results::log::Run;
use crate::soak::far_end::{EchoAddress, FarEnd, Start};
use crate::soak::log::{Header, SoakLog};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::shell;
use crate::trial::agent::Agent;
use crate::trial::spawned::THIS_PROGRAM;
use crate::workload::probe::Target;

/// The other end before its echo is started.
struct Other {
    /// As it was typed. `None`: a process of this host.
    to: Option<String>,
    address: EchoAddress,
    /// Interface of this host.
    interface: Interface,
    start: Start,
}

/// Soaks the loopback.
///
/// # Errors
/// Fails on bad input, or if the log cannot be written.
pub fn run(args: &SoakArgs) -> anyhow::Result<ExitCode> {
    if let Some(address) = &args.address {
        let fix = "it is for two hosts: use udpbench wire USER@HOST soak, or leave it out";
        return Err(UsageError::flag("--address", address, fix).into());
    }
    measuring(|interrupt| soak_loopback(args, interrupt))
}

fn soak_loopback(args: &SoakArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let (asked, root) = (interrupt.asked(), Root::new(&args.root));
    let start = move || Agent::start(THIS_PROGRAM.as_ref(), &root, false, &asked);
    let loopback = HostAddress::at(IpAddr::from(Ipv4Addr::LOCALHOST), "lo");
    let other = Other {
        to: None,
        address: EchoAddress {
            there: loopback,
            from_here: loopback,
        },
        interface: Interface {
            name: "lo".to_owned(),
            ..Interface::default()
        },
        start: Box::new(start),
    };
    soak(args, other, interrupt)
}

/// Soaks the path to another host.
///
/// # Errors
/// Fails as [`run`] does, or if the host cannot be reached at the start.
pub(super) fn across(
    args: &WireArgs,
    asked: &SoakArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let mut given = args.run.parameters.clone();
    complete(&mut given);
    if let Some(address) = asked.address {
        given.address = Some(vec![Destination::Of(address)]);
    }
    let reached = RemoteHost::across(&args.to, &args.run.remote, &given, asked.quiet, interrupt);
    let RemoteHost { agent, peer, reach } = reached?;
    // Its heartbeat would end it in the first long outage.
    drop(agent);
    let Some(link) = peer.wire.links.first() else {
        let problem = "no address of it is known: name one by --address";
        return Err(UsageError::flag("wire", &args.to, problem).into());
    };
    let stop = interrupt.asked();
    let from_here = link.local.address.interface;
    let other = Other {
        to: Some(args.to.clone()),
        address: EchoAddress {
            there: link.remote.address,
            from_here: HostAddress {
                ip: link.remote.address.ip,
                interface: from_here,
            },
        },
        interface: link.local.interface.clone(),
        start: Box::new(move || reach.start(true, &stop)),
    };
    soak(asked, other, interrupt)
}

fn soak(args: &SoakArgs, other: Other, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
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
            let (file, path) = outputs::create_log(args.output.as_deref(), name, &header)?;
            (header, None, file, path)
        }
        Some(path) => {
            let log = SoakLog::open_to_resume(path)?;
            if log.left() < Duration::from_secs(1) {
                let fix = "it is complete: use udpbench summarize, or start another one";
                return Err(UsageError::flag("resume", &path.display(), fix).into());
            }
            let file = outputs::resume_log(path, log.end)?;
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
    let text = course.summary().text(super::width());
    let shown = if args.quiet { Ok(()) } else { show(&text) };
    ran.and(shown)?;
    if interrupt.signal().is_some() {
        say("interrupted: what was measured is kept");
        say(&format!(
            "resume with: udpbench resume {}",
            shell::path(&path)
        ));
        return Ok(session::interrupted(interrupt));
    }
    Ok(Outcome::Done)
}

fn header(args: &SoakArgs, other: &Other, root: &Root) -> anyhow::Result<Header> {
    let host = Host::read(root);
    let chosen = board::choose("auto", &host)?;
    let payload = Payload::try_from(args.payload);
    Ok(Header {
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
