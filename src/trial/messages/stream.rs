//! The stream between a controller and an agent: messages, and a heartbeat in between. Both ends send it twice a
//! second, and an end that stays silent is gone. An agent's [`Conversation`] has one answer to each request.

use std::io::Write;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::trial::messages::message::{self, Answer, Request};
use crate::trial::sockets::flows::Blocked;
use crate::trial::spawned::start_thread;

/// Interval of the heartbeat.
const BEAT: Duration = Duration::from_millis(500);
/// Silence after which an end counts as gone: its host, the cable, or the program that carries the stream.
const SILENCE: Duration = Duration::from_millis(2500);
/// Longest suspension of the heartbeat.
///
/// The heartbeat is suspended while datagrams flow: it would wait behind them. An end that is gone has to be noticed
/// nevertheless.
const LONGEST_SUSPENSION: Duration = Duration::from_secs(5);

/// Stream for messages, shared by several threads.
#[derive(Clone)]
pub(crate) struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    pub(crate) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(to))))
    }

    /// Runs `write` while no other thread writes.
    pub(crate) fn with<T>(&self, write: impl FnOnce(&mut Box<dyn Write + Send>) -> T) -> T {
        write(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn write(&self, message: &impl Serialize) -> anyhow::Result<()> {
        self.with(|mut to| message::write(&mut to, message))
    }

    /// Sends a heartbeat, unless another thread is writing.
    fn beat(&self) {
        if let Ok(mut to) = self.0.try_lock() {
            // The thread that reads notices a broken stream.
            let _ = to.write_all(&message::HEARTBEAT).and_then(|()| to.flush());
        }
    }
}

/// Time at which something was heard last, or the end of a suspension of the heartbeat.
#[derive(Clone)]
pub(crate) struct LastHeard(Arc<Mutex<Instant>>);

impl LastHeard {
    pub(crate) fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Notes that something was heard.
    pub(crate) fn note(&self) {
        self.note_at(Instant::now());
    }

    /// Suspends the heartbeat in both directions for `length`, up to the end of a window, but not for longer than
    /// [`LONGEST_SUSPENSION`].
    pub(crate) fn suspend_heartbeat(&self, length: Duration) {
        self.note_at(Instant::now() + length.min(LONGEST_SUSPENSION));
    }

    fn note_at(&self, at: Instant) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A message that was already on its way does not end a suspension.
        *last = at.max(*last);
    }

    /// Returns how long nothing was heard. `None`: the heartbeat is suspended.
    fn silent_for(&self) -> Option<Duration> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Instant::now().checked_duration_since(*last)
    }
}

/// A thread that sends heartbeats until this is dropped.
pub(crate) struct Pulse {
    _end: Sender<()>,
}

impl Pulse {
    /// Starts the thread. It calls `lost` once nothing was heard for [`SILENCE`].
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub(crate) fn start(
        output: Output,
        last_heard: LastHeard,
        lost: impl FnOnce() + Send + 'static,
    ) -> anyhow::Result<Self> {
        let (end, ended) = mpsc::channel::<()>();
        last_heard.note();
        let beats = move || {
            while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let silent_for = last_heard.silent_for();
                if silent_for > Some(SILENCE) {
                    lost();
                    return;
                }
                if silent_for.is_some() {
                    output.beat();
                }
            }
        };
        start_thread("pulse", beats)?;
        Ok(Self { _end: end })
    }
}

/// Error text when the request channel is closed; ends the agent.
const GONE: &str = "the controller is gone";

/// Requests of the controller, and the stream for the answers.
pub(crate) struct Conversation {
    pub(crate) requests: Receiver<Request>,
    pub(crate) output: Output,
    pub(crate) last_heard: LastHeard,
    /// True while a request waits for its answer.
    pub(crate) awaits_answer: bool,
}

impl Conversation {
    /// Waits for the next request.
    ///
    /// # Errors
    /// Fails if the controller is gone.
    pub(crate) fn next(&mut self) -> anyhow::Result<Request> {
        let request = self.requests.recv().context(GONE)?;
        self.awaits_answer = true;
        Ok(request)
    }

    /// Returns the next request if it has already arrived.
    ///
    /// # Errors
    /// Fails if the controller is gone.
    pub(crate) fn next_if_any(&mut self) -> anyhow::Result<Option<Request>> {
        match self.requests.try_recv() {
            Err(TryRecvError::Empty) => Ok(None),
            request => {
                let request = request.context(GONE)?;
                self.awaits_answer = true;
                Ok(Some(request))
            }
        }
    }

    /// Waits for the request that has to come next.
    ///
    /// # Errors
    /// Fails if another request comes, or if the controller is gone.
    pub(crate) fn expect_request(&mut self, expected: &Request) -> anyhow::Result<()> {
        let (name, expected) = (self.next()?.name(), expected.name());
        ensure!(name == expected, "got request {name}, expected {expected}");
        Ok(())
    }

    /// Sends the result of a request.
    ///
    /// # Errors
    /// Fails if the answer cannot be sent.
    pub(crate) fn answer(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        self.awaits_answer = false;
        self.output.write(&Answer::Done(value))
    }

    /// Sends `error` as the answer to the current or next request, ending the trial.
    ///
    /// # Errors
    /// Fails if the answer cannot be sent, or if the controller is gone.
    pub(crate) fn fail(&mut self, error: &anyhow::Error) -> anyhow::Result<()> {
        if !self.awaits_answer {
            self.next()?;
        }
        self.awaits_answer = false;
        self.output.write(&match error.downcast_ref::<Blocked>() {
            Some(blocked) => Answer::<()>::Blocked(*blocked),
            None => Answer::Failed(format!("{error:#}")),
        })
    }
}
