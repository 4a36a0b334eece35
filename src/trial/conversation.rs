//! What an agent hears and says while it runs a trial: one answer to each request.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;

use super::flows::Blocked;
use super::message::{Answer, Request};
use super::pulse::{Heard, Output};

/// The controller is gone: the process ends.
const GONE: &str = "the controller is gone";

/// Its requests, and where answers go.
pub(super) struct Conversation {
    pub(super) requests: Receiver<Request>,
    pub(super) output: Output,
    pub(super) heard: Heard,
    /// Whether a request waits for its answer.
    pub(super) owes: bool,
}

impl Conversation {
    /// Waits for the next request.
    ///
    /// # Errors
    /// When none will come any more.
    pub(super) fn next(&mut self) -> anyhow::Result<Request> {
        let request = self.requests.recv().context(GONE)?;
        self.owes = true;
        Ok(request)
    }

    /// The next request, if it is there.
    ///
    /// # Errors
    /// As for [`Conversation::next`].
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

    /// Waits for a request that is known.
    ///
    /// # Errors
    /// When another one comes, or none.
    pub(super) fn expect(&mut self, expected: &Request) -> anyhow::Result<()> {
        let (name, expected) = (self.next()?.name(), expected.name());
        ensure!(name == expected, "{name} is out of turn: not {expected}");
        Ok(())
    }

    /// Says what a request has led to.
    ///
    /// # Errors
    /// When nobody hears it.
    pub(super) fn answer(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        self.owes = false;
        self.output.write(&Answer::Done(value))
    }

    /// Nothing is said, and nothing will be heard, for so long.
    pub(super) fn expect_silence(&self, length: Duration) {
        self.heard.expect_silence(length);
    }

    /// Says why a trial is over: in place of an answer that is awaited, or that will be.
    ///
    /// # Errors
    /// When nobody hears it.
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
