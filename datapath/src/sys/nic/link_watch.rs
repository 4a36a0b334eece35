//! Notices that somebody sets an interface down, also if it is up again before anybody looks.

use std::collections::BTreeMap;
use std::io;

use super::link::{Link, links, parse};
use crate::sys::netlink::Netlink;

/// Watch on the interfaces of a network namespace. The kernel tells of each change (RTNLGRP_LINK, rtnetlink(7)).
#[derive(Debug)]
pub struct LinkWatch {
    news: Netlink,
    is_up: BTreeMap<String, bool>,
    set_downs: BTreeMap<String, u64>,
}

impl LinkWatch {
    /// Begins to watch the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// Returns the error of netlink: a sandbox may forbid it.
    pub fn start() -> io::Result<Self> {
        let mut watch = Self {
            news: Netlink::news_of_links()?,
            is_up: BTreeMap::new(),
            set_downs: BTreeMap::new(),
        };
        for link in links()? {
            watch.hear(link);
        }
        Ok(watch)
    }

    /// Returns how often each interface was set down since the start, by name.
    pub fn set_downs(&mut self) -> &BTreeMap<String, u64> {
        let mut heard = Vec::new();
        // What the kernel could not keep is not known, and all later news come.
        let _ = self.news.hear(|message| heard.push(parse(message)));
        for link in heard {
            self.hear(link);
        }
        &self.set_downs
    }

    fn hear(&mut self, link: Link) {
        let times = self.set_downs.entry(link.name.clone()).or_default();
        let was_up = self.is_up.insert(link.name, link.is_up);
        *times += u64::from(was_up == Some(true) && !link.is_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_up_again_was_set_down_and_one_without_carrier_was_not() {
        let mut watch = LinkWatch::start().expect("everybody may");
        assert_eq!(watch.set_downs().get("lo"), Some(&0));
        let mut tell = |name: &str, is_up| {
            watch.hear(Link {
                name: name.to_owned(),
                is_up,
                ..Link::default()
            });
        };
        for is_up in [true, false, false, true, true, false, true] {
            tell("wan9", is_up);
        }
        for is_up in [false, false, true, true] {
            tell("wan8", is_up);
        }
        let set_downs = watch.set_downs();
        assert_eq!((set_downs["wan9"], set_downs["wan8"]), (2, 0));
    }
}
