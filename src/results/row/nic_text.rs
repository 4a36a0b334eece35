//! Network interfaces of a row, in words.

use std::fmt;

use crate::host::facts::{Interface, InterfaceKind};
use crate::term::escape;

/// Network interface of a row, in words. Empty: all threads are on one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NicText {
    pub(super) text: String,
    /// True if it is one end of a veth(4).
    pub is_veth: bool,
    /// Speed of its link, in Mb/s. `None`: unknown, or a veth(4), which has none.
    pub speed_mbps: Option<u32>,
}

impl NicText {
    /// Returns the words for an interface.
    pub(crate) fn of(interface: &Interface) -> Self {
        let is_veth = interface.kind == InterfaceKind::Veth;
        Self {
            text: escape::line(&format!("{}: {interface}", interface.name)).into_owned(),
            is_veth,
            speed_mbps: interface.speed_mbps.filter(|_| !is_veth),
        }
    }
}

impl fmt::Display for NicText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
