//! The registry of all engines, in the order in which they are listed to users.
//!
//! A new engine is one file here, one line in [`BUILT_IN`], and its name in `data/engine.rs`. Tests, `udpbench engines`
//! and the plan use this list. `CONTRIBUTING.md` says which engine to start from. Engines of other crates are
//! [added](add) by their program.

mod entry;
pub mod exec;
mod gso;
#[cfg(feature = "tokio")]
mod lent_future;
pub mod linux;
mod mio;
mod mmsg;
mod nix;
mod null;
#[cfg(feature = "quinn-udp")]
mod quinn;
mod readiness;
mod selector;
mod socket2;
mod std;
pub mod stream;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
mod uring;
mod zerocopy;

use ::std::sync::OnceLock;

pub use self::entry::Entry;
use self::readiness::{Multiplex, Readiness};
use self::selector::{Edge, Epoll, Level, MioSelector, PollSet};
pub use self::stream::{BenchThread, Carrier};
use crate::data::{Case, EngineName, EngineProperties, Group};
use crate::engine::{Partner, Selection};

/// Engines of this package, in the order in which they are listed.
pub static BUILT_IN: &[Entry] = &[
    Entry::of::<null::Null>(),
    Entry::of::<std::Std>(),
    Entry::of::<socket2::Socket2>(),
    Entry::of::<nix::Nix>(),
    Entry::of::<std::Spin>().with_many::<std::Spin>(),
    Entry::of::<mmsg::Mmsg>(),
    #[cfg(all(feature = "uring", target_pointer_width = "64"))]
    Entry::of::<uring::Uring<linux::uring::SendRing>>()
        .with_many::<uring::Uring<linux::uring::SendRing>>(),
    #[cfg(all(feature = "uring", target_pointer_width = "64"))]
    Entry::of::<uring::Uring<linux::uring::ZeroCopySendRing>>(),
    Entry::of::<gso::Gso>(),
    Entry::of::<gso::Gro>(),
    Entry::of::<zerocopy::ZeroCopy>(),
    Entry::of::<Readiness<PollSet>>().with_many::<Multiplex<PollSet>>(),
    Entry::of::<Readiness<Epoll<Level>>>().with_many::<Multiplex<Epoll<Level>>>(),
    Entry::of::<Readiness<Epoll<Edge>>>().with_many::<Multiplex<Epoll<Edge>>>(),
    Entry::of::<mio::Mio<mio::Level>>().with_many::<Multiplex<MioSelector<mio::Level>>>(),
    Entry::of::<mio::Mio<mio::Exhaustive>>().with_many::<Multiplex<MioSelector<mio::Exhaustive>>>(),
    Entry::of::<mio::Mio<mio::Eager>>().with_many::<Multiplex<MioSelector<mio::Eager>>>(),
    Entry::of::<mio::Mio<mio::Once>>(),
    #[cfg(feature = "tokio")]
    Entry::of::<tokio::Tokio<tokio::EachOne>>().with_many::<tokio::Tokio<tokio::EachOne>>(),
    #[cfg(feature = "tokio")]
    Entry::of::<tokio::Tokio<tokio::Exhaustive>>().with_many::<tokio::Tokio<tokio::Exhaustive>>(),
    #[cfg(feature = "quinn-udp")]
    Entry::of::<quinn::QuinnUdp>(),
];

/// Name of `gso` with `gro` on the command line.
pub const PAIR: &str = "gso-gro";

/// Engines of the crate whose program this is.
static ADDED: OnceLock<&'static [Entry]> = OnceLock::new();

/// Transports of the crate whose program this is.
static ADDED_CARRIERS: OnceLock<&'static [Carrier]> = OnceLock::new();

/// Engines that this package may lack, each with the reason: see [`not_built`].
static NOT_BUILT: [(&str, &str); 6] = [
    (
        "message-io",
        "a program of its own: in the repository, type `cargo run --release --manifest-path \
         examples/message-io/Cargo.toml --` instead of `udpbench`",
    ),
    ("uring", NO_URING),
    ("uring-zerocopy", NO_URING),
    ("tokio", "built without the feature tokio"),
    ("tokio-exhaustive", "built without the feature tokio"),
    ("quinn-udp", "built without the feature quinn-udp"),
];
const NO_URING: &str = if cfg!(target_pointer_width = "64") {
    "built without the feature uring"
} else {
    "io_uring's library is for 64-bit targets only"
};

/// The engine of the senders and that of the receivers.
pub type Engines = (&'static Entry, &'static Entry);

/// Returns the engines of this build, without [programs](exec), in the order in which they are listed.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    let added = ADDED.get().copied().unwrap_or_default();
    BUILT_IN.iter().chain(added)
}

/// Adds engines of another crate to those of this package. Called once, before anything looks for an engine.
///
/// # Panics
/// Panics if a name is taken, if a partner does not exist, or if engines were added before.
pub fn add(engines: &'static [Entry]) {
    for (n, entry) in engines.iter().enumerate() {
        let is_known = BUILT_IN.iter().chain(&engines[..n]).any(|it| it == entry);
        let selects = Group::NAMED.map(Group::name).contains(&entry.about.name);
        let is_taken = is_known || selects || ["all", PAIR].contains(&entry.about.name);
        assert!(
            !is_taken,
            "{entry} is taken on the command line: choose another name for the engine"
        );
        if let Partner::ReceivedBy(partner) | Partner::SentBy(partner) = entry.about.partner {
            let mut all = BUILT_IN.iter().chain(engines);
            assert!(
                all.any(|it| it.about.name == partner),
                "the partner {partner} of the engine {entry} does not exist"
            );
        }
    }
    assert!(ADDED.set(engines).is_ok(), "engines are added once");
}

/// Adds support for transports, by engines of another crate or of this package. Called once, before anything looks for
/// a transport.
///
/// # Panics
/// Panics if an engine has a transport twice, or if transports were added before.
pub fn add_carriers(added: &'static [Carrier]) {
    let key = |it: &Carrier| (it.engine, it.transport);
    for (n, carrier) in added.iter().enumerate() {
        let mut others = stream::CARRIERS.iter().chain(&added[..n]);
        assert!(
            !others.any(|it| key(it) == key(carrier)),
            "{} goes over {} already",
            carrier.engine,
            carrier.transport
        );
    }
    let is_first = ADDED_CARRIERS.set(added).is_ok();
    assert!(is_first, "transports are added once");
}

/// Returns the support of all engines for transports other than UDP.
fn carriers() -> impl Iterator<Item = &'static Carrier> {
    let added = ADDED_CARRIERS.get().copied().unwrap_or_default();
    stream::CARRIERS.iter().chain(added)
}

/// Returns the known engines that this program lacks, each with the reason.
pub fn not_built() -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_added = |name| all().any(|entry| entry.about.name == name);
    let absent = NOT_BUILT.iter().copied();
    absent.filter(move |(name, _)| !is_added(*name))
}

/// Returns why this program lacks an engine. `None`: it has it, or there is no such engine.
pub fn why_not_built(name: &str) -> Option<&'static str> {
    let mut absent = not_built();
    absent.find(|(it, _)| *it == name).map(|(_, why)| why)
}

/// Returns the engine with this name, which may be a [program](exec).
pub fn find(name: &str) -> Option<&'static Entry> {
    find_compiled(name).or_else(|| exec::find(name))
}

/// Returns the engine with this name, unless it is a program.
fn find_compiled(name: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.about.name == name)
}

/// Returns the properties of an engine of this build, or of one that is known by its name alone.
pub fn properties(name: EngineName) -> Option<EngineProperties> {
    let entry = find_compiled(name.as_str());
    entry.map_or_else(|| EngineProperties::known(name), |it| Some(it.properties()))
}

/// Returns the engines of a case.
///
/// # Errors
/// Fails if this build lacks one of the engines. The message names the engine and the reason.
pub fn of(case: &Case) -> Result<Engines, String> {
    Ok((built(case.sender)?, built(case.receiver)?))
}

fn built(name: EngineName) -> Result<&'static Entry, String> {
    find(name.as_str()).ok_or_else(|| {
        let reason = why_not_built(name.as_str()).unwrap_or("there is no such engine");
        format!("the engine {name}: {reason}")
    })
}

/// Returns the engine that sends and receives in one thread for this pair: the one whose own pair is the same.
pub fn together(sender: &Entry, receiver: &Entry) -> Option<&'static Entry> {
    all().find(|entry| {
        let (sends, receives) = entry.pair();
        sends == sender && receives == receiver
    })
}

/// Returns the reference engine (see [`EngineName::REFERENCE`]).
///
/// # Panics
/// Never panics: a test ensures that the engine is registered.
pub fn reference() -> &'static Entry {
    built(EngineName::REFERENCE).expect("the reference engine is registered")
}

/// Returns the engines of the default sweep.
pub fn default_selection() -> impl Iterator<Item = &'static Entry> {
    all().filter(|entry| entry.about.selection == Selection::Default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_reference_is_among_them() {
        for (n, entry) in BUILT_IN.iter().enumerate() {
            assert!(
                BUILT_IN[..n].iter().all(|other| other != entry),
                "{entry} twice"
            );
        }
        assert_eq!(reference().name(), EngineName::REFERENCE);
    }

    #[test]
    #[should_panic(expected = "std goes over unix-dgram already")]
    fn no_engine_goes_over_a_transport_twice() {
        add_carriers(stream::CARRIERS);
    }

    #[test]
    fn every_engine_keeps_the_contract() {
        for entry in BUILT_IN.iter().filter(|it| it.about.moves_datagrams) {
            entry.keeps_contract.iter().for_each(|keeps| keeps());
        }
    }

    #[test]
    fn what_is_known_by_name_alone_is_so() {
        for entry in BUILT_IN {
            let known = EngineProperties::known(entry.name());
            let properties = Some(entry.properties());
            assert_eq!(known, properties, "{entry} in datapath/src/data/engine.rs");
        }
    }
}
