//! Rules as they are typed.

use std::fmt;
use std::time::Duration;

use udpbench::text::duration;

use super::datagram::Datagram;
use super::numbers::Numbers;
use super::rate::Rate;

/// Rules as they were typed, for both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// The datagrams that count.
    pub(crate) counted: Vec<Counted>,
    /// Rules for the counted datagrams.
    pub(crate) rules: Vec<Rule>,
}

/// A condition that a datagram meets, or rules do not see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Its payload has so many bytes.
    Size(Numbers),
    /// One of its two ports is one of these.
    Port(Numbers),
}

/// One rule: datagrams, and what is done to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// As it was typed.
    pub(crate) text: String,
    /// Directions for which it holds.
    pub(crate) direction: Direction,
    /// Its action.
    pub(crate) action: Action,
}

/// From the first end to the second, and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// a>b
    NearToFar,
    /// b>a
    FarToNear,
    /// Both, each with numbers of its own.
    Both,
}

/// An action on datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Something, to some of them.
    OnMatch(Which, Effect),
    /// Datagrams above the rate wait in a queue.
    Limit {
        /// The rate.
        rate: Rate,
        /// Maximum number of waiting datagrams.
        queue: usize,
        /// Maximum number that pass at once after a pause.
        burst: u32,
    },
    /// Datagrams above the rate are dropped.
    Police {
        /// The rate.
        rate: Rate,
        /// Maximum number that pass at once after a pause.
        burst: u32,
    },
}

/// Effect on the datagrams that a rule selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// They do not arrive.
    Drop,
    /// They arrive twice.
    Duplicate,
    /// They go to a closed port.
    Misdirect,
    /// They arrive that much later.
    Delay(Duration),
    /// They arrive after so many others.
    Reorder(u64),
}

/// To which datagrams it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Each.
    All,
    /// Datagrams with these numbers, from 1.
    Numbered(Numbers),
    /// Each k-th.
    Every(u64),
    /// Datagrams with this many bytes of payload.
    Size(Numbers),
    /// The first one, and each that comes after so long without any.
    Silence(Duration),
}

impl Which {
    /// Returns whether the rule selects the `number`-th datagram, which came `silence` after the one before.
    pub(crate) fn holds(&self, datagram: &Datagram, number: u64, silence: Duration) -> bool {
        match self {
            Self::All => true,
            Self::Numbered(numbers) => numbers.contains(number),
            Self::Every(k) => number % k == 0,
            Self::Size(sizes) => sizes.contains(datagram.payload_bytes.into()),
            Self::Silence(least) => silence >= *least,
        }
    }
}

impl Counted {
    /// Returns whether the datagram meets it.
    pub(crate) fn holds(&self, datagram: &Datagram) -> bool {
        match self {
            Self::Size(sizes) => sizes.contains(datagram.payload_bytes.into()),
            Self::Port(ports) => {
                let both = [datagram.source_port, datagram.destination_port];
                both.into_iter().any(|port| ports.contains(port.into()))
            }
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NearToFar => "a>b",
            Self::FarToNear => "b>a",
            Self::Both => "both",
        })
    }
}

impl Rules {
    /// Reads rules, which semicolons separate.
    ///
    /// # Errors
    /// The rule, what is wrong with it, and the fix.
    pub(crate) fn parse(text: &str) -> Result<Self, (String, String)> {
        let mut rules = Self::default();
        for one in text.split(';').map(str::trim).filter(|one| !one.is_empty()) {
            let words: Vec<&str> = one.split_whitespace().collect();
            let read = match words.as_slice() {
                ["count", rest @ ..] => counted(rest).map(|counted| rules.counted.push(counted)),
                words => rule(one, words).map(|rule| rules.rules.push(rule)),
            };
            read.map_err(|problem| (one.to_owned(), problem))?;
        }
        Ok(rules)
    }
}

fn counted(words: &[&str]) -> Result<Counted, String> {
    match words {
        ["size", sizes] => Numbers::parse(sizes).map(Counted::Size),
        ["port", ports] => Numbers::parse(ports).map(Counted::Port),
        _ => Err("write count size LIST or count port LIST".to_owned()),
    }
}

fn rule(text: &str, words: &[&str]) -> Result<Rule, String> {
    let (direction, words) = match words {
        ["a>b", rest @ ..] => (Direction::NearToFar, rest),
        ["b>a", rest @ ..] => (Direction::FarToNear, rest),
        words => (Direction::Both, words),
    };
    Ok(Rule {
        text: text.to_owned(),
        direction,
        action: action(words)?,
    })
}

fn action(words: &[&str]) -> Result<Action, String> {
    const ACTIONS: &str = "drop, duplicate, misdirect, delay, reorder, limit, police";
    match words {
        ["drop", of @ ..] => to(of, Effect::Drop),
        ["duplicate", of @ ..] => to(of, Effect::Duplicate),
        ["misdirect", of @ ..] => to(of, Effect::Misdirect),
        ["delay", of @ .., "by", time] => to(of, Effect::Delay(duration::parse(time)?)),
        ["delay", ..] => Err("write delay WHICH by TIME, such as delay all by 2ms".to_owned()),
        ["reorder", of @ .., "by", others] => to(of, Effect::Reorder(number(others)?)),
        ["reorder", ..] => Err("write reorder WHICH by K, such as reorder 4 by 3".to_owned()),
        ["limit", rate, options @ ..] => {
            let [queue, burst] = pairs(options, ["queue", "burst"])?;
            Ok(Action::Limit {
                rate: Rate::parse(rate)?,
                queue: small(queue.unwrap_or(100))?,
                burst: small(burst.unwrap_or(1))?,
            })
        }
        ["police", rate, options @ ..] => {
            let [burst] = pairs(options, ["burst"])?;
            Ok(Action::Police {
                rate: Rate::parse(rate)?,
                burst: small(burst.unwrap_or(1))?,
            })
        }
        ["limit" | "police"] => Err("write a rate behind it, such as 10000/s".to_owned()),
        [] => Err(format!("write one of {ACTIONS}")),
        [other, ..] => Err(format!("{other:?} is no action: write one of {ACTIONS}")),
    }
}

fn to(which: &[&str], effect: Effect) -> Result<Action, String> {
    Ok(Action::OnMatch(self::which(which)?, effect))
}

fn which(words: &[&str]) -> Result<Which, String> {
    match words {
        ["all"] => Ok(Which::All),
        ["every", k] => number(k).map(Which::Every),
        ["size", sizes] => Numbers::parse(sizes).map(Which::Size),
        ["silence", time] => duration::parse(time).map(Which::Silence),
        [numbers] => Numbers::parse(numbers).map(Which::Numbered),
        _ => Err("say which: all, 3,5-7,100-, every K, size LIST or silence TIME".to_owned()),
    }
}

/// The values of options, a name and a number each.
fn pairs<const N: usize>(words: &[&str], names: [&str; N]) -> Result<[Option<u64>; N], String> {
    let mut values = [None; N];
    for pair in words.chunks(2) {
        let place = names.iter().position(|name| *name == pair[0]);
        let unknown = || {
            format!(
                "{:?} is not known here: write {}",
                pair[0],
                names.join(" or ")
            )
        };
        let place = place.ok_or_else(unknown)?;
        let value = pair
            .get(1)
            .ok_or_else(|| format!("write a number behind {}", pair[0]))?;
        values[place] = Some(number(value)?);
    }
    Ok(values)
}

fn number(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{text:?} is not a number from 1: write one"))
}

fn small<T: TryFrom<u64>>(number: u64) -> Result<T, String> {
    let most = 1_000_000;
    let small = T::try_from(number).ok().filter(|_| number <= most);
    small.ok_or_else(|| format!("{number} is too many: write at most {most}"))
}

#[cfg(test)]
mod tests;
