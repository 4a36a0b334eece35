//! The flags of the parameters, from their table. Engines: one by its name, a kind of them, all, or a program.

use std::path::Path;

use clap::Args;

use crate::data::parameters::{attribute, parameters};
use crate::data::{EngineName, Group, SharingKind, Spread};
use crate::engines::{self, Entry, exec};
use crate::text::nearest;

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// The parameters that vary: a list of values each.
        #[derive(Args, Clone, Debug)]
        #[command(next_help_heading = "What")]
        pub struct ParameterArgs {
            /// Engines, such as std,tokio, or all (see udpbench engines)
            ///
            /// For both sides. exec:PROGRAM is a loop of yours, in any language (docs/OWN-LOOP.md); exec:NAME=PROGRAM
            /// gives it another name than that of its file. Groups of engines: gso-gro, blocking, batch, readiness,
            /// async, offload [default: std,mmsg,gso-gro,mio-level,mio-exhaustive,tokio, without those that cannot run
            /// the case]
            #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = engine)]
            pub engine: Option<Vec<EngineArg>>,

            /// Engines of the senders, each combined with every receiver
            #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = engine)]
            pub sender: Option<Vec<EngineArg>>,

            /// Engines of the receivers, each combined with every sender
            #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = engine)]
            pub receiver: Option<Vec<EngineArg>>,

            $(
                $(#[$block_doc])*
                #[arg(long, help_heading = attribute!(heading { $($of_block)* }), value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
                pub $block: Option<Vec<$block_type>>,
            )*
            $(
                $(#[$case_doc])*
                #[arg(long, help_heading = attribute!(heading { $($of_case)* }), value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
                pub $case: Option<Vec<$case_type>>,
            )*

            /// How receivers share the port: reuseport, reuseaddr, separate [default: reuseport]
            ///
            /// reuseaddr: the kernel gives all datagrams to one of them. separate: a port each
            #[arg(long, help_heading = "Sockets", value_name = "LIST", value_delimiter = ',')]
            pub sharing: Option<Vec<SharingKind>>,

            /// How reuseport assigns flows to receivers: even, hash, bpf, cpu [default: even]
            ///
            /// even: the same number each, verified. hash: by the kernel. bpf: by a BPF program. cpu: to the
            /// receiver on the CPU that handles the packet (SO_INCOMING_CPU)
            #[arg(long, help_heading = "Sockets", value_name = "LIST", value_delimiter = ',')]
            pub spread: Option<Vec<Spread>>,
        }
    };
}
parameters!(define);

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

/// Understands what `--engine` and the like take.
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
    let (name, path) = named.map_or((None, text), |(name, path)| (Some(name), path));
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
