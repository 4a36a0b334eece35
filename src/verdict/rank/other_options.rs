//! Options of the cases that a command to measure elsewhere needs, beside engines, threads and payloads.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{Batch, Case, Connection, Direction, Ip, Sharing, SharingKind, Spread};

/// Parameters whose options the command has anyway, and those for one place only.
const NAMED: [&str; 4] = ["address", "loopback", "workload", "busy_poll"];

/// Values of `--direction` that `wire` measures without the option.
const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

/// Returns the options of which some of these cases have another value than the default, each with its values as a list
/// to type. Most defaults cannot be typed: beside another value, they are not measured again.
pub(super) fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Vec<String> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for case in cases {
        let unusual = case.block().unusual().chain(case.own_unusual());
        for value in unusual.filter(|value| !NAMED.contains(&value.name)) {
            let all = values.entry(value.name).or_default();
            all.insert(value.value);
        }
        let sharing = case.sharing.map(Sharing::kind);
        let spread = case.sharing.and_then(Sharing::spread);
        let others = [
            ("connection", Some(case.connection.to_string())),
            ("ip", Some(case.ip.to_string())),
            ("sharing", sharing.map(|it| it.to_string())),
            ("spread", spread.map(|it| it.to_string())),
        ];
        for (name, value) in others {
            values.entry(name).or_default().extend(value);
        }
    }
    let usual = [
        ("batch", vec![Batch::DEFAULT.to_string()]),
        ("connection", vec![Connection::Connected.to_string()]),
        ("direction", DIRECTIONS.map(|it| it.to_string()).to_vec()),
        ("ip", vec![Ip::V4.to_string()]),
        ("sharing", vec![SharingKind::Reuseport.to_string()]),
        ("spread", vec![Spread::Even.to_string()]),
    ];
    for (name, usual) in usual {
        values.retain(|other, values| *other != name || *values != usual.iter().cloned().collect());
    }
    let typed = values.into_iter().filter(|(_, values)| !values.is_empty());
    let typed = typed.map(|(name, values)| {
        let values: Vec<String> = values.into_iter().collect();
        format!("--{} {}", name.replace('_', "-"), values.join(","))
    });
    typed.collect()
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
            of(cases.iter())
        };
        assert!(named(&keys[..1]).is_empty());
        assert_eq!(named(&keys[..2]), ["--train 8"]);
        assert_eq!(named(&keys[1..2]), ["--train 8"]);
        let all = [
            "--batch 32,8",
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
