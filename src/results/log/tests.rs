//! Tests that a log is read as it was written, and that nothing is believed that was changed.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::*;
use crate::experiment::{ab, find};
use crate::log::{first_line, plain};
use crate::results::export::table;
use crate::results::files::Results;

/// Damaged logs of the test.
const DAMAGED: u32 = 5000;
/// Lines of each undamaged one, at most.
const LINES: usize = 12;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn a_checksum_is_the_crc_32_of_the_lines_so_far() {
    let lines = line::lines([r#"{"a":1}"#, r#"{"b":{}}"#]);
    let expected = "{\"a\":1,\"crc\":\"a702fc6e\"}\n{\"b\":{},\"crc\":\"0888edf6\"}\n";
    assert_eq!(String::from_utf8_lossy(&lines), expected);
}

#[test]
fn the_seeds_of_the_fuzzer_are_logs_of_today() {
    let seeds = fs::read_dir(project("fuzz/seeds/raw")).expect("a folder");
    for seed in seeds.flatten() {
        let seed = fs::read(seed.path()).expect("readable");
        let lines = line::lines(seed.split(|&byte| byte == b'\n'));
        let log = Log::parse("seed.jsonl", &lines).expect("a log");
        let results = Results::from_log(log).expect("in order");
        assert!(!table::draw(&results.rows, 60).is_empty());
    }
}

/// Reads a log of a kind and returns its lines without their checksums.
type Reader = fn(&[u8]) -> Result<Vec<String>, String>;

fn read<K: Kind>(bytes: &[u8]) -> Result<Vec<String>, String> {
    let log = Log::<K>::parse("any.jsonl", bytes).map_err(|error| error.to_string())?;
    let first = first_line(&log.header).map(|first| first.to_string());
    let events = log.lines.iter().map(serde_json::to_string);
    let lines = std::iter::once(first).chain(events);
    Ok(lines.collect::<Result<_, _>>().expect("JSON"))
}

/// The beginning of a real log.
struct Original {
    read: Reader,
    lines: Vec<Vec<u8>>,
    /// As they are read.
    events: Vec<String>,
}

impl Original {
    fn open<K: Kind>(path: &str) -> Self {
        let bytes = fs::read(project(path)).expect("readable");
        let mut text = Vec::new();
        let read_it = plain(&bytes[..]).and_then(|mut it| it.read_to_end(&mut text));
        read_it.expect("readable");
        let lines = text.split_inclusive(|&byte| byte == b'\n').take(LINES);
        let lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        Self {
            read: read::<K>,
            events: read::<K>(&lines.concat()).expect(path),
            lines,
        }
    }

    /// Asserts that these bytes are read up to the last whole line if they are the beginning of this log, and else are
    /// refused with the first other line.
    fn assert_read(&self, bytes: &[u8], damage: &str) {
        let lines = bytes.split_inclusive(|&byte| byte == b'\n');
        let whole: Vec<&[u8]> = lines.filter(|line| line.ends_with(b"\n")).collect();
        let alike = whole
            .iter()
            .zip(&self.lines)
            .take_while(|(a, b)| *a == b)
            .count();
        match (self.read)(bytes) {
            Ok(events) => {
                assert_eq!(alike, whole.len(), "{damage}: believed");
                assert!(events == self.events[..alike], "{damage}: misread");
            }
            Err(error) => {
                let line = format!("any.jsonl, line {}: ", alike + 1);
                assert!(error.starts_with(&line), "{damage}: {line}{error}");
                let is_refused = alike < whole.len() || alike == 0;
                assert!(is_refused, "{damage}: {error}");
                assert!(!error.contains(char::is_control), "{damage}: {error:?}");
            }
        }
    }
}

/// Returns a log with one kind of damage, and its name.
fn damaged(dice: &mut Rng, log: &Original, other: &Original) -> (&'static str, Vec<u8>) {
    let whole = log.lines.concat();
    let mut lines = log.lines.clone();
    let mut bytes = whole.clone();
    let (line, place) = (dice.usize(..lines.len()), dice.usize(..whole.len()));
    let end = (place + dice.usize(1..200)).min(whole.len());
    let of_lines = |name, lines: Vec<Vec<u8>>| (name, lines.concat());
    match dice.u32(0..12) {
        0 => ("cut", whole[..place].to_vec()),
        1 => {
            for _ in 0..dice.u32(1..=8) {
                bytes[dice.usize(..whole.len())] ^= 1 << dice.u32(0..8);
            }
            ("flipped bits", bytes)
        }
        2 => ("joined", [whole, other.lines.concat()].concat()),
        3 => ("joined with itself", whole.repeat(2)),
        4 => {
            lines.insert(line, log.lines[line].clone());
            of_lines("a doubled line", lines)
        }
        5 => {
            lines.swap(line, dice.usize(..log.lines.len()));
            of_lines("two lines in each other's place", lines)
        }
        6 => {
            lines.remove(line);
            of_lines("a line is missing", lines)
        }
        7 => {
            lines[line].clone_from(&other.lines[dice.usize(..other.lines.len())]);
            of_lines("a line of another log", lines)
        }
        8 => {
            const POISON: [&[u8]; 8] = [
                b"\x1b[2J",
                b"\0",
                b"\xff\xfe",
                b"\xc3",
                b"\r",
                b"\n",
                b"\xef\xbb\xbf",
                b"\x07\"",
            ];
            bytes.splice(
                place..place,
                dice.choice(POISON).unwrap_or_default().iter().copied(),
            );
            ("poisoned text", bytes)
        }
        9 => {
            let digits = (0..whole.len()).filter(|&at| whole[at].is_ascii_digit());
            let digits: Vec<usize> = digits.collect();
            bytes[digits[dice.usize(..digits.len())]] = b'0' + dice.u8(0..10);
            ("another digit", bytes)
        }
        10 => {
            bytes[place..end].fill(0);
            ("zeros, as a power cut may leave them", bytes)
        }
        _ => {
            bytes.drain(place..end);
            ("some bytes are missing", bytes)
        }
    }
}

#[test]
fn nothing_is_believed_that_was_changed() {
    let originals = [
        Original::open::<Header>("results/2026-11-28-x86-vm/first-answer.jsonl.gz"),
        Original::open::<Header>("tests/fixtures/logs/every-engine.jsonl"),
        Original::open::<ab::header::AbHeader>(
            "results/2026-11-28-x86-vm-languages/c-and-std.jsonl.gz",
        ),
        Original::open::<find::header::FindHeader>("tests/fixtures/logs/find.jsonl"),
        #[cfg(feature = "field")]
        Original::open::<udpbench_field::soak::log::SoakHeader>("tests/fixtures/logs/soak.jsonl"),
        #[cfg(feature = "field")]
        Original::open::<udpbench_field::listen::log::ListenHeader>(
            "tests/fixtures/logs/listen.jsonl",
        ),
    ];
    let mut dice = Rng::with_seed(53);
    for n in 0..DAMAGED {
        let log = &originals[dice.usize(..originals.len())];
        let other = &originals[dice.usize(..originals.len())];
        let (damage, bytes) = damaged(&mut dice, log, other);
        log.assert_read(&bytes, &format!("{n}: {damage}"));
    }
}
