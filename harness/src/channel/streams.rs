//! Streams of bytes, encrypted: cut into messages, each of them its length (16 bits, big-endian) and what the
//! cipher made of at most [`LONGEST`] bytes. Messages are numbered, so none can be left out, repeated or moved.

use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;

use snow::StatelessTransportState;

/// The ciphers of both directions.
pub(super) type Ciphers = Arc<StatelessTransportState>;

/// What the cipher adds to each message, in bytes.
pub(super) const TAG: usize = 16;

/// Noise has no longer messages, in bytes.
const LONGEST_MESSAGE: usize = u16::MAX as usize;

/// Of one message, in bytes.
const LONGEST: usize = LONGEST_MESSAGE - TAG;

/// Decrypts what the [`Writer`] at the other end has written. After an error nothing more comes.
pub struct Reader<R> {
    input: BufReader<R>,
    ciphers: Ciphers,
    /// Of the next message.
    number: u64,
    message: Vec<u8>,
    plain: Vec<u8>,
    /// Of `plain`: what nobody has read yet.
    unread: std::ops::Range<usize>,
    is_broken: bool,
}

/// Encrypts what is written: each call becomes messages at once, nothing is kept back.
pub struct Writer<W> {
    output: W,
    ciphers: Ciphers,
    /// Of the next message.
    number: u64,
    message: Vec<u8>,
    is_broken: bool,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(input: R, ciphers: Ciphers, first: u64) -> Self {
        Self {
            input: BufReader::new(input),
            ciphers,
            number: first,
            message: vec![0; LONGEST_MESSAGE],
            plain: vec![0; LONGEST_MESSAGE],
            unread: 0..0,
            is_broken: false,
        }
    }

    /// Receives the next message. False: the other end has ended between two.
    fn receive(&mut self) -> io::Result<bool> {
        let mut length = [0; size_of::<u16>()];
        let mut filled = 0;
        while filled < length.len() {
            match self.input.read(&mut length[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let length = usize::from(u16::from_be_bytes(length));
        // An empty one would look like the end; no writer sends it.
        if length <= TAG {
            return Err(altered());
        }
        let message = &mut self.message[..length];
        self.input.read_exact(message)?;
        let plain = self
            .ciphers
            .read_message(self.number, message, &mut self.plain);
        self.unread = 0..plain.map_err(|_| altered())?;
        self.number += 1;
        Ok(true)
    }
}

fn altered() -> io::Error {
    let problem = "what came is not what the other end sent: it was altered on the way";
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_broken {
            return Err(io::ErrorKind::NotConnected.into());
        }
        if self.unread.is_empty() && !buffer.is_empty() {
            let came = self.receive();
            self.is_broken = came.is_err();
            if !came? {
                return Ok(0);
            }
        }
        let bytes = self.unread.len().min(buffer.len());
        let end = self.unread.start + bytes;
        buffer[..bytes].copy_from_slice(&self.plain[self.unread.start..end]);
        self.unread.start = end;
        Ok(bytes)
    }
}

impl<W: Write> Writer<W> {
    pub(super) fn new(output: W, ciphers: Ciphers, first: u64) -> Self {
        let longest = size_of::<u16>() + LONGEST_MESSAGE;
        Self {
            output,
            ciphers,
            number: first,
            message: vec![0; longest],
            is_broken: false,
        }
    }

    fn send(&mut self, plain: &[u8]) -> io::Result<()> {
        let (head, body) = self.message.split_at_mut(size_of::<u16>());
        let length = self
            .ciphers
            .write_message(self.number, plain, body)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let length_field = u16::try_from(length).map_err(io::Error::other)?;
        head.copy_from_slice(&length_field.to_be_bytes());
        self.number += 1;
        let whole = size_of::<u16>() + length;
        self.output.write_all(&self.message[..whole])
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        // Half a message may have gone out: whatever follows could not be read.
        if self.is_broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let plain = &buffer[..buffer.len().min(LONGEST)];
        let sent = self.send(plain);
        self.is_broken = sent.is_err();
        sent.map(|()| plain.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
