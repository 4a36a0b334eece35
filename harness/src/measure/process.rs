//! The process in which windows are measured: a fresh one for each round.
//!
//! Where the stack, the heap, the code and the buffers of a process happen to lie makes a case faster or slower for
//! as long as it lives, so that all its windows are one observation (Kalibera & Jones, ISMM 2013). With a process
//! for each round, rounds differ by that, too.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::NoSample;
use super::far::Far;
use super::local::Local;
use super::site::{Site, Sites};
use super::spawned::Spawned;
use crate::data::Case;
use crate::sys::files::Root;
use crate::sys::interrupt::{Asked, Interrupt, Interrupted};

/// A signal to all processes of a terminal has come to all of them by then.
const LATE_SIGNAL: Duration = Duration::from_millis(100);

/// What windows are measured in.
pub struct Process<'a> {
    /// What children run. `None`: none are started.
    program: Option<PathBuf>,
    root: &'a Root,
    /// Started when it is needed.
    child: Option<Box<Spawned>>,
    /// This process, where there is no child.
    local: Local<'a>,
    /// The other host, across a wire.
    far: Option<&'a mut Far>,
    /// Why there is none.
    refusal: Option<String>,
    asked: Asked,
}

/// Why what is measured in processes ends before it is complete.
pub(crate) enum End {
    /// It was asked to.
    Interrupted,
    /// The other host is gone.
    Lost(String),
    /// What was measured cannot be kept.
    Unkept(anyhow::Error),
}

impl From<Interrupted> for End {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        Self::Unkept(error)
    }
}

impl<'a> Process<'a> {
    /// Runs `program`, or nothing else. Across a wire, `far` is the other host.
    pub fn new(
        program: Option<&Path>,
        root: &'a Root,
        far: Option<&'a mut Far>,
        interrupt: &Interrupt,
    ) -> Self {
        Self {
            program: program.map(Path::to_owned),
            root,
            child: None,
            local: Local::new(root),
            far,
            refusal: None,
            asked: interrupt.asked(),
        }
    }

    /// Ends the child: the next window is measured in another one.
    pub fn end(&mut self) {
        (self.child, self.refusal) = (None, None);
        if let Some(far) = &mut self.far {
            // Whether it is gone is seen when it is needed.
            let _ = far.renew();
        }
    }

    /// Whether the other host is gone, so that nothing can be measured any more.
    ///
    /// # Errors
    /// When it was a signal that ended what carries its messages: Ctrl-C comes to all processes of a terminal.
    pub(crate) fn has_lost_the_other_host(
        &self,
        interrupt: &Interrupt,
    ) -> Result<bool, Interrupted> {
        let is_lost = self.far.as_ref().is_some_and(|far| far.is_lost());
        if is_lost {
            interrupt.sleep(LATE_SIGNAL)?;
        }
        Ok(is_lost)
    }

    /// What may mislead about where the next window is measured.
    pub fn warning(&mut self) -> Option<String> {
        self.start();
        let why = self.refusal.as_ref()?;
        Some(format!(
            "some rounds were measured in one process, the program itself: {why}"
        ))
    }

    /// Does something where windows of a case are measured. Whatever was wrong with a process goes with it.
    ///
    /// # Errors
    /// Those of `what`, and when a process is ending.
    pub fn at_site<T>(
        &mut self,
        case: &Case,
        what: impl FnOnce(&mut Sites) -> Result<T, NoSample>,
    ) -> Result<T, NoSample> {
        let sites = self.sites(case).map_err(NoSample::from);
        let done = sites.and_then(|mut sites| what(&mut sites));
        if let Err(NoSample::Failed(_)) = &done {
            self.end();
        }
        done
    }

    fn sites(&mut self, case: &Case) -> anyhow::Result<Sites<'_>> {
        self.start();
        let here: &mut dyn Site = match &mut self.child {
            Some(child) => child.site()?,
            None => &mut self.local,
        };
        let Some(far) = &mut self.far else {
            return Ok(Sites::One(here));
        };
        far.beside(here, case)
    }

    /// Has a child there, if one can be started.
    fn start(&mut self) {
        let Some(program) = &self.program else {
            return;
        };
        if self.child.is_some() || self.refusal.is_some() {
            return;
        }
        match Spawned::start(None, program, self.root, &self.asked) {
            Ok(child) => self.child = Some(Box::new(child)),
            Err(error) => self.refusal = Some(format!("{error:#}")),
        }
    }
}
