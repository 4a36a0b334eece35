//! `udpbench boards`: lists the board profiles, shows one, detects this board, drafts a profile for it, or
//! captures its files.

use std::fmt::Write;
use std::process::ExitCode;

use super::remote_host::run_there;
use crate::cli::BoardsArgs;
use crate::host::board::{self, Board};
use crate::host::capture::capture;
use crate::host::facts::Host;
use crate::sys::files::Root;
use crate::term::output::{say, show, show_file, width};
use crate::term::table::Columns;

/// Lists the profiles, shows one, detects the board, drafts a profile, or captures the host.
///
/// # Errors
/// Fails if the name is unknown, if standard output cannot be written, or if the host of `--on` cannot be asked.
pub fn run(args: &BoardsArgs) -> anyhow::Result<ExitCode> {
    if let Some(code) = run_there(&args.remote)? {
        return Ok(code);
    }
    let root = Root::new(&args.root);
    if args.detect {
        let mut out = String::new();
        detect(&mut out, &Host::read(&root))?;
        show(&out)?;
    } else if args.new {
        show_file(&draft(&Host::read(&root), &root)?)?;
    } else if args.capture {
        show_file(&capture(&root))?;
    } else if let Some(name) = &args.name {
        let board = board::find("boards", name, "")?;
        show_file(board::source(&board.name).unwrap_or_default())?;
    } else {
        show(&list(&board::all()?))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a draft profile of this host. Remarks go to standard error, so that standard output can be redirected to a
/// file.
fn draft(host: &Host, root: &Root) -> anyhow::Result<String> {
    let detected = board::detect(host)?;
    if detected.board.name != board::GENERIC {
        let (board, reason) = (&detected.board, &detected.reason);
        say(&format!("this board has a profile, {board}: {reason}"));
    }
    Ok(board::draft(host, root))
}

fn list(boards: &[Board]) -> String {
    let columns = Columns::<Board>::default()
        .word("board", |board| board.name.clone())
        .word("verified", |board| {
            let is_verified = !board.verified_on.is_empty();
            if is_verified { "yes" } else { "no" }.to_owned()
        })
        .text("title", |board| board.title.clone());
    columns.table(boards).draw(width().into())
}

fn detect(out: &mut impl Write, host: &Host) -> anyhow::Result<()> {
    let detected = board::detect(host)?;
    let board = format!("{}: {}", detected.board.name, detected.reason);
    let compatible = Some(host.compatible.join(", ")).filter(|names| !names.is_empty());
    for (name, fact) in [
        ("board", Some(board)),
        ("model", host.model.clone()),
        ("compatible", compatible),
        ("CPU", host.cpu_model.clone()),
        ("usable CPUs", Some(host.cpu_list())),
        ("kernel", host.kernel.clone()),
    ] {
        let fact = fact.unwrap_or_else(|| "unknown".to_owned());
        writeln!(out, "{name:<11} {fact}")?;
    }
    if let Some(reason) = detected.board.contradiction(host) {
        writeln!(out, "but         {reason}")?;
    }
    Ok(())
}
