//! The key that both ends have, in a file that only its owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::Context;
use nix::fcntl::OFlag;

use crate::error::UsageError;

/// What the line of the key begins with; the number counts up with each change of the format.
const PREFIX: &str = "udpbench-key-1";

const COMMENT: &str = "\
# Who has this key can have a `udpbench agent --listen` measure. Keep it as it is, mode 600; copy it with scp.";

/// Of a key, in bytes: what Noise takes.
const BYTES: usize = 32;

/// More than any key file has, with a comment or two, in bytes.
const LONGEST_FILE: u64 = 4096;

/// A secret of 32 random bytes. It has no `Debug`: nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; BYTES]);

impl Key {
    /// A new one, from the kernel's random numbers.
    ///
    /// # Errors
    /// When the kernel has none.
    pub fn random() -> anyhow::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).context("the kernel gives no random numbers")?;
        Ok(Self(bytes))
    }

    /// Writes it to a new file that only its owner can read.
    ///
    /// # Errors
    /// When there is such a file already, which stays as it is, or when it cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let name = path.display();
        let mut file = options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let problem = "it is there already, and stays as it is; name another file";
                UsageError::flag("--new-key", &name, problem)
            }
            _ => UsageError::flag("--new-key", &name, format!("cannot make it: {error}")),
        })?;
        let written = file.write_all(self.text().as_bytes());
        written.and_then(|()| file.sync_all()).or_else(|error| {
            // Half a key is of no use, and would be in the way of the next attempt.
            let _ = fs::remove_file(path);
            Err(error).with_context(|| format!("cannot write {name}"))
        })
    }

    /// Reads the key of a file.
    ///
    /// # Errors
    /// When others can read the file, or it holds no key: the file, the line, the fix.
    pub fn read(path: &Path) -> Result<Self, UsageError> {
        let name = path.display().to_string();
        let text = private_text(path).map_err(|problem| UsageError::file(&name, 0, &problem))?;
        Self::parse(&text).map_err(|(line, problem)| UsageError::file(&name, line, problem))
    }

    /// The bytes, for the handshake.
    pub(super) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    fn text(&self) -> String {
        let digits: Vec<String> = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{COMMENT}\n{PREFIX} {}\n", digits.concat())
    }

    /// Reads the text of a file. The error is a line, from 1 (0: the whole), and a problem, which quotes nothing:
    /// it may be most of a key.
    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut found = None;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = Self::of_line(line).map_err(|problem| (at + 1, problem))?;
            if found.replace(key).is_some() {
                return Err((at + 1, "it is a second key: a file has one"));
            }
        }
        let missing = "it has no key: `udpbench agent --new-key FILE` makes one in a new file";
        found.ok_or((0, missing))
    }

    fn of_line(line: &str) -> Result<Self, &'static str> {
        let no_key = "it is no key: `udpbench-key-1` and 64 digits are; copy the whole file that --new-key made";
        let digits = line.strip_prefix(PREFIX).ok_or(no_key)?.trim().as_bytes();
        let mut bytes = [0; BYTES];
        if digits.len() != 2 * BYTES {
            return Err("its key has not 64 digits: copy the whole file again that --new-key made");
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16);
            let (high, low) = value(pair[0]).zip(value(pair[1])).ok_or(no_key)?;
            *byte = u8::try_from(high << 4 | low).map_err(|_| no_key)?;
        }
        Ok(Self(bytes))
    }
}

/// The text of a small file that nobody but its owner can read: looked at once it is open, as a name may stand for
/// another file a moment later.
fn private_text(path: &Path) -> Result<String, String> {
    let mut options = OpenOptions::new();
    // What is no file (a FIFO, a terminal) is not waited for.
    options.custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits());
    let opened = options.read(true).open(path);
    let file = opened.map_err(|error| format!("cannot read the key: {error}"))?;
    let about = file.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err(
            "it is no file: --key takes one that `udpbench agent --new-key` made".to_owned(),
        );
    }
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let name = path.display();
        return Err(format!(
            "others may use this key, as its mode is {mode:03o}: chmod 600 {name}"
        ));
    }
    bounded_text(file).map_err(|error| format!("cannot read the key: {error}"))
}

fn bounded_text(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        let problem = format!("it has more than {LONGEST_FILE} B, so it is none");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    // What is no text has a line that is no key.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
