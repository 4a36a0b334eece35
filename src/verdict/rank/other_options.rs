//! Options of the cases that a command to measure elsewhere does not name.

use std::collections::BTreeSet;

use crate::data::parameters::{attribute, parameters};
use crate::data::{Batch, Case, Sharing, SharingKind, Spread};

/// Options that the command has, and those for one place only.
const NAMED: [&str; 5] = [
    "--threads",
    "--payload",
    "--address",
    "--workload",
    "--busy-poll",
];

/// Expands to whether a case has a value other than the default. A `required` parameter always has one.
macro_rules! is_set {
    (required $value:expr) => {
        false
    };
    (optional $value:expr) => {
        $value.is_some()
    };
}

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// Returns the options that a case has beside its engines, threads and payload.
        fn options(case: &Case) -> impl Iterator<Item = &'static str> {
            let case = Case {
                batch: case.batch.filter(|batch| *batch != Batch::DEFAULT),
                ..*case
            };
            let spread = case.sharing.and_then(Sharing::spread);
            let all = [
                $((attribute!(flag { $($of_block)* }), is_set!($block_kind case.$block)),)*
                $((attribute!(flag { $($of_case)* }), is_set!($case_kind case.$case)),)*
                ("--sharing", case.sharing.is_some_and(|it| it.kind() != SharingKind::Reuseport)),
                ("--spread", spread.is_some_and(|spread| spread != Spread::Even)),
            ];
            let set = all.into_iter().filter(|(flag, is_set)| *is_set && !NAMED.contains(flag));
            set.map(|(flag, _)| flag)
        }
    };
}
parameters!(define);

/// Returns the options of these cases beside their engines, threads and payloads, each once.
pub(super) fn of<'a>(keys: impl Iterator<Item = &'a str>) -> BTreeSet<&'static str> {
    let cases = keys.filter_map(Case::of_key);
    cases
        .flat_map(|case| options(&case).collect::<Vec<_>>())
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
        let named = |keys: &[&str]| Vec::from_iter(of(keys.iter().copied()));
        assert!(named(&keys[..1]).is_empty());
        assert_eq!(named(&keys[..2]), ["--train"]);
        assert_eq!(
            named(&keys),
            ["--batch", "--cmsg", "--spread", "--train", "--transport"]
        );
    }
}
