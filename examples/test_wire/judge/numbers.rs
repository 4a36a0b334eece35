//! Lists of numbers, as rules have them: `3,5-7,100-`.

use std::fmt;

/// Numbers in ascending order, as ranges that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers(Vec<(u64, u64)>);

/// The most ranges that [`Numbers::push`] keeps: every second datagram of a long flood would fill the memory.
const MOST_RANGES: usize = 1000;

impl Numbers {
    /// Reads a list. `5-` is 5 and all above.
    ///
    /// # Errors
    /// What is wrong with it, and the fix.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let ranges: Result<Vec<_>, _> = text.split(',').map(range).collect();
        let mut ranges = ranges?;
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Ok(Self(merged))
    }

    /// Returns whether the number is one of them.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|&(_, last)| last < number);
        self.0.get(at).is_some_and(|&(first, _)| first <= number)
    }

    /// Appends a number above all others. There is an end to how many ranges are kept: whether it was.
    pub(crate) fn push(&mut self, number: u64) -> bool {
        match self.0.last_mut() {
            Some(before) if before.1.checked_add(1) == Some(number) => before.1 = number,
            _ => {
                if self.0.len() == MOST_RANGES {
                    return false;
                }
                self.0.push((number, number));
            }
        }
        true
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, &(first, last)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match last {
                last if last == first => write!(f, "{comma}{first}")?,
                u64::MAX => write!(f, "{comma}{first}-")?,
                last => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| {
        let problem = || format!("{text:?} is not a number: write a list such as 3,5-7,100-");
        text.parse::<u64>().map_err(|_| problem())
    };
    let (first, last) = match text.split_once('-') {
        None => (number(text)?, number(text)?),
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
    };
    if first > last {
        return Err(format!(
            "{text:?} ends before it begins: write {last}-{first}"
        ));
    }
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_has_numbers_ranges_and_an_open_end() {
        let numbers = Numbers::parse("100-,7,3,5-6").expect("a list");
        assert_eq!(numbers.to_string(), "3,5-7,100-");
        let held: Vec<u64> = (0..9).filter(|&n| numbers.contains(n)).collect();
        assert_eq!(held, [3, 5, 6, 7]);
        assert!(numbers.contains(100) && numbers.contains(u64::MAX) && !numbers.contains(99));
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_fix() {
        for (text, problem) in [
            ("", "\"\" is not a number: write a list such as 3,5-7,100-"),
            (
                "3,x",
                "\"x\" is not a number: write a list such as 3,5-7,100-",
            ),
            ("7-5", "\"7-5\" ends before it begins: write 5-7"),
        ] {
            assert_eq!(Numbers::parse(text), Err(problem.to_owned()));
        }
    }

    #[test]
    fn there_is_an_end_to_the_ranges_that_are_kept() {
        let mut numbers = Numbers::default();
        let kept = (0..5000).filter(|n| numbers.push(n * 2)).count();
        assert_eq!(kept, MOST_RANGES);
    }

    proptest! {
        #[test]
        fn what_is_pushed_is_contained_and_reads_back(members: std::collections::BTreeSet<u8>) {
            let mut numbers = Numbers::default();
            let all_kept = members.iter().all(|&member| numbers.push(member.into()));
            prop_assume!(all_kept && !members.is_empty());
            for number in 0..=u8::MAX {
                prop_assert_eq!(numbers.contains(number.into()), members.contains(&number));
            }
            prop_assert_eq!(Numbers::parse(&numbers.to_string()), Ok(numbers));
        }
    }
}
