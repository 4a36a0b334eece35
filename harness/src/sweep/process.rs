//! The process in which windows are measured: a fresh one for each round.
//!
//! Where the stack, the heap, the code and the buffers of a process happen to lie makes a case faster or slower for
//! as long as it lives, so that all its windows are one observation (Kalibera & Jones, ISMM 2013). With a process
//! for each round, rounds differ by that, too.

use std::path::{Path, PathBuf};

use crate::measure::Local;
use crate::measure::site::Sites;
use crate::measure::spawned::Spawned;
use crate::sys::files::Root;

/// What windows are measured in.
pub(super) struct Process<'a> {
    /// What children run. `None`: none are started.
    program: Option<PathBuf>,
    root: &'a Root,
    /// Started when it is needed.
    child: Option<Box<Spawned>>,
    /// This process, where there is no child.
    local: Local<'a>,
    /// Why there is none.
    refusal: Option<String>,
}

impl<'a> Process<'a> {
    pub(super) fn new(program: Option<&Path>, root: &'a Root) -> Self {
        Self {
            program: program.map(Path::to_owned),
            root,
            child: None,
            local: Local::new(root),
            refusal: None,
        }
    }

    /// Ends the child: the next window is measured in another one.
    pub(super) fn end(&mut self) {
        (self.child, self.refusal) = (None, None);
    }

    /// What may mislead about where the next window is measured.
    pub(super) fn warning(&mut self) -> Option<String> {
        self.start();
        let why = self.refusal.as_ref()?;
        Some(format!(
            "some rounds were measured in one process, the program itself: {why}"
        ))
    }

    /// Where the next window is measured.
    ///
    /// # Errors
    /// When the child is ending.
    pub(super) fn sites(&mut self) -> anyhow::Result<Sites<'_>> {
        self.start();
        Ok(Sites::One(match &mut self.child {
            Some(child) => child.site()?,
            None => &mut self.local,
        }))
    }

    /// Has a child there, if one can be started.
    fn start(&mut self) {
        let Some(program) = &self.program else {
            return;
        };
        if self.child.is_some() || self.refusal.is_some() {
            return;
        }
        match Spawned::start(None, program, self.root) {
            Ok(child) => self.child = Some(Box::new(child)),
            Err(error) => self.refusal = Some(format!("{error:#}")),
        }
    }
}
