//! An agent's messages with the controller during a trial: one answer to each request.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::trial::messages::message::{Answer, Request};
use crate::trial::messages::pulse::{LastHeard, Output};
use crate::trial::sockets::flows::Blocked;

/// Error text when the request channel is closed; ends the agent.
const GONE: &str = "the controller is gone";

/// Requests of the controller, and the stream for the answers.
pub(crate) struct Conversation {
    requests: Receiver<Request>,
    output: Output,
    last_heard: LastHeard,
    /// True while a request waits for its answer.
    awaits_answer: bool,
}

impl Conversation {
    /// Creates a conversation in which no request waits for its answer.
    pub(crate) fn new(requests: Receiver<Request>, output: Output, last_heard: LastHeard) -> Self {
        Self {
            requests,
            output,
            last_heard,
            awaits_answer: false,
        }
    }

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
            Ok(request) => {
                self.awaits_answer = true;
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

    /// Suspends the heartbeat in both directions for `length`, but not for longer than 5 s.
    pub(crate) fn suspend_heartbeat(&self, length: Duration) {
        self.last_heard.suspend_heartbeat(length);
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
