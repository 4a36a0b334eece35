//! `udpbench manual` and `udpbench completions`: what is generated from the clap definition. Each subcommand has a
//! manual page of its own, as in git, so the pages stay short.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap::builder::Resettable::Reset;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::VERSION;
use crate::cli::{Cli, CompletionsArgs, ManualArgs};
use crate::error::UsageError;
use crate::term::output::to_stdout;

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
        write_page(subcommand, directory)?;
    }
    write_page(&program, directory)
}

fn write_page(command: &Command, directory: &Path) -> io::Result<()> {
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
    rest.to_writer(&mut page)?;
    fs::write(directory.join(man.get_filename()), page)
}

/// Converts the text after the options of `--help` to roff: headings end in a colon, and the lines below stay as they
/// are.
fn sections(after_help: &str, page: &mut Roff) {
    for line in after_help.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("  ") {
            page.text([roman(line.trim_start())]);
        } else {
            let heading = line.trim_end_matches(':').to_uppercase();
            page.control("fi", []).control("SH", [heading.as_str()]);
            page.control("nf", []);
        }
    }
    page.control("fi", []);
}

/// Prints the completion script of a shell.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut command = shown(&Cli::command()).version(VERSION);
    // Written to memory first: clap_complete panics if a write fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "udpbench", &mut script);
    to_stdout(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a copy of a command with the subcommands and options that its help shows. clap_complete would offer hidden
/// ones as well.
fn shown(command: &Command) -> Command {
    // clap takes no other names than those that live as long as the program, which soon ends.
    let name: &'static str = command.get_name().to_owned().leak();
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    // Without relations to others, which may be hidden.
    let args = args.map(|arg| arg.clone().conflicts_with(Reset).requires(Reset));
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    Command::new(name)
        .about(command.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .args(args)
        .subcommands(below.map(shown))
}
