//! Property tests: no text makes the parser of board profiles panic.

use proptest::prelude::*;
use udpbench::data::Threads;
use udpbench::host::board::Board;
use udpbench::host::facts::Host;

use crate::common::hosts;

use super::{all, host, text_of, threads};

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_with_a_line_that_exists(text in any::<String>()) {
        parse_or_explain(&text)?;
    }

    #[test]
    fn any_mutilated_profile_is_parsed_or_refused_with_a_line_that_exists(
        board in proptest::sample::select(all()),
        edits in proptest::collection::vec(edit(), 1..6),
    ) {
        let mut text = text_of(&board.name);
        for edit in &edits {
            edit.apply(&mut text);
        }
        parse_or_explain(&text)?;
    }

    #[test]
    fn any_profile_places_any_number_of_threads_or_says_why_not(
        board in proptest::sample::select(all()),
        count in 1..=Threads::MAX,
        name in proptest::sample::select(hosts::names()),
    ) {
        places_or_explains(&board, threads(count), &host(&name))?;
    }
}

fn parse_or_explain(text: &str) -> Result<(), TestCaseError> {
    match Board::parse(text, "any.toml") {
        Ok(board) => places_or_explains(&board, threads(3), &host("rpi-4b")),
        Err(error) => {
            let message = error.to_string();
            let line = message
                .strip_prefix("any.toml, line ")
                .and_then(|rest| rest.split_once(": "))
                .and_then(|(line, _)| line.parse().ok());
            let lines = 1..=text.matches('\n').count() + 1;
            prop_assert!(line.is_some_and(|line| lines.contains(&line)), "{message}");
            Ok(())
        }
    }
}

fn places_or_explains(board: &Board, threads: Threads, host: &Host) -> Result<(), TestCaseError> {
    if let Some(cpus) = board.one_sided_cpus(threads) {
        prop_assert_eq!(cpus.len(), threads.count());
    }
    match board.placement(threads, host) {
        Ok(placed) => {
            prop_assert_eq!(placed.placement.cpus().count(), threads.count());
            for cpu in placed.placement.cpus() {
                prop_assert!(cpu.is_some_and(|cpu| host.has_cpu(cpu)), "{cpu:?}");
            }
        }
        Err(reason) => prop_assert!(reason.contains("at most"), "{reason}"),
    }
    Ok(())
}

/// Some characters of a text give way to others.
#[derive(Clone, Debug)]
struct Edit {
    at: proptest::sample::Index,
    removed: usize,
    inserted: String,
}

impl Edit {
    fn apply(&self, text: &mut String) {
        let mut borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        borders.push(text.len());
        let first = self.at.index(borders.len());
        let last = borders.len().min(first + self.removed + 1) - 1;
        text.replace_range(borders[first]..borders[last], &self.inserted);
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    // Parted by spaces: what means something in TOML, in a profile, or to nobody.
    const PIECES: &str = "\n \r\n \" \"\"\" ' [ ] [[ ]] { } = . # , \\u -1 0 99999999999999999999 1e999 nan \
        true ä \u{feff} \0 🐈 \nthreads=3\n \nsenders=[]\n \n[[loopback]]\n \n[detect]\n \nname.first=1\n \
        \n[[wire]]\n \n[cpus]\ncount=0\n \n[throttle]\n \ncpus=[9]\n";
    let piece =
        proptest::sample::select(PIECES.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned);
    let inserted = prop_oneof![3 => piece, 1 => "\\PC{0,6}"];
    let parts = (any::<proptest::sample::Index>(), 0..30_usize, inserted);
    parts.prop_map(|(at, removed, inserted)| Edit {
        at,
        removed,
        inserted,
    })
}
