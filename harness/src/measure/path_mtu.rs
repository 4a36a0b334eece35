//! How long a datagram may be to get to the other host whole.

use std::time::Duration;

use anyhow::Context;

use super::far::Far;
use super::local::Local;
use super::site::{Across, SiteBrief, Sites};
use super::token::{LENGTH, Token};
use crate::data::Case;
use crate::plan::{Between, WireLink};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;

/// Each length is tried so often before it counts as too long.
const TRIES: usize = 3;

/// The longest payload that comes through whole from one end to the other, from there if `is_down`, of those up to what both interfaces take: nearly always that, and then
/// one probe says so. `None`: not even short ones come through, or the interfaces do not say what they take.
///
/// # Errors
/// When a site is gone, or it was called off.
pub fn longest_payload(
    link: &WireLink,
    is_down: bool,
    far: &mut Far,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<u32>> {
    let Some(most) = link.most_of_interfaces() else {
        return Ok(None);
    };
    let way = if is_down { "down" } else { "up" };
    let key = format!("std:std/2t/{LENGTH}B/connected/{}/{way}", link.ip());
    let case = Case::of_key(&key).context("a case")?;
    let root = Root::default();
    let mut local = Local::new(&root);
    let mut sites = far.beside(&mut local, &case)?;
    let mut whole = |bytes: u32| -> anyhow::Result<bool> {
        let whole = gets_through(bytes, &case, link, &mut sites, interrupt);
        sites.parts().for_each(|(_, site)| site.abandon());
        whole
    };
    if whole(most)? {
        return Ok(Some(most));
    }
    // Below it, IPv6 would not work at all (RFC 8200), and hardly anything else.
    let (mut least, mut most) = (LENGTH.try_into().unwrap_or(u32::MAX), most);
    if !whole(least)? {
        return Ok(None);
    }
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        if whole(middle)? {
            least = middle;
        } else {
            most = middle;
        }
    }
    Ok(Some(least))
}

fn gets_through(
    bytes: u32,
    case: &Case,
    link: &WireLink,
    sites: &mut Sites,
    interrupt: &Interrupt,
) -> anyhow::Result<bool> {
    let token = Token::random().context("cannot read /dev/urandom")?;
    let (here, there) = (link.here.address, link.there.address);
    let (receivers, senders) = if case.sends_from_there() {
        (here, there)
    } else {
        (there, here)
    };
    let between = Between { receivers, senders };
    for (part, site) in sites.parts() {
        let across = Across {
            probe_bytes: Some(bytes as usize),
            ..super::across(between, part, token)
        };
        site.open(&SiteBrief {
            across: Some(across),
            ..SiteBrief::of(*case, part)
        })?;
    }
    let peers = sites.receivers().bind()?;
    let peer = *peers.first().context("no receiver is bound")?;
    let source = sites.senders().aim(peer)?;
    for _ in 0..TRIES {
        interrupt.sleep(Duration::ZERO)?;
        // Longer than the interface takes: the kernel says so at once.
        if sites.senders().probe(source)?.is_some() {
            return Ok(false);
        }
        if sites.receivers().arrived(source)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
