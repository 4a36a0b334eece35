//! `udpbench agent`: threads of this process for a udpbench elsewhere, which drives them by messages.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::{say, show};
use crate::channel::{HANDSHAKE, Key, Listener, MOST_PENDING};
use crate::cli::AgentArgs;
use crate::error::UsageError;
use crate::measure::agent;
use crate::measure::caps::Caps;
use crate::sys::files::Root;

/// Serves one udpbench until its messages end, or makes a key for that.
///
/// # Errors
/// When the other side is no udpbench of this version, or sends what is no message; when the key or the address
/// cannot be used.
pub fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    let root = Root::new(&args.root);
    let served = match (&args.new_key, args.listen, &args.key) {
        (Some(path), ..) => return make_key(path),
        (None, Some(address), Some(key)) => listen(args, address, key, &root)?,
        _ => agent::serve(io::stdin(), io::stdout(), &root, Caps::NONE),
    };
    match served {
        // Called off while an answer was on its way: nobody is there to be told.
        Err(error) if is_gone(&error) => {}
        served => served.context("the other side")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn is_gone(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| {
        // The second is what a TCP connection has where a pipe has the first.
        let kinds = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
        kinds.contains(&cause.kind())
    })
}

/// Waits for the one who has the key. The inner result is of the session, as with pipes.
fn listen(
    args: &AgentArgs,
    address: SocketAddr,
    key: &Path,
    root: &Root,
) -> anyhow::Result<anyhow::Result<()>> {
    refuse_wildcard(address, args.any_address)?;
    let name = key.display();
    let key = Key::read(key)?;
    let listener = Listener::bind(address, args.from).map_err(|error| unusable(address, error))?;
    let address = listener.address()?;
    let whoever = match args.from {
        Some(from) => format!("{from}, if it has"),
        None => "whoever has".to_owned(),
    };
    say(&format!(
        "listening at {address}: one session, with {whoever} the key in {name}; at most {MOST_PENDING} handshakes at \
         a time, {} s for each",
        HANDSHAKE.as_secs()
    ));
    let caps = Caps {
        bits_per_second: args.max_rate,
        bytes: args.max_bytes,
        time: args.max_time.unwrap_or(Caps::NONE.time),
    };
    say(&format!("it sends {caps}"));
    let (peer, (reader, writer)) = listener.session(&key, say)?;
    say(&format!(
        "session with {peer}; nothing listens at {address} any more"
    ));
    Ok(agent::serve(reader, writer, root, caps))
}

fn refuse_wildcard(address: SocketAddr, is_asked_for: bool) -> Result<(), UsageError> {
    let is_wildcard = address.ip().to_canonical().is_unspecified();
    if is_wildcard && !is_asked_for {
        let problem = "it is every address of this host: name one of them, or add --any-address";
        return Err(UsageError::flag("--listen", &address, problem));
    }
    if is_asked_for && !is_wildcard {
        let problem = "--any-address goes with 0.0.0.0 or [::] only: leave it out";
        return Err(UsageError::flag("--listen", &address, problem));
    }
    Ok(())
}

fn unusable(address: SocketAddr, error: io::Error) -> anyhow::Error {
    let problem = match error.kind() {
        io::ErrorKind::AddrInUse => "another program listens there: choose another port",
        io::ErrorKind::AddrNotAvailable => {
            "this host has no such address: `ip address` lists those that it has"
        }
        io::ErrorKind::PermissionDenied => {
            "this user may not listen there: choose a port above 1023"
        }
        _ => return anyhow::Error::new(error).context(format!("cannot listen at {address}")),
    };
    UsageError::flag("--listen", &address, problem).into()
}

fn make_key(path: &Path) -> anyhow::Result<ExitCode> {
    Key::random()?.write(path)?;
    let here = path.display();
    // As scp names it there.
    let there = Path::new(path.file_name().unwrap_or_default()).display();
    show(&format!(
        "{here} has a new key. Whoever has it can have this host, and the other, send and receive datagrams.\n\
         Copy it to the other end, run the second of these there, with an address of its own, and the third here:\n\
         \n  \
           scp -p {here} USER@ADDRESS:\n  \
           udpbench agent --listen ADDRESS:7007 --key {there}\n  \
           udpbench wire --agent-at ADDRESS:7007 --key {here}\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}
