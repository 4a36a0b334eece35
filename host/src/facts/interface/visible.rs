//! Finds the interfaces of this network namespace, and those below an interface.
//!
//! `/sys/class/net` shows the namespace of the process that mounted it, which need not be this one: under `nsenter -n`,
//! or in a container that has its host's `/sys` (sysbox #1041, netdata #5383). Netlink always answers for this one.

use super::NET;
use crate::sys::files::Root;
use crate::sys::interface_addresses::canonical;
use crate::sys::nic::{Link, links};

/// The interfaces, by what tells of them.
pub(super) struct Visible {
    /// Names of all interfaces.
    pub(super) names: Vec<String>,
    /// What netlink tells of all interfaces. Empty: nothing, as below another root or in a sandbox that forbids
    /// netlink.
    pub(super) links: Vec<Link>,
    /// True if `/sys` shows these interfaces, as far as is known. Otherwise it shows another network namespace, or is
    /// not there.
    pub(super) is_in_sys: bool,
}

impl Visible {
    pub(super) fn read(root: &Root) -> Self {
        let told = || links().ok().filter(|_| root.is_real()).unwrap_or_default();
        let mut links = told();
        if !is_shown(root, &links) {
            // One may have come or gone meanwhile.
            links = told();
        }
        let names = links.iter().map(|link| link.name.clone());
        Self {
            names: if links.is_empty() {
                names_in_sys(root)
            } else {
                names.collect()
            },
            is_in_sys: links.is_empty() || is_shown(root, &links),
            links,
        }
    }

    /// Returns the kernel's name of an interface, which may be typed as the label of an address (`eth0:1`) or as an
    /// alternative name. `None`: there is no such interface.
    pub(super) fn name(&self, typed: &str) -> Option<String> {
        let is_one = |name: &String| self.names.contains(name);
        let typed_name = Some(typed.to_owned()).filter(is_one);
        typed_name
            .or_else(|| canonical(typed).filter(|name| !self.links.is_empty() && is_one(name)))
    }

    /// Returns what netlink tells of an interface.
    pub(super) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
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
