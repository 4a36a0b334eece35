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

/// Returns the options of which some of these cases have another value than the default, each with its values as a list
/// to type. Some defaults cannot be typed: beside another value, they are not measured again.
pub(super) fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> BTreeMap<&'static str, String> {
    let mut typed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut varied = BTreeSet::new();
    for option in cases.flat_map(options_of_case) {
        if !option.is_default {
            varied.insert(option.flag);
        }
        typed.entry(option.flag).or_default().extend(option.value);
    }
    let directions = BTreeSet::from(DIRECTIONS.map(|direction| direction.to_string()));
    let is_needed = |flag: &str, values: &BTreeSet<String>| {
        let is_default = flag == "--direction" && *values == directions;
        varied.contains(flag) && !is_default && !NAMED.contains(&flag)
    };
    let typed = typed.into_iter();
    let typed = typed.filter(|(flag, values)| is_needed(flag, values));
    typed
        .map(|(flag, values)| (flag, Vec::from_iter(values).join(",")))
        .collect()
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
            let all = of(cases.iter()).into_iter();
            let all = all.map(|(flag, value)| format!("{flag} {value}"));
            all.collect::<Vec<String>>()
        };
        assert!(named(&keys[..1]).is_empty());
        assert_eq!(named(&keys[..2]), ["--train 8"]);
        assert_eq!(named(&keys[1..2]), ["--train 8"]);
        let all = [
            "--batch 8",
            "--cmsg ecn",
            "--spread cpu",
            "--train 8",
            "--transport tcp",
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
