//! Engines on the command line: one by its name, a kind of them, or all.

use crate::data::Group;
use crate::engines::{self, Entry};
use crate::nearest;

/// An engine, or several of those that move datagrams and do not starve.
#[derive(Clone, Copy, Debug)]
pub enum EngineArg {
    /// `all`
    All,
    /// All of one kind.
    Group(Group),
    /// One of them.
    One(&'static Entry),
}

impl EngineArg {
    /// The engines that it names.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        engines::ALL.iter().filter(move |entry| match self {
            Self::All => entry.about.is_fair(),
            Self::Group(group) => entry.about.is_fair() && entry.about.group == group,
            Self::One(one) => *entry == one,
        })
    }
}

pub(super) fn engine(name: &str) -> Result<EngineArg, String> {
    if name == "all" {
        return Ok(EngineArg::All);
    }
    let mut groups = Group::NAMED.into_iter();
    if let Some(group) = groups.find(|group| group.to_string() == name) {
        return Ok(EngineArg::Group(group));
    }
    // As one would call the pair.
    let name = if name == "gso-gro" { "gro" } else { name };
    if let Some((_, reason)) = engines::NOT_BUILT
        .iter()
        .find(|(absent, _)| *absent == name)
    {
        return Err((*reason).to_owned());
    }
    engines::find(name).map(EngineArg::One).ok_or_else(|| {
        let groups = Group::NAMED.map(|group| group.to_string());
        let engines = engines::ALL.iter().map(|entry| entry.about.name);
        let names = groups.iter().map(String::as_str).chain(engines);
        format!(
            "no such engine; {}`udpbench engines` lists them; groups of them are {} and all",
            nearest::hint(name, names),
            groups.join(", ")
        )
    })
}
