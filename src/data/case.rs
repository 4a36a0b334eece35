//! A case, one point of the matrix, and what is measured side by side with it.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::parameters::{parameters, value};
use super::{EngineName, Sharing, Traits};

/// A value that does not go without saying, if it is one.
macro_rules! unusual {
    (one $value:expr,) => {
        None
    };
    (one $value:expr, $usual:expr) => {
        Some($value).filter(|value| *value != $usual)
    };
    (some $value:expr,) => {
        $value
    };
}

/// How a value stands in a label, where it does.
macro_rules! in_label {
    ($value:expr,) => {
        None
    };
    ($value:expr, $label:literal) => {
        $value.map(|value| format!($label, value))
    };
}

/// The value that a key gives, or that goes without saying.
macro_rules! from_key {
    (one $type:ty, $key:literal, $parts:ident,) => {
        $parts.iter().find_map(|part| parse::<$type>($key, part))?
    };
    (one $type:ty, $key:literal, $parts:ident, $usual:expr) => {
        $parts
            .iter()
            .find_map(|part| parse::<$type>($key, part))
            .unwrap_or($usual)
    };
    (some $type:ty, $key:literal, $parts:ident,) => {
        $parts.iter().find_map(|part| parse::<$type>($key, part))
    };
}

macro_rules! define {
    (
        block { $(
            $(#[$block_doc:meta])*
            $block:ident: $block_kind:ident $block_type:ty, flag $block_flag:literal, key $block_key:literal,
            usual [$($block_usual:expr)?], default $block_default:expr, applies $block_applies:expr;
        )* }
        case { $(
            $(#[$case_doc:meta])*
            $case:ident: $case_kind:ident $case_type:ty, flag $case_flag:literal, key $case_key:literal,
            label [$($case_label:literal)?], default $case_default:expr, applies $case_applies:expr;
        )* }
    ) => {
        /// A value for every parameter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Case {
            /// The engine of the senders.
            pub sender: EngineName,
            /// The engine of the receivers.
            pub receiver: EngineName,
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
            $($(#[$case_doc])* pub $case: value!($case_kind $case_type),)*
            /// How several receivers share the port. `None`: there is one.
            pub sharing: Option<Sharing>,
        }

        /// The parameters that the cases of one block share.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct BlockKey {
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
        }

        impl Case {
            /// The case of these engines in a block in which all else is as usual, on connected sockets.
            pub fn in_block(block: &BlockKey, sender: EngineName, receiver: EngineName) -> Self {
                Self {
                    sender,
                    receiver,
                    $($block: block.$block,)*
                    $($case: Default::default(),)*
                    sharing: (block.threads.receivers() > 1).then_some(Sharing::DEFAULT),
                }
            }

            /// What this case is held side by side with.
            pub fn block(&self) -> BlockKey {
                BlockKey { $($block: self.$block),* }
            }

            /// The case of that key (see [`Case::key`]). `None`: it is none.
            pub fn of_key(key: &str) -> Option<Self> {
                let (engines, parts) = key.split_once('/')?;
                let (sender, receiver) = engines.split_once(':')?;
                let parts: Vec<&str> = parts.split('/').collect();
                let block = BlockKey {
                    $($block: from_key!($block_kind $block_type, $block_key, parts, $($block_usual)?),)*
                };
                let usual = Self::in_block(&block, sender.parse().ok()?, receiver.parse().ok()?);
                let case = Self {
                    $($case: from_key!($case_kind $case_type, $case_key, parts,),)*
                    sharing: parts.iter().find_map(|part| part.parse().ok()).or(usual.sharing),
                    ..usual
                };
                (case.key() == key).then_some(case)
            }

            /// The values besides the connection that a case has of its own, as they stand in keys.
            fn own_in_key(&self) -> impl Iterator<Item = String> {
                let values = [$(
                    unusual!($case_kind self.$case,).map(|value: $case_type| format!($case_key, value)),
                )*];
                values.into_iter().flatten()
            }

            /// The same, as they stand in labels.
            fn own_in_label(&self) -> impl Iterator<Item = String> {
                let values = [$(in_label!(self.$case, $($case_label)?),)*];
                values.into_iter().flatten()
            }
        }

        impl BlockKey {
            /// The values that do not go without saying: all but threads, payload and ip.
            pub fn unusual(&self) -> impl Iterator<Item = Unusual> + use<> {
                let values = [$(
                    unusual!($block_kind self.$block, $($block_usual)?).map(|value: $block_type| Unusual {
                        name: stringify!($block),
                        value: value.to_string(),
                        key: format!($block_key, value),
                    }),
                )*];
                values.into_iter().flatten()
            }
        }
    };
}
parameters!(define);

/// A parameter whose value does not go without saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusual {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Both, as they stand in keys.
    pub key: String,
}

impl Display for Unusual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.value)
    }
}

/// What stands where `pattern` has its `{}`.
fn parse<T: FromStr>(pattern: &str, part: &str) -> Option<T> {
    let (before, after) = pattern.split_once("{}")?;
    let value = part.strip_prefix(before)?.strip_suffix(after)?;
    value.parse().ok()
}

impl Case {
    /// The stable text by which the results of two runs are matched. What is as usual goes without saying, so that
    /// keys stay the same when a parameter is added.
    pub fn key(&self) -> String {
        let mut key = format!(
            "{}:{}/{}t/{}B/{}/{}",
            self.sender, self.receiver, self.threads, self.payload, self.connection, self.ip
        );
        let of_block = self.block().unusual().map(|value| value.key);
        for part in self
            .own_in_key()
            .chain(of_block)
            .chain(self.unusual_sharing())
        {
            key += "/";
            key += &part;
        }
        key
    }

    /// Whether workers run the lanes of this engine, on its side of this case.
    pub fn runs_on_workers(&self, engine: &Traits) -> bool {
        self.tokio_workers.is_some() && engine.shares_workers
    }

    fn unusual_sharing(&self) -> Option<String> {
        let sharing = self
            .sharing
            .filter(|&sharing| sharing != Sharing::DEFAULT)?;
        Some(sharing.to_string())
    }

    /// The reference case of this case's block: `std` on connected sockets, flows spread evenly.
    pub fn reference(&self) -> Self {
        Self::in_block(&self.block(), EngineName::REFERENCE, EngineName::REFERENCE)
    }

    /// Whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// The engine's name, or both where they differ, and what else tells the case from those beside it, but for the
    /// connection: `gso>mmsg/32`, `tokio/w2`, `std/separate`.
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
pub(crate) mod tests {
    use super::*;
    use crate::data::{Batch, Buffer, Spread, Threads};

    pub(crate) fn case() -> Case {
        Case::of_key("std:std/2t/300B/connected/v4").expect("a case")
    }

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
            "std:std/4t/1B/connected/v4/separate",
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
        ] {
            assert_eq!(Case::of_key(key), None, "{key}");
        }
    }
}
