//! `udpbench boards`: the profiles; one of them; or which board this is.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::board;
use crate::cli::BoardsArgs;
use crate::host::Host;
use crate::sys::files::Root;

/// Lists, shows or detects.
///
/// # Errors
/// An unknown name, or standard output that is gone.
pub fn run(args: &BoardsArgs) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    if args.detect {
        detect(&mut out, &Host::read(&Root::new(&args.root)))?;
    } else if let Some(name) = &args.name {
        let board = board::find("boards", name, "")?;
        write!(out, "{}", board::source(&board.name).unwrap_or_default())?;
    } else {
        for board in board::all()? {
            let verified = match board.verified_on.as_slice() {
                [] => "not yet verified on hardware".to_owned(),
                places => format!("verified on {}", places.join("; ")),
            };
            writeln!(out, "{:<12} {} ({verified})", board.name, board.title)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn detect(out: &mut impl Write, host: &Host) -> anyhow::Result<()> {
    let detected = board::detect(host)?;
    let or_none =
        |value: &Option<String>| value.clone().unwrap_or_else(|| "not to be read".to_owned());
    writeln!(
        out,
        "board       {}: {}",
        detected.board.name, detected.because
    )?;
    writeln!(out, "model       {}", or_none(&host.model))?;
    let compatible = if host.compatible.is_empty() {
        "not to be read".to_owned()
    } else {
        host.compatible.join(", ")
    };
    writeln!(out, "compatible  {compatible}")?;
    writeln!(out, "CPU         {}", or_none(&host.cpu_model))?;
    writeln!(out, "usable CPUs {}", host.cpu_list())?;
    writeln!(out, "kernel      {}", or_none(&host.kernel))?;
    Ok(())
}
