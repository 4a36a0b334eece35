//! The process in which windows are measured: a fresh one for each round.
//!
//! Where the stack, the heap, the code and the buffers of a process happen to lie makes a case faster or slower for
//! as long as it lives, so that all its windows are one observation (Kalibera & Jones, ISMM 2013). With a process
//! for each round, what rounds differ by is what runs differ by.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::measure::Local;
use crate::measure::site::Sites;
use crate::measure::spawned::Spawned;
use crate::sys::files::Root;

/// What windows are measured in.
pub(super) enum Process<'a> {
    /// A child, which is started when it is needed.
    Child {
        program: PathBuf,
        root: &'a Root,
        child: Option<Box<Spawned>>,
    },
    /// This process, for all rounds, and why.
    This(Local<'a>, Option<String>),
}

impl<'a> Process<'a> {
    /// `program`: what children run. `None`: nothing is started.
    pub(super) fn new(program: Option<&Path>, root: &'a Root) -> Self {
        match program {
            Some(program) => Self::Child {
                program: program.to_owned(),
                root,
                child: None,
            },
            None => Self::This(Local::new(root), None),
        }
    }

    /// Ends the child: the next window is measured in another one.
    pub(super) fn end(&mut self) {
        if let Self::Child { child, .. } = self {
            *child = None;
        }
    }

    /// What may mislead about where windows are measured from now on.
    pub(super) fn warning(&mut self) -> Option<String> {
        self.start();
        match self {
            Self::Child { .. } => None,
            Self::This(_, why) => why.clone(),
        }
    }

    /// Where the next window is measured.
    ///
    /// # Errors
    /// When it is ending.
    pub(super) fn sites(&mut self) -> anyhow::Result<Sites<'_>> {
        self.start();
        match self {
            Self::Child { child, .. } => {
                let child = child.as_mut().context("no process was started")?;
                Ok(Sites::One(child.site()?))
            }
            Self::This(local, _) => Ok(Sites::One(local)),
        }
    }

    /// Has a child there, if one can be started.
    fn start(&mut self) {
        let Self::Child {
            program,
            root,
            child: child @ None,
        } = self
        else {
            return;
        };
        match Spawned::start("a round's process", program, root) {
            Ok(started) => *child = Some(Box::new(started)),
            Err(error) => {
                let why = format!("all rounds share one process: {error:#}");
                *self = Self::This(Local::new(root), Some(why));
            }
        }
    }
}
