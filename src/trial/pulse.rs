//! Whether somebody is at the other end of a stream: both ends say so each second, and silence is an end.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

use super::message;

/// How often each end says that it is there.
const BEAT: Duration = Duration::from_millis(500);
/// An end that was silent for so long is gone: its host, the cable, or what carries the stream.
const SILENCE: Duration = Duration::from_millis(2500);
/// Nothing is said while datagrams flow that would wait behind them, but no longer than this: somebody has to notice that
/// nobody is there any more.
const LONGEST: Duration = Duration::from_secs(5);

/// Where messages go, from several threads.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(to))))
    }

    /// Does something while nobody else writes.
    pub(super) fn with<T>(&self, write: impl FnOnce(&mut Box<dyn Write + Send>) -> T) -> T {
        write(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn greet(&self, hello: &message::Hello) -> anyhow::Result<()> {
        self.with(|mut to| message::greet(&mut to, hello))
    }

    pub(super) fn write(&self, message: &impl Serialize) -> anyhow::Result<()> {
        self.with(|mut to| message::write(&mut to, message))
    }

    /// Says that this end is there, unless something is being said.
    fn beat(&self) -> io::Result<()> {
        match self.0.try_lock() {
            Ok(mut to) => message::write_beat(&mut *to),
            Err(_) => Ok(()),
        }
    }
}

/// When something was heard last, or until when nothing will be.
#[derive(Clone)]
pub(super) struct Heard {
    since: Instant,
    at_ms: Arc<AtomicU64>,
}

impl Heard {
    pub(super) fn now() -> Self {
        Self {
            since: Instant::now(),
            at_ms: Arc::default(),
        }
    }

    /// Something was.
    pub(super) fn note(&self) {
        self.note_at(self.since.elapsed());
    }

    fn note_at(&self, at: Duration) {
        let ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        // What was under way does not end a silence that is expected.
        self.at_ms.fetch_max(ms, Ordering::Relaxed);
    }

    /// For so long, up to the end of a window, nothing will be, and nothing is to be said.
    pub(super) fn expect_silence(&self, length: Duration) {
        self.note_at(self.since.elapsed() + length.min(LONGEST));
    }

    fn at(&self) -> Duration {
        Duration::from_millis(self.at_ms.load(Ordering::Relaxed))
    }

    fn expects_silence(&self) -> bool {
        self.at() > self.since.elapsed()
    }

    fn is_silent(&self) -> bool {
        self.since.elapsed().saturating_sub(self.at()) > SILENCE
    }
}

/// A thread that says that this end is there, until this is dropped.
pub(super) struct Pulse {
    _end: Sender<()>,
}

impl Pulse {
    /// Calls `lost` once nothing was heard for [`SILENCE`].
    ///
    /// # Errors
    /// When there can be no thread.
    pub(super) fn start(
        output: Output,
        heard: Heard,
        lost: impl FnOnce() + Send + 'static,
    ) -> anyhow::Result<Self> {
        let (end, ended) = mpsc::channel::<()>();
        heard.note();
        let beats = move || {
            while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                if heard.is_silent() {
                    lost();
                    return;
                }
                if !heard.expects_silence() {
                    // Whoever reads notices that it is broken.
                    let _ = output.beat();
                }
            }
        };
        thread::Builder::new()
            .name("pulse".to_owned())
            .spawn(beats)
            .context("cannot start a thread")?;
        Ok(Self { _end: end })
    }
}
