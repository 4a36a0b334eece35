//! `resume`: goes on with an experiment from its log, by the command line that began it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, FromArgMatches, ValueHint};

use super::{Cli, Command, FindOutputArgs, RunArgs, ShapeArgs, WireCommand};
use crate::error::UsageError;
use crate::results::export::is_stdout;
use crate::results::log::{Header, Log, run_of};

/// The options of `resume`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/resume.txt").trim_end())]
pub struct ResumeArgs {
    /// Log (.jsonl) of a sweep, a search, a comparison or a soak
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub log: PathBuf,
    /// Accepts that the host, the program or the plan differs; the rows say so
    #[arg(long)]
    pub accept_changes: bool,
    /// Options of the command that wrote it, where they are to be others
    #[arg(
        value_name = "OPTIONS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub options: Vec<OsString>,
}

/// Typed behind other options, it is among them.
const ACCEPT: &str = "--accept-changes";
/// Options that do not change what the log says.
const POSSIBLE: &str = "-q -o --quiet --output --format --decimal-comma --columns --against --threshold --accept \
    --accept-changes --warnings --explain --by --details --max-case-time --root --on --rsh --agent --deploy --binary";

impl ResumeArgs {
    /// Returns the command line that wrote the log, with the options typed now, and the log to go on with.
    ///
    /// # Errors
    /// Fails if the log cannot be read, if its command cannot go on, or if an option would change what is measured or
    /// is none of that command.
    pub fn command_line(&self) -> anyhow::Result<Cli> {
        let is_possible = |flag: &String| POSSIBLE.split_whitespace().any(|it| it == flag);
        if let Some(other) = self.flags().find(|flag| !is_possible(flag)) {
            let fix = "the log says what is measured and how: leave it out, or begin anew";
            return Err(UsageError::flag("resume", &other, fix).into());
        }
        let Some(run) = run_of(&self.log) else {
            Log::<Header>::open_to_resume(&self.log)?;
            return Err(self.refused("it is no log of udpbench").into());
        };
        let typed = run.command_line.into_iter().skip(1);
        let typed = typed.filter(|word| !["-q", "--quiet"].contains(&word.as_str()));
        let program = std::iter::once("udpbench".to_owned());
        let mut words: Vec<OsString> = program.chain(typed).map(OsString::from).collect();
        // What follows are options of the sides of `ab`.
        let end = words.iter().position(|word| word == "--");
        let end = end.unwrap_or(words.len());
        let options = self.options.iter().filter(|word| *word != ACCEPT);
        words.splice(end..end, options.cloned());
        let command = overriding(Cli::command_for(&words));
        let mut cli = Cli::from_arg_matches(&command.try_get_matches_from(words)?)?;
        self.set(&mut cli)?;
        Ok(cli)
    }

    /// Returns the options that are typed now, without their values.
    fn flags(&self) -> impl Iterator<Item = String> {
        let words = self.options.iter().map(|word| word.to_string_lossy());
        let flags = words.filter(|word| word.starts_with('-') && word != "-");
        flags.map(|word| word.split('=').next().unwrap_or_default().to_owned())
    }

    /// Lets the command go on with the log.
    fn set(&self, cli: &mut Cli) -> Result<(), UsageError> {
        let log = Some(self.log.clone());
        match &mut cli.command {
            None => self.set_sweep(&mut cli.run),
            Some(Command::Run(args)) => self.set_sweep(args),
            Some(Command::Latency(args)) => self.set_sweep(&mut args.run),
            Some(Command::Find(args)) => self.set_search(&mut args.what.common_mut().output),
            Some(Command::Ab(args)) => {
                args.output.resume = log;
                self.set_form(&mut args.asked.form);
            }
            #[cfg(feature = "field")]
            Some(Command::Soak(args)) => args.resume = log,
            Some(Command::Wire(args)) => match &mut args.what {
                None => self.set_sweep(&mut args.run),
                Some(WireCommand::Latency(args)) => self.set_sweep(&mut args.run),
                Some(WireCommand::Find(args)) => {
                    self.set_search(&mut args.what.common_mut().output);
                }
                #[cfg(feature = "field")]
                Some(WireCommand::Soak(args)) => args.resume = log,
            },
            Some(_) => {
                let fix = "a listener has no rest to do: start another one with udpbench listen";
                return Err(self.refused(fix));
            }
        }
        Ok(())
    }

    fn set_search(&self, output: &mut FindOutputArgs) {
        output.resume = Some(self.log.clone());
        self.set_form(&mut output.form);
    }

    /// Answers are a table again, unless another form is typed now.
    fn set_form(&self, form: &mut ShapeArgs) {
        let is_typed = |flag: String| flag == "--format" || flag == "--decimal-comma";
        if !self.flags().any(is_typed) {
            *form = ShapeArgs::default();
        }
    }

    fn set_sweep(&self, run: &mut RunArgs) {
        // The log is of one sweep of the suite.
        run.suite = None;
        let output = &mut run.output;
        output.resume = Some(self.log.clone());
        output.accept_changes = self.accept_changes || self.flags().any(|flag| flag == ACCEPT);
        let is_beside = output.samples.take().is_none();
        let is_named = self.flags().any(|flag| flag == "-o" || flag == "--output");
        // The working directory may be another one, and a second pass has a number of its own.
        let typed = output.output.as_mut().filter(|path| !is_stdout(path));
        if let Some(path) = typed.filter(|_| is_beside && !is_named) {
            *path = self
                .log
                .with_extension(path.extension().unwrap_or_default());
        }
    }

    fn refused(&self, problem: &str) -> UsageError {
        UsageError::flag("resume", &self.log.display(), problem)
    }
}

/// Returns the command, in which a word that is typed again counts the last time.
fn overriding(command: clap::Command) -> clap::Command {
    let command = command.args_override_self(true);
    command.mut_subcommands(overriding)
}
