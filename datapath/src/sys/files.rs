//! Reads `/proc` and `/sys` below a root that tests can replace, and whole files that people name.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Directory that contains `/proc` and `/sys`: `/`, or a fixture.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self::new("/")
    }
}

impl Root {
    /// Returns the root at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path below the root. `path` has no leading slash.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }

    /// Returns the text of a file, without white space and NULs at its end. `None`: the file does not exist, or is not
    /// readable.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_end_matches(['\0', '\n', ' ']).to_owned())
    }

    /// Returns whether the root is the machine's own.
    pub fn is_real(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// Returns the strings of a file in which each string ends in a NUL, as in the device tree.
    pub fn strings(&self, path: impl AsRef<Path>) -> Vec<String> {
        let text = self.text(path).unwrap_or_default();
        let strings = text.split('\0').filter(|string| !string.is_empty());
        strings.map(str::to_owned).collect()
    }

    /// Returns the last component of the target of a symbolic link.
    pub fn link_name(&self, path: impl AsRef<Path>) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Returns the number that a file contains.
    pub fn number<T: std::str::FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.trim().parse().ok()
    }

    /// Returns the CPUs that a file lists.
    pub fn cpu_list(&self, path: impl AsRef<Path>) -> Option<Vec<usize>> {
        parse_cpu_list(&self.text(path)?).ok()
    }

    /// Returns the names in a directory that start with `prefix`, sorted.
    pub fn names(&self, directory: impl AsRef<Path>, prefix: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort_unstable();
        names
    }
}

/// Kinds of files that people may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Regular files only.
    File,
    /// Regular files and pipes, such as a shell's `<(...)`. A named FIFO waits for its writer, as `cat` does.
    FileOrPipe,
}

/// Reads all of a file that the user named.
///
/// # Errors
/// Fails if the file cannot be read, is of another kind (a directory, a device), or is larger than 1 GiB.
pub fn read_whole(path: &Path, kind: Kind) -> io::Result<Vec<u8>> {
    let is_pipe = fs::metadata(path)?.file_type().is_fifo();
    let mut options = OpenOptions::new();
    options.read(true);
    if !is_pipe || kind == Kind::File {
        // If it is a FIFO or a terminal by now, this open does not wait (open(2)). Regular files ignore the flag.
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path)?;
    if let Some(what) = other_kind(file.metadata()?.file_type(), kind) {
        let problem = format!("it is {what}; name a file");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    at_most(MOST_BYTES, &file)
}

/// Size limit of 1 GiB: more than any sweep writes, and less than would exhaust the memory of a machine that reads
/// results.
pub const MOST_BYTES: u64 = 1 << 30;

fn at_most(most: u64, file: &File) -> io::Result<Vec<u8>> {
    let too_large = || {
        let problem = format!("it has more than {most} B, the most that udpbench reads");
        Err(io::Error::new(io::ErrorKind::InvalidData, problem))
    };
    let length = file.metadata()?.len();
    if length > most {
        return too_large();
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return too_large();
    }
    Ok(bytes)
}

fn other_kind(found: FileType, kind: Kind) -> Option<&'static str> {
    if found.is_file() || (found.is_fifo() && kind == Kind::FileOrPipe) {
        None
    } else if found.is_dir() {
        Some("a directory")
    } else if found.is_fifo() {
        Some("a pipe")
    } else {
        Some("a device")
    }
}

/// Parses a kernel list of CPUs such as `0-3,6` (cpuset(7), "List format").
///
/// # Errors
/// Returns the part that is not a number or a range.
pub fn parse_cpu_list(list: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for piece in list.trim().split(',').filter(|piece| !piece.is_empty()) {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
            (Ok(first), Ok(last)) if first <= last && last < MAX_CPUS => cpus.extend(first..=last),
            _ => return Err(piece.to_owned()),
        }
    }
    Ok(cpus)
}

/// Upper limit of CPU numbers: more than any Linux supports (`CONFIG_NR_CPUS` is at most 8192).
const MAX_CPUS: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_cpu_list("0-3,6\n"), Ok(vec![0, 1, 2, 3, 6]));
        assert_eq!(parse_cpu_list(""), Ok(vec![]));
        assert_eq!(parse_cpu_list("3-1"), Err("3-1".to_owned()));
        assert_eq!(
            parse_cpu_list("0-99999999999"),
            Err("0-99999999999".to_owned())
        );
    }
}
