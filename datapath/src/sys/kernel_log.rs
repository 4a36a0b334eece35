//! New lines of the kernel's log (`/dev/kmsg`).

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use super::files::Root;

/// Records that one call reads, at most.
const MAX_RECORDS: usize = 100;
/// Longest text of a record that is kept, in characters.
const MAX_CHARACTERS: usize = 160;
/// Size of a record in bytes, at most (`PRINTK_MESSAGE_MAX`).
const RECORD_BYTES: usize = 8192;

/// Reader of the kernel's log, from its end on.
#[derive(Debug)]
pub struct KernelLog(File);

impl KernelLog {
    /// Opens the log.
    ///
    /// # Errors
    /// Fails without permission (`kernel.dmesg_restrict`), or if the kernel has no such file.
    pub fn open(root: &Root) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK);
        let mut file = options.open(root.path("dev/kmsg"))?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// Returns the texts of the records since the last call.
    pub fn read(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut record = [0; RECORD_BYTES];
        for _ in 0..MAX_RECORDS {
            match self.0.read(&mut record) {
                Ok(0) => break,
                Ok(bytes) => texts.extend(text_of(&String::from_utf8_lossy(&record[..bytes]))),
                // Records were overwritten before they were read: the next call reads the oldest that is left.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => break,
            }
        }
        texts
    }
}

/// Returns the text of a record: `6,339,5140900,-;NET: Registered PF_INET` and lines with further properties.
fn text_of(record: &str) -> Option<String> {
    let (_, text) = record.lines().next()?.split_once(';')?;
    let text: String = text.chars().take(MAX_CHARACTERS).collect();
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn a_record_is_its_first_line_behind_the_semicolon() {
        let record = "6,339,5140900,-;eth0: Link is Down\n SUBSYSTEM=net\n";
        assert_eq!(text_of(record).as_deref(), Some("eth0: Link is Down"));
        assert_eq!(text_of("6,339,5140900,-;\n"), None);
        assert_eq!(text_of("nonsense"), None);
    }
}
