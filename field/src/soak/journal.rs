//! The log of a soak on a disk that may fill up: lines that cannot be written wait in memory until there is room.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use anyhow::anyhow;

use crate::log::LogWriter;
use crate::text::digits::counted;

/// Bytes that wait for room, at most: a day of a soak with few events.
const MOST_WAITING: usize = 8 << 20;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// A file that takes JSON objects as whole lines.
pub(super) trait Lines {
    /// Appends an object, or leaves the file as it was.
    fn append(&mut self, object: &[u8]) -> anyhow::Result<()>;
    /// Flushes what was appended.
    fn sync(&self) -> anyhow::Result<()>;
}

impl Lines for LogWriter {
    fn append(&mut self, object: &[u8]) -> anyhow::Result<()> {
        self.append(object)
    }

    fn sync(&self) -> anyhow::Result<()> {
        self.sync()
    }
}

/// A log, and its lines that wait for room.
#[derive(Debug)]
pub(super) struct Journal<F> {
    file: F,
    /// Name of the file for people, as a word of a shell.
    name: String,
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// Lines for which memory had no room either.
    omitted: usize,
    /// Reason why nothing can be written now, and the time of the next try.
    trouble: Option<(String, Instant)>,
    /// Another program moved or removed the file, which is written all the same.
    displaced: Option<anyhow::Error>,
    /// What happened since [`Self::news`].
    news: Option<String>,
}

impl<F: Lines> Journal<F> {
    /// Returns the journal of a file that has been opened.
    pub(super) fn new(file: F, name: String) -> Self {
        Self {
            file,
            name,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            omitted: 0,
            trouble: None,
            displaced: None,
            news: None,
        }
    }

    /// Appends a JSON object as a line. One that the system refuses to write waits.
    pub(super) fn append(&mut self, line: Vec<u8>) {
        if self.waiting_bytes + line.len() <= MOST_WAITING {
            self.waiting_bytes += line.len();
            self.waiting.push_back(line);
        } else {
            self.omitted += 1;
        }
        self.look();
    }

    /// Flushes what was appended.
    pub(super) fn sync(&mut self) {
        if self.trouble.is_none() && self.displaced.is_none() {
            let synced = self.file.sync();
            self.check(synced);
        }
    }

    /// Writes lines that wait, if it is time to try.
    pub(super) fn look(&mut self) {
        let is_early = |(_, next): &(_, Instant)| Instant::now() < *next;
        if !self.trouble.as_ref().is_some_and(is_early) {
            self.try_to_write();
        }
    }

    /// Tries for the last time.
    ///
    /// # Errors
    /// Fails if lines are missing from the file, or if it is not where it was.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        self.try_to_write();
        self.sync();
        let name = &self.name;
        let why = match &self.trouble {
            Some((why, _)) => why,
            None if self.omitted > 0 => "it was full for too long",
            None => return self.displaced.take().map_or(Ok(()), Err),
        };
        Err(anyhow!(
            "{name} lacks {}: {why}. The summary has all events. Make room there (df -h {name}), or use another disk \
             next time: -o /OTHER/soak.jsonl",
            counted(self.waiting.len() + self.omitted, "line")
        ))
    }

    /// Returns what is to be told to the user, once.
    pub(super) fn news(&mut self) -> Option<String> {
        self.news.take()
    }

    fn try_to_write(&mut self) {
        while let Some(line) = self.waiting.front() {
            let written = self.file.append(line);
            if !self.check(written) {
                return;
            }
            self.waiting_bytes -= self.waiting.pop_front().map_or(0, |line| line.len());
        }
        if self.trouble.take().is_some() {
            let missing = match self.omitted {
                0 => "nothing".to_owned(),
                omitted => counted(omitted, "line"),
            };
            self.news = Some(format!(
                "{} is written again; {missing} of it is missing",
                self.name
            ));
        }
    }

    /// Returns whether it is done, and notes why if not.
    fn check(&mut self, done: anyhow::Result<()>) -> bool {
        let Err(error) = done else { return true };
        let name = &self.name;
        if let Some(why) = error.downcast_ref::<io::Error>() {
            if self.trouble.is_none() {
                self.news = Some(format!(
                    "cannot write {name}: {why}. The soak goes on and shows its events here; up to {} MiB of lines wait \
                     until there is room: df -h {name}",
                    MOST_WAITING >> 20
                ));
            }
            self.trouble = Some((why.to_string(), Instant::now() + PAUSE));
        } else {
            self.news = Some(format!(
                "{error}. The soak goes on and shows its events here"
            ));
            self.displaced = Some(error);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use anyhow::Context;

    use super::*;

    /// A disk that has room for some bytes.
    #[derive(Debug, Default)]
    struct Disk {
        room: Rc<Cell<usize>>,
        written: Vec<u8>,
    }

    impl Lines for Disk {
        fn append(&mut self, line: &[u8]) -> anyhow::Result<()> {
            if line.len() > self.room.get() {
                let full = Err(io::Error::from(io::ErrorKind::StorageFull));
                return full.context("cannot write to soak.jsonl");
            }
            self.room.set(self.room.get() - line.len());
            self.written.extend(line);
            Ok(())
        }

        fn sync(&self) -> anyhow::Result<()> {
            Ok(())
        }
    }

    fn journal(room: usize) -> (Journal<Disk>, Rc<Cell<usize>>) {
        let disk = Disk::default();
        let left = Rc::clone(&disk.room);
        left.set(room);
        (Journal::new(disk, "soak.jsonl".to_owned()), left)
    }

    #[test]
    fn lines_wait_for_room_and_are_written_in_their_order() {
        let (mut journal, room) = journal(4);
        for line in ["one\n", "two\n", "three\n"] {
            journal.append(line.into());
        }
        let news = journal.news().expect("it is said");
        assert!(news.starts_with("cannot write soak.jsonl: "), "{news}");
        assert_eq!(journal.news(), None, "once");
        assert_eq!(journal.file.written, b"one\n");
        room.set(100);
        journal.end().expect("there is room");
        assert_eq!(journal.file.written, b"one\ntwo\nthree\n");
        let news = journal.news();
        let again = "soak.jsonl is written again; nothing of it is missing";
        assert_eq!(news.as_deref(), Some(again));
    }

    #[test]
    fn an_end_without_room_says_what_is_missing_and_what_to_do() {
        let (mut journal, _) = journal(0);
        journal.append(vec![b'a'; MOST_WAITING]);
        journal.append(vec![b'b'; 1]);
        let error = journal.end().expect_err("the disk is full").to_string();
        assert!(
            error.starts_with("soak.jsonl lacks 2 lines: ") && error.contains("df -h soak.jsonl"),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_another_program_took_is_written_all_the_same_and_fails_in_the_end() {
        #[derive(Debug)]
        struct Taken;
        impl Lines for Taken {
            fn append(&mut self, _: &[u8]) -> anyhow::Result<()> {
                Ok(())
            }

            fn sync(&self) -> anyhow::Result<()> {
                Err(anyhow!("another program moved it"))
            }
        }
        let mut journal = Journal::new(Taken, String::new());
        journal.append(b"one\n".to_vec());
        journal.sync();
        journal.sync();
        assert!(journal.news().is_some());
        assert_eq!(journal.news(), None, "once");
        journal.end().expect_err("it is gone");
    }
}
