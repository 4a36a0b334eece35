//! The log of a soak on a disk that may fill up: lines that cannot be written wait in memory until there is room.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use crate::results::log::LogWriter;
use crate::term::shell;
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
    /// Goes on in another file with the same lines, if somebody moved or removed this one. Returns its name and what to
    /// tell. `None`: it cannot.
    fn rescue(&mut self) -> Option<(String, String)> {
        None
    }
}

impl Lines for LogWriter {
    fn append(&mut self, object: &[u8]) -> anyhow::Result<()> {
        self.append(object)
    }

    fn sync(&self) -> anyhow::Result<()> {
        self.sync()
    }

    fn rescue(&mut self) -> Option<(String, String)> {
        let displaced = LogWriter::rescue(self)?;
        let path = displaced.is_now_at?;
        self.go_on_at(&path).ok()?;
        Some((shell::path(&path), displaced.said))
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
            news: None,
        }
    }

    /// Appends a JSON object as a line. One that the system refuses to write waits.
    ///
    /// # Errors
    /// Fails if the file is not ours any more.
    pub(super) fn append(&mut self, line: Vec<u8>) -> anyhow::Result<()> {
        if self.waiting_bytes + line.len() <= MOST_WAITING {
            self.waiting_bytes += line.len();
            self.waiting.push_back(line);
        } else {
            self.omitted += 1;
        }
        self.look()
    }

    /// Flushes what was appended.
    ///
    /// # Errors
    /// Fails as [`Self::append`] does.
    pub(super) fn sync(&mut self) -> anyhow::Result<()> {
        if self.trouble.is_some() {
            return Ok(());
        }
        let synced = self.file.sync();
        self.check(synced)
    }

    /// Writes lines that wait, if it is time to try.
    ///
    /// # Errors
    /// Fails as [`Self::append`] does.
    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        let is_early = |(_, next): &(_, Instant)| Instant::now() < *next;
        if self.trouble.as_ref().is_some_and(is_early) {
            return Ok(());
        }
        self.try_to_write()
    }

    /// Tries for the last time.
    ///
    /// # Errors
    /// Fails as [`Self::append`] does, and if lines are missing from the file.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        self.try_to_write()?;
        self.sync()?;
        let (missing, name) = (self.missing(), &self.name);
        let why = match &self.trouble {
            Some((why, _)) => why,
            None if self.omitted > 0 => "it was full for too long",
            None => return Ok(()),
        };
        Err(anyhow::anyhow!(
            "{name} lacks {}: {why}. The summary has all events. Make room there (df -h {name}), or use another disk \
             next time: -o /OTHER/soak.jsonl",
            counted(missing, "line")
        ))
    }

    /// Returns what the user has to know, once.
    pub(super) fn news(&mut self) -> Option<String> {
        self.news.take()
    }

    fn missing(&self) -> usize {
        self.waiting.len() + self.omitted
    }

    fn try_to_write(&mut self) -> anyhow::Result<()> {
        while let Some(line) = self.waiting.front() {
            let written = self.file.append(line);
            let is_written = written.is_ok();
            self.check(written)?;
            if !is_written {
                return Ok(());
            }
            self.waiting_bytes -= self.waiting.pop_front().map_or(0, |line| line.len());
        }
        if self.trouble.take().is_some() {
            let lines = counted(self.omitted, "line");
            let missing = if self.omitted > 0 { &lines } else { "nothing" };
            self.news = Some(format!(
                "{} is written again; {missing} of it is missing",
                self.name
            ));
        }
        Ok(())
    }

    /// Notes a refusal of the system. Any other error is returned.
    fn check(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        let Err(error) = done else { return Ok(()) };
        let Some(why) = error.downcast_ref::<io::Error>() else {
            let Some((name, rescued)) = self.file.rescue() else {
                return Err(error);
            };
            self.name = name;
            self.news = Some(format!("{error}: {rescued}. The soak goes on there"));
            return Ok(());
        };
        let name = &self.name;
        if self.trouble.is_none() {
            self.news = Some(format!(
                "cannot write {name}: {why}. The soak goes on and shows its events here; up to {} MiB of lines wait \
                 until there is room: df -h {name}",
                MOST_WAITING >> 20
            ));
        }
        self.trouble = Some((why.to_string(), Instant::now() + PAUSE));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use anyhow::{Context, anyhow};

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
            journal.append(line.into()).expect("they wait");
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
        journal.append(vec![b'a'; MOST_WAITING]).expect("it waits");
        journal.append(vec![b'b'; 1]).expect("it is left out");
        let error = journal.end().expect_err("the disk is full").to_string();
        assert!(
            error.starts_with("soak.jsonl lacks 2 lines: ") && error.contains("df -h soak.jsonl"),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_somebody_removes_or_moves_is_written_again_with_all_its_lines() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("soak.jsonl");
        let file = LogWriter::create("--output", &path).expect("a new file");
        let mut journal = Journal::new(file, "soak.jsonl".to_owned());
        journal
            .append(br#"{"n":1}"#.to_vec())
            .expect("it is written");
        std::fs::remove_file(&path).expect("it is there");
        journal
            .append(br#"{"n":2}"#.to_vec())
            .expect("into the old file");
        journal.sync().expect("it goes on");
        let news = journal.news().expect("it is said");
        assert!(
            news.contains("was written again. The soak goes on there"),
            "{news}"
        );
        let moved = directory.path().join("moved");
        std::fs::rename(&path, moved).expect("it is there");
        std::fs::write(&path, "of somebody else").expect("written");
        journal
            .append(br#"{"n":3}"#.to_vec())
            .expect("into the old file");
        journal.sync().expect("it goes on");
        let beside = directory.path().join("soak.jsonl.saved");
        let text = std::fs::read_to_string(beside).expect("it is there");
        let starts = |n: usize, line: &str| line.starts_with(&format!(r#"{{"n":{n},"#));
        let mut lines = text.lines().zip(1..);
        assert!(lines.all(|(line, n)| starts(n, line)), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
        journal.end().expect("nothing is missing");
    }

    #[test]
    fn a_file_that_another_program_took_ends_it() {
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
        journal.append(b"one\n".to_vec()).expect("it is written");
        journal.sync().expect_err("it is gone");
    }
}
