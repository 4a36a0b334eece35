//! Control messages of send and receive calls (`--cmsg`).

use super::bounded::text_form;

/// Kinds of control messages (cmsg(3)) that calls carry with each datagram: `none`, or kinds joined by `+`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cmsg(u8);

impl Cmsg {
    /// No control messages.
    pub const NONE: Self = Self(0);
    /// Local address: the source of a sent datagram, the destination of a received one (IP_PKTINFO, IPV6_PKTINFO).
    pub const PKTINFO: Self = Self(1);
    /// Traffic class with the ECN bits (IP_TOS, IPV6_TCLASS).
    pub const ECN: Self = Self(2);
    /// Arrival time of a received datagram (SO_TIMESTAMPNS).
    pub const TIMESTAMP: Self = Self(4);
    /// Kinds that senders write.
    pub const SENT: Self = Self::PKTINFO.and(Self::ECN);
    /// All kinds.
    pub const ALL: Self = Self::SENT.and(Self::TIMESTAMP);

    const NAMED: [(&'static str, Self); 3] = [
        ("pktinfo", Self::PKTINFO),
        ("ecn", Self::ECN),
        ("timestamp", Self::TIMESTAMP),
    ];

    /// Returns the kinds of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the kinds that both have.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether both have a kind.
    #[inline]
    pub const fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    /// Returns whether these kinds change a call of engines that can carry the kinds `sender` and `receiver`.
    pub const fn changes_calls(self, sender: Self, receiver: Self) -> bool {
        self.has(sender.common(Self::SENT).and(receiver))
    }

    const FIX: &str = "use none, or pktinfo, ecn and timestamp joined by +";

    fn parse(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::NONE);
        }
        text.split('+').try_fold(Self::NONE, |kinds, name| {
            let (_, kind) = Self::NAMED.iter().find(|(other, _)| *other == name)?;
            (!kinds.has(*kind)).then_some(kinds.and(*kind))
        })
    }

    fn text(self) -> String {
        let kinds = Self::NAMED.iter().filter(|(_, kind)| self.has(*kind));
        let names: Vec<&str> = kinds.map(|(name, _)| *name).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join("+")
        }
    }
}

text_form!(Cmsg);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_joined_in_any_order_and_shown_in_one() {
        for (text, shown) in [
            ("none", "none"),
            ("ecn", "ecn"),
            ("timestamp+pktinfo", "pktinfo+timestamp"),
            ("ecn+timestamp+pktinfo", "pktinfo+ecn+timestamp"),
        ] {
            let kinds: Cmsg = text.parse().expect("kinds");
            assert_eq!(kinds.to_string(), shown);
        }
        for text in ["", "+", "ecn+", "ecn+ecn", "none+ecn", "tos", "ECN"] {
            let fix = text.parse::<Cmsg>().expect_err(text);
            assert!(fix.contains("joined by +"), "{fix}");
        }
    }

    #[test]
    fn time_stamps_are_for_receivers_only() {
        let (all, none) = (Cmsg::ALL, Cmsg::NONE);
        assert!(!Cmsg::TIMESTAMP.changes_calls(all, none));
        assert!(Cmsg::TIMESTAMP.changes_calls(none, all));
        assert!(Cmsg::ECN.changes_calls(all, none) && Cmsg::ECN.changes_calls(none, all));
        assert!(!Cmsg::ALL.changes_calls(none, none) && !none.changes_calls(all, all));
    }
}
