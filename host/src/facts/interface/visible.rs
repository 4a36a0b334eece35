//! Finds the interfaces of this network namespace, and those below an interface.
//!
//! `/sys/class/net` shows the namespace of the process that mounted it, which need not be this one: under `nsenter -n`,
//! or in a container that has its host's `/sys` (sysbox #1041, netdata #5383). Netlink always answers for this one.

use super::NET;
use crate::sys::files::Root;
use crate::sys::interface_addresses::canonical;
use crate::sys::nic::{Link, links};

/// The interfaces, by what tells of them.
pub(super) enum Visible {
    /// Netlink and `/sys` show the same ones.
    Both(Vec<Link>),
    /// Netlink only: `/sys` shows another network namespace, or is not there.
    Netlink(Vec<Link>),
    /// `/sys` only: another root, or a sandbox that forbids netlink.
    Sys(Vec<String>),
}

impl Visible {
    pub(super) fn read(root: &Root) -> Self {
        let links = || {
            links()
                .ok()
                .filter(|links| root.is_real() && !links.is_empty())
        };
        let Some(first) = links() else {
            return Self::Sys(names_in_sys(root));
        };
        if is_shown(root, &first) {
            return Self::Both(first);
        }
        // One may have come or gone meanwhile.
        match links() {
            Some(again) if is_shown(root, &again) => Self::Both(again),
            again => Self::Netlink(again.unwrap_or(first)),
        }
    }

    /// Returns the names of all interfaces.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Both(links) | Self::Netlink(links) => {
                links.iter().map(|link| link.name.clone()).collect()
            }
            Self::Sys(names) => names.clone(),
        }
    }

    /// Returns the kernel's name of an interface, which may be typed as the label of an address (`eth0:1`) or as an
    /// alternative name. `None`: there is no such interface.
    pub(super) fn name(&self, typed: &str) -> Option<String> {
        let names = self.names();
        let is_one = |name: &String| names.contains(name);
        let typed_name = Some(typed.to_owned()).filter(is_one);
        typed_name.or_else(|| match self {
            Self::Sys(_) => None,
            Self::Both(_) | Self::Netlink(_) => canonical(typed).filter(is_one),
        })
    }

    /// Returns what netlink tells of an interface.
    pub(super) fn link(&self, name: &str) -> Option<&Link> {
        self.links().iter().find(|link| link.name == name)
    }

    /// Returns what netlink tells of all interfaces. Empty: nothing.
    pub(super) fn links(&self) -> &[Link] {
        match self {
            Self::Both(links) | Self::Netlink(links) => links,
            Self::Sys(_) => &[],
        }
    }

    /// Returns whether `/sys` shows the interfaces of this network namespace, as far as is known.
    pub(super) fn is_in_sys(&self) -> bool {
        !matches!(self, Self::Netlink(_))
    }
}

fn names_in_sys(root: &Root) -> Vec<String> {
    let mut names = root.names(NET, "");
    // The directory also has the file `bonding_masters`.
    names.retain(|name| root.path(NET).join(name).is_dir());
    names
}

/// Returns whether `/sys` shows these interfaces and no others: by name, number and hardware address.
fn is_shown(root: &Root, links: &[Link]) -> bool {
    let is_it = |link: &Link| {
        let file = |file: &str| format!("{NET}/{}/{file}", link.name);
        let bytes = link.address.iter().map(|byte| format!("{byte:02x}"));
        let address = bytes.collect::<Vec<_>>().join(":");
        root.number(file("ifindex")) == Some(link.index)
            && root.text(file("address")).unwrap_or_default() == address
    };
    names_in_sys(root).len() == links.len() && links.iter().all(is_it)
}
