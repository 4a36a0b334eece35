//! Sections of logs other than sweeps.

use maud::{Markup, html};

#[cfg(feature = "field")]
use super::field;
use super::summary::{begun, command, marked, reach};
use super::{searches, sides};
use crate::experiment::register::ExperimentResults;
use crate::host::facts::{Host, InterfaceKind};
use crate::plan::WireLink;
use crate::results::row::{Environment, Network};
use crate::session::Logged;

impl ExperimentResults {
    /// Returns what was measured where, and what was found.
    pub(super) fn found(&self) -> Markup {
        let run = match self {
            Self::Search(record) => &record.header().run,
            Self::Sides(it) => &it.header().run,
            #[cfg(feature = "field")]
            Self::Field(log) => log.run(),
        };
        let found = match self {
            Self::Search(record) => searches::found(record),
            Self::Sides(it) => sides::found(&it.record),
            #[cfg(feature = "field")]
            Self::Field(log) => field::found(log),
        };
        html! {
            p { (begun(run, &self.machine())) }
            (command(run))
            @if let Some(network) = self.network() { p .chips { span { (reach(network)) } } }
            (found)
        }
    }

    /// Returns the beginning of the id of the section, and its heading.
    pub(super) fn title(&self) -> (&'static str, &'static str) {
        match self {
            Self::Search(record) => ("search", searches::title(record)),
            Self::Sides(_) => ("ab", "Did this change help"),
            #[cfg(feature = "field")]
            Self::Field(log) => field::title(log),
        }
    }

    /// Returns the machine. Between two hosts, both.
    pub(super) fn machine(&self) -> String {
        match self {
            Self::Search(record) => {
                let local = real(&record.header().environment);
                match &record.header().wire {
                    None => local,
                    Some(wire) => format!("{local} to {}", model(&wire.host, &wire.board)),
                }
            }
            Self::Sides(it) => real(&it.header().environment),
            #[cfg(feature = "field")]
            Self::Field(log) => field::machine(log),
        }
    }

    /// Returns what is between the ends. `None`: not known, as the other end is no udpbench.
    fn network(&self) -> Option<Network> {
        let wire = match self {
            Self::Search(record) => record.header().wire.as_ref(),
            Self::Sides(_) => None,
            #[cfg(feature = "field")]
            Self::Field(log) => return field::network(log),
        };
        let is_veth = |link: &WireLink| link.local.interface.kind == InterfaceKind::Veth;
        Some(match wire {
            None => Network::Loopback,
            Some(wire) if wire.links.iter().any(is_veth) => Network::Veth,
            Some(_) => Network::Wire,
        })
    }
}

fn model(host: &Host, board: &str) -> String {
    let model = host.model.as_deref();
    model.unwrap_or(board).to_owned()
}

fn real(Environment { host, board, .. }: &Environment) -> String {
    let by = host.virtualization.as_deref().unwrap_or_default();
    marked(model(host, board), by)
}
