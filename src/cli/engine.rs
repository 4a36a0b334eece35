//! Engines on the command line: one by its name, a kind of them, all, or a program.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::data::{EngineName, Group};
use crate::engines::{self, Entry, exec};
use crate::text::nearest;

/// Prefix of a program in the place of an engine.
pub(crate) const PROGRAM: &str = "exec:";

/// An engine, or several of those that move datagrams and do not starve.
#[derive(Clone, Copy, Debug)]
pub enum EngineArg {
    /// `all`
    All,
    /// Every engine of a group.
    Group(Group),
    /// One of them.
    One(&'static Entry),
}

impl EngineArg {
    /// The engines that it names.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        let one = match self {
            Self::One(entry) => Some(entry),
            Self::All | Self::Group(_) => None,
        };
        let several = engines::all().filter(move |entry| match self {
            Self::All => entry.about.is_fair(),
            Self::Group(group) => entry.about.is_fair() && entry.about.group == group,
            Self::One(_) => false,
        });
        one.into_iter().chain(several)
    }
}

/// Understands what `--engine` and the like take, and tells a shell what it may complete.
#[derive(Clone)]
pub(super) struct EngineParser;

impl TypedValueParser for EngineParser {
    type Value = EngineArg;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<EngineArg, Error> {
        let parse: fn(&str) -> Result<EngineArg, String> = engine;
        parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names().map(PossibleValue::new)))
    }
}

fn engine(name: &str) -> Result<EngineArg, String> {
    if let Some(program) = name.strip_prefix(PROGRAM) {
        return program_of(program).map(EngineArg::One);
    }
    if name == "all" {
        return Ok(EngineArg::All);
    }
    let mut groups = Group::NAMED.into_iter();
    if let Some(group) = groups.find(|group| group.name() == name) {
        return Ok(EngineArg::Group(group));
    }
    if name.contains('/') {
        return Err(format!(
            "no such engine; a program of your own is {PROGRAM}{name}"
        ));
    }
    // As one would call the pair.
    let name = if name == engines::PAIR { "gro" } else { name };
    if let Some(entry) = engines::find(name) {
        return Ok(EngineArg::One(entry));
    }
    Err(engines::why_not_built(name).map_or_else(
        || {
            format!(
                "no such engine; {}`udpbench engines` lists them; groups of them are {} and all",
                nearest::hint(name, names()),
                Group::NAMED.map(Group::name).join(", ")
            )
        },
        str::to_owned,
    ))
}

/// Returns the engine of `PATH` or `NAME=PATH`.
fn program_of(text: &str) -> Result<&'static Entry, String> {
    let named = text.split_once('=');
    let named = named.and_then(|(name, path)| Some((name.parse::<EngineName>().ok()?, path)));
    let (name, path) = match named {
        Some((name, path)) => (Some(name), path),
        None => (None, text),
    };
    if path.is_empty() {
        return Err("a program is missing: exec:PATH or exec:NAME=PATH".to_owned());
    }
    exec::add(name, Path::new(path))
}

/// Returns the names of engines, of groups, and `all`.
fn names() -> impl Iterator<Item = &'static str> {
    let engines = engines::all().map(|entry| entry.about.name);
    engines.chain(Group::NAMED.map(Group::name)).chain(["all"])
}
