//! An agent's messages with the controller during a trial: one answer to each request.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;

use super::flows::Blocked;
use super::message::{Answer, Request};
use super::pulse::{Heard, Output};

/// Error that ends the process.
const GONE: &str = "the controller is gone";

/// Requests of the controller, and the stream for the answers.
pub(super) struct Conversation {
    pub(super) requests: Receiver<Request>,
    pub(super) output: Output,
    pub(super) heard: Heard,
    /// True while a request waits for its answer.
    pub(super) owes: bool,
}

impl Conversation {
    /// Waits for the next request.
    ///
    /// # Errors
    /// Fails if the controller is gone.
    pub(super) fn next(&mut self) -> anyhow::Result<Request> {
        let request = self.requests.recv().context(GONE)?;
        self.owes = true;
        Ok(request)
    }

    /// Returns the next request if it has already arrived.
    ///
    /// # Errors
    /// Fails if the controller is gone.
    pub(super) fn next_if_any(&mut self) -> anyhow::Result<Option<Request>> {
        match self.requests.try_recv() {
            Ok(request) => {
                self.owes = true;
                Ok(Some(request))
            }
            Err(TryRecvError::Empty) => Ok(None),
            Err(gone @ TryRecvError::Disconnected) => Err(gone).context(GONE),
        }
    }

    /// Waits for the request that has to come next.
    ///
    /// # Errors
    /// Fails if another request comes, or if the controller is gone.
    pub(super) fn expect(&mut self, expected: &Request) -> anyhow::Result<()> {
        let (name, expected) = (self.next()?.name(), expected.name());
        ensure!(name == expected, "{name} is out of turn: not {expected}");
        Ok(())
    }

    /// Sends the result of a request.
    ///
    /// # Errors
    /// Fails if the answer cannot be sent.
    pub(super) fn answer(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        self.owes = false;
        self.output.write(&Answer::Done(value))
    }

    /// Suspends the heartbeat in both directions for `length`.
    pub(super) fn expect_silence(&self, length: Duration) {
        self.heard.expect_silence(length);
    }

    /// Reports why a trial is over, as the answer to the current request, or to the next one.
    ///
    /// # Errors
    /// Fails if the answer cannot be sent, or if the controller is gone.
    pub(super) fn fail(&mut self, error: &anyhow::Error) -> anyhow::Result<()> {
        if !self.owes {
            self.next()?;
        }
        self.owes = false;
        self.output.write(&match error.downcast_ref::<Blocked>() {
            Some(blocked) => Answer::<()>::Blocked(*blocked),
            None => Answer::Failed(format!("{error:#}")),
        })
    }
}
