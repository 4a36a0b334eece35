//! Text forms of a case: its key, which matches results of two runs, and its label in tables.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::parameters::{attribute, parameters};
use super::{BlockKey, Case, Sharing};

/// Expands to the value if it differs from the usual one, else `None`.
macro_rules! unusual {
    (required $value:expr, { flag $flag:literal, heading $of:literal, key $key:literal, usual [$usual:expr], $($rest:tt)* }) => {
        Some($value).filter(|value| *value != $usual)
    };
    (required $value:expr, { $($rest:tt)* }) => {
        None
    };
    (optional $value:expr, { $($rest:tt)* }) => {
        $value
    };
}

/// Expands to the text of a value in labels, if the parameter has one.
macro_rules! in_label {
    ($value:expr, { flag $flag:literal, heading $of:literal, key $key:literal, label [$label:literal], $($rest:tt)* }) => {
        $value.map(|value| format!($label, value))
    };
    ($value:expr, { $($rest:tt)* }) => {
        None
    };
}

/// Expands to the value that a part of the key holds, or else to the usual one.
macro_rules! from_key {
    (required $type:ty, $parts:expr, { flag $flag:literal, heading $of:literal, key $key:literal, usual [$usual:expr], $($rest:tt)* }) => {
        find::<$type>($key, $parts).unwrap_or($usual)
    };
    (required $type:ty, $parts:expr, { flag $flag:literal, heading $of:literal, key $key:literal, $($rest:tt)* }) => {
        find::<$type>($key, $parts)?
    };
    (optional $type:ty, $parts:expr, { flag $flag:literal, heading $of:literal, key $key:literal, $($rest:tt)* }) => {
        find::<$type>($key, $parts)
    };
}

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        impl Case {
            /// Parses a key (see [`Case::key`]). `None`: not a valid key.
            pub fn of_key(key: &str) -> Option<Self> {
                let (engines, parts) = key.split_once('/')?;
                let (sender, receiver) = engines.split_once(':')?;
                let parts: Vec<&str> = parts.split('/').collect();
                let block = BlockKey {
                    $($block: from_key!($block_kind $block_type, &parts, { $($of_block)* }),)*
                };
                let usual = Self::in_block(&block, sender.parse().ok()?, receiver.parse().ok()?);
                let case = Self {
                    $($case: from_key!($case_kind $case_type, &parts, { $($of_case)* }),)*
                    sharing: find::<Sharing>("{}", &parts).or(usual.sharing),
                    ..usual
                };
                (case.key() == key).then_some(case)
            }

            /// Returns the values that differ from the usual ones, without those of the block and the connection.
            pub fn own_unusual(&self) -> impl Iterator<Item = Unusual> + use<> {
                let values = [$(
                    unusual!($case_kind self.$case, { $($of_case)* }).map(|value: $case_type| Unusual {
                        name: stringify!($case),
                        value: value.to_string(),
                        key: format!(attribute!(key { $($of_case)* }), value),
                    }),
                )*];
                values.into_iter().flatten()
            }

            /// Returns the texts for labels of this case's values, without the block's parameters and the connection.
            fn own_in_label(&self) -> impl Iterator<Item = String> {
                let values = [$(in_label!(self.$case, { $($of_case)* }),)*];
                values.into_iter().flatten()
            }
        }

        impl BlockKey {
            /// Returns the values that differ from the usual ones. Threads, payload and ip are never among them.
            pub fn unusual(&self) -> impl Iterator<Item = Unusual> + use<> {
                let values = [$(
                    unusual!($block_kind self.$block, { $($of_block)* }).map(|value: $block_type| Unusual {
                        name: stringify!($block),
                        value: value.to_string(),
                        key: format!(attribute!(key { $($of_block)* }), value),
                    }),
                )*];
                values.into_iter().flatten()
            }
        }
    };
}
parameters!(define);

/// A parameter whose value differs from the usual one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusual {
    /// Name of the parameter.
    pub name: &'static str,
    /// Value, as text.
    pub value: String,
    /// Text of the value in keys.
    pub key: String,
}

impl Display for Unusual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.value)
    }
}

/// Parses the value from the first part that matches the pattern. `{}` in the pattern stands for the value.
fn find<T: FromStr>(pattern: &str, parts: &[&str]) -> Option<T> {
    let (before, after) = pattern.split_once("{}")?;
    let value = |part: &&str| part.strip_prefix(before)?.strip_suffix(after)?.parse().ok();
    parts.iter().find_map(value)
}

impl Case {
    /// Returns the stable text that matches results of two runs. It omits parameters that are absent or have their
    /// default, so that keys stay the same when a parameter is added.
    pub fn key(&self) -> String {
        let mut key = format!(
            "{}:{}/{}t/{}B/{}/{}",
            self.sender, self.receiver, self.threads, self.payload, self.connection, self.ip
        );
        let unusual = self.own_unusual().chain(self.block().unusual());
        for part in unusual.map(|value| value.key).chain(self.unusual_sharing()) {
            key += "/";
            key += &part;
        }
        key
    }

    /// Returns the engine's name (both if they differ) and the parameters that distinguish the case within its block,
    /// without the connection: `gso>mmsg/32`, `tokio/w2`, `std/separate`.
    pub fn label(&self) -> String {
        let engines = if self.sender == self.receiver {
            self.sender.to_string()
        } else {
            format!("{}>{}", self.sender, self.receiver)
        };
        let parts = std::iter::once(engines)
            .chain(self.own_in_label())
            .chain(self.unusual_sharing());
        parts.collect::<Vec<String>>().join("/")
    }

    fn unusual_sharing(&self) -> Option<String> {
        let sharing = self
            .sharing
            .filter(|&sharing| sharing != Sharing::DEFAULT)?;
        Some(sharing.to_string())
    }
}

impl Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads.is_alone() { "" } else { "s" };
        let (threads, payload, ip) = (self.threads, self.payload, self.ip);
        write!(f, "{threads} thread{plural}, {payload} B, {ip}")?;
        self.unusual().try_for_each(|value| write!(f, ", {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::case::tests::case;
    use crate::data::{Batch, Buffer, Spread, Threads};

    #[test]
    fn a_key_names_what_is_not_as_usual() {
        assert_eq!(case().key(), "std:std/2t/300B/connected/v4");
        let batched = Case {
            batch: Some(Batch::DEFAULT),
            ..case()
        };
        assert_eq!(batched.key(), "std:std/2t/300B/connected/v4/batch32");
        let on_workers = Case {
            tokio_workers: 2.try_into().ok(),
            ..case()
        };
        assert_eq!(on_workers.key(), "std:std/2t/300B/connected/v4/workers2");
        assert_eq!(on_workers.label(), "std/w2");
        let special = Case {
            threads: threads(4),
            rcvbuf: buffer(106_496),
            sndbuf: Some(buffer(4096)),
            sharing: Some(Sharing::Reuseport(Spread::Bpf)),
            ..batched
        };
        assert_eq!(
            special.key(),
            "std:std/4t/300B/connected/v4/batch32/rcvbuf106496/sndbuf4096/bpf"
        );
        assert_eq!(special.label(), "std/32/bpf");
        let usual = Case {
            sharing: Some(Sharing::DEFAULT),
            ..case()
        };
        assert_eq!(usual.key(), case().key());
    }

    fn threads(count: u16) -> Threads {
        count.try_into().expect("in range")
    }

    fn buffer(bytes: u32) -> Buffer {
        bytes.try_into().expect("in range")
    }

    #[test]
    fn a_case_is_known_by_its_key() {
        for key in [
            "std:std/2t/300B/connected/v4",
            "gso:mmsg/4t/0B/unconnected/v6/batch32/workers2/rcvbuf106496/sndbuf4096/bpf",
            "mmsg:mmsg/2t/1B/connected/v4/batch32/spin/tos-ef",
            "std:std/4t/1B/connected/v4/separate",
            "std:std/2t/300B/connected/v4/rate20000/poisson",
            "std:std/2t/300B/connected/v4/rate1500kbit",
        ] {
            assert_eq!(Case::of_key(key).expect(key).key(), key);
        }
        for key in [
            "",
            "std",
            "std:std/2t/300B/connected",
            "std:std/2t/300B/connected/v4/batch",
            "std:std/2t/300B/connected/v4/rcvbuf4194304",
            "std:std/2t/300B/v4/connected",
            "std:std/0t/300B/connected/v4",
            "std:std/2t/300B/connected/v4/rate1000Mbit",
        ] {
            assert_eq!(Case::of_key(key), None, "{key}");
        }
    }
}
