//! `udpbench manual`: writes the manual pages, generated from the clap definition. Each subcommand has a page of its
//! own, as in git, so the pages stay short.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::VERSION;
use crate::cli::{Cli, ManualArgs};
use crate::error::UsageError;

/// Writes the manual pages to the directory.
///
/// # Errors
/// Fails if the directory cannot be created or written to.
pub fn run(args: &ManualArgs) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    write_all(directory).map_err(|error| {
        let problem =
            format!("cannot write there: {error}; name a directory that you may write to");
        UsageError::flag("manual", &directory.display(), problem)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn write_all(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    // Gives each subcommand its full name.
    program.build();
    let shown = |subcommand: &&Command| !subcommand.is_hide_set();
    for subcommand in program.get_subcommands().filter(shown) {
        let see_also = format!("{}(1)", program.get_name());
        write_page(subcommand, Some(&see_also), directory)?;
    }
    write_page(&program.long_about(DESCRIPTION), None, directory)
}

const DESCRIPTION: &str = "\
Moves UDP datagrams over loopback in every combination of engine, thread count, payload, connected or \
unconnected sockets, IPv4 or IPv6: the sweep. An engine is a socket API with its loop. Cases that are compared \
are measured side by side, in short windows of shuffled order, next to a reference.

Every datagram is accounted for: received, left unread, dropped at the socket, or dropped elsewhere in the \
kernel. Every rate has a 95 % interval. A case that cannot run here is a row with the \
reason. No traffic leaves the machine, and no privilege is needed.

A table goes to standard output, the results to a CSV file.";

fn write_page(command: &Command, see_also: Option<&str>, directory: &Path) -> io::Result<()> {
    // clap's usage lists the ways to call the command. clap_mangen's own lists every option, as the options section
    // does.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let man = Man::new(command.clone().override_usage(usage))
        // Not empty: roff drops an empty argument and takes the next one as the date.
        .date(" ")
        .source(format!("udpbench {VERSION}"))
        .manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    let after_help = command.get_after_long_help().map(ToString::to_string);
    sections(&after_help.unwrap_or_default(), &mut rest);
    if let Some(page) = see_also {
        rest.control("SH", ["SEE ALSO"]).text([roman(page)]);
    }
    rest.to_writer(&mut page)?;
    fs::write(directory.join(man.get_filename()), page)
}

/// Converts the text after the options of `--help` to roff. Headings end in a colon. Indented lines below are running
/// text, or an entry and its explanation, separated by two blanks or more. Each example is an entry, with an explanation
/// or without.
fn sections(after_help: &str, page: &mut Roff) {
    let mut are_examples = false;
    for line in after_help.lines().filter(|line| !line.is_empty()) {
        let Some(line) = line.strip_prefix("  ") else {
            are_examples = line.ends_with("xamples:");
            page.control("SH", [line.trim_end_matches(':').to_uppercase().as_str()]);
            continue;
        };
        match line.split_once("  ") {
            Some((entry, explanation)) => {
                page.control("TP", []).text([bold(entry)]);
                page.text([roman(explanation.trim_start())]);
            }
            None if are_examples => {
                page.control("PP", []).text([bold(line)]);
            }
            None => {
                page.text([roman(line)]);
            }
        }
    }
}
