//! Options of the cases that a command to measure elsewhere needs, beside engines, threads and payloads.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::parameters::{attribute, parameters};
use crate::data::{Batch, Case, Direction, Sharing, SharingKind, Spread};

/// Options that the command has anyway, and those for one place only.
const NAMED: [&str; 6] = [
    "--threads",
    "--payload",
    "--address",
    "--loopback",
    "--workload",
    "--busy-poll",
];

/// Values of `--direction` that `wire` measures without the option.
const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

/// Options other than the default.
#[derive(Clone, Debug, Default)]
pub(super) struct OtherOptions {
    /// Options whose values can be typed, as a list: no case has the default.
    pub same: BTreeMap<&'static str, String>,
    /// Options with several values, of which one is the default.
    pub varied: BTreeSet<&'static str>,
}

/// An option, with its value in a case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::verdict) struct OptionOfCase {
    /// The option, such as `--rcvbuf`.
    pub flag: &'static str,
    /// The value as it is typed. `None`: the default, for which nothing is typed, or it does not apply.
    pub value: Option<String>,
    /// True if the value need not be typed.
    pub is_default: bool,
}

/// Expands to an option. A `required` parameter always has a value.
macro_rules! option {
    ($flag:expr, required $value:expr, $default:expr) => {
        OptionOfCase {
            flag: $flag,
            value: Some($value.to_string()),
            is_default: $value == $default,
        }
    };
    ($flag:expr, optional $value:expr, $default:expr) => {
        OptionOfCase {
            flag: $flag,
            value: $value.as_ref().map(ToString::to_string),
            is_default: $value.is_none(),
        }
    };
}

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// Returns each option of a case.
        pub(in crate::verdict) fn options_of_case(case: &Case) -> Vec<OptionOfCase> {
            let case = Case {
                batch: case.batch.filter(|batch| *batch != Batch::DEFAULT),
                ..*case
            };
            let plain = Case::of_key("std:std/2t/26B/connected/v4").unwrap_or(case);
            let sharing = case.sharing.map(Sharing::kind);
            let sharing = sharing.filter(|kind| *kind != SharingKind::Reuseport);
            let spread = case.sharing.and_then(Sharing::spread);
            let spread = spread.filter(|spread| *spread != Spread::Even);
            vec![
                $(option!(attribute!(flag { $($of_block)* }), $block_kind case.$block, plain.$block),)*
                $(option!(attribute!(flag { $($of_case)* }), $case_kind case.$case, plain.$case),)*
                option!("--sharing", optional sharing, plain),
                option!("--spread", optional spread, plain),
            ]
        }
    };
}
parameters!(define);

/// Options that some engines cannot obey. They will not the next time either.
const OF_SOME: [&str; 3] = ["--batch", "--cmsg", "--train"];

impl OtherOptions {
    /// Returns the options of these cases.
    pub(super) fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut values: BTreeMap<&str, BTreeSet<Option<String>>> = BTreeMap::new();
        let mut of_pairs = BTreeMap::<_, BTreeSet<Option<String>>>::new();
        for case in cases {
            for option in options_of_case(case) {
                let value = option.value.filter(|_| !option.is_default);
                let of_pair = of_pairs.entry((option.flag, case.sender, case.receiver));
                of_pair.or_default().insert(value.clone());
                values.entry(option.flag).or_default().insert(value);
            }
        }
        let mixed = of_pairs.into_iter().filter(|(_, values)| values.len() > 1);
        let mixed: BTreeSet<&str> = mixed.map(|((flag, ..), _)| flag).collect();
        let mut all = Self::default();
        let directions = DIRECTIONS.map(|direction| Some(direction.to_string()));
        let directions = BTreeSet::from(directions);
        for (flag, values) in values.into_iter().filter(|(flag, _)| !NAMED.contains(flag)) {
            let is_default = flag == "--direction" && values == directions;
            let given: Vec<String> = values.iter().flatten().cloned().collect();
            match (values.len(), given.len()) {
                _ if is_default => {}
                (1, 0) => {}
                (values, given_values)
                    if values == given_values
                        || OF_SOME.contains(&flag) && !mixed.contains(flag) =>
                {
                    _ = all.same.insert(flag, given.join(","));
                }
                _ => _ = all.varied.insert(flag),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_that_the_command_lacks() {
        let keys = [
            "std:std/2t/1460B/connected/v4",
            "gso:mmsg/2t/1460B/connected/v4/batch32/segments8",
            "mmsg:mmsg/4t/1460B/connected/v4/batch8/cmsg-ecn/tcp/cpu",
        ];
        let named = |keys: &[&str]| {
            let cases: Vec<Case> = keys.iter().filter_map(|key| Case::of_key(key)).collect();
            let all = OtherOptions::of(cases.iter());
            let same = all
                .same
                .into_iter()
                .map(|(flag, value)| format!("{flag} {value}"));
            let varied = all.varied.into_iter().map(str::to_owned);
            same.chain(varied).collect::<Vec<_>>()
        };
        assert!(named(&keys[..1]).is_empty());
        assert_eq!(named(&keys[..2]), ["--train 8"]);
        assert_eq!(named(&keys[1..2]), ["--train 8"]);
        let all = [
            "--batch 8",
            "--cmsg ecn",
            "--train 8",
            "--spread",
            "--transport",
        ];
        assert_eq!(named(&keys), all);
        let up = "std:std/2t/26B/connected/v4/up";
        let down = "std:std/2t/26B/connected/v4/down";
        let both = "std:std/2t/26B/connected/v4/both";
        assert_eq!(named(&[up, down]), [""; 0], "wire measures both");
        assert_eq!(named(&[up]), ["--direction up"]);
        assert_eq!(named(&[up, both]), ["--direction both,up"]);
        let buffers = "std:std/2t/1460B/unconnected/v6/rcvbuf20000";
        let all = ["--connection unconnected", "--ip v6", "--rcvbuf 20000"];
        assert_eq!(named(&[buffers]), all);
    }
}
