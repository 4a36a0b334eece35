//! The processes that run trials: a new one for each round, and across a wire an agent on the remote host.
//!
//! The positions of the stack, the heap, the code and the buffers of a process make a case faster or slower for the
//! lifetime of the process. All windows in one process are therefore one observation (Kalibera & Jones, ISMM 2013).
//! With a process for each round, the scatter between rounds includes this effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;

use super::agent::Agent;
use super::here::Here;
use super::message::Request;
use super::running::unix_ms;
use super::settings::Settings;
use super::spec::TrialSpec;
use super::{NoSample, across, path_mtu};
use crate::data::Sample;
use crate::plan::WireLink;
use crate::sys::files::Root;
use crate::sys::interrupt::{Asked, Interrupt, Interrupted};
use crate::sys::temperature;

/// Time after which a signal to all processes of a terminal has reached all of them.
const LATE_SIGNAL: Duration = Duration::from_millis(100);

/// The agents that run trials, on one host or on two.
pub struct Agents<'a> {
    near: Near<'a>,
    /// Agent on the remote host, across a wire.
    far: Option<&'a mut Agent>,
}

/// The agent that is not across a wire; it runs one end of a trial, or both.
enum Near<'a> {
    /// An agent on this host.
    Here {
        /// Program that the agent's process runs.
        program: PathBuf,
        root: &'a Root,
        /// The agent, started when it is needed.
        agent: Option<Box<Agent>>,
        /// Reason why no agent can be started, for example below qemu-user. This process then runs the trials itself.
        refusal: Option<String>,
        itself: Box<Here>,
        asked: Asked,
    },
    /// An agent on another host.
    On(&'a mut Agent),
}

/// Reason why a measurement ends before it is complete.
pub(crate) enum End {
    /// The program was asked to end.
    Interrupted,
    /// The remote host is gone.
    Lost(String),
    /// The results cannot be kept.
    Unkept(anyhow::Error),
}

impl From<Interrupted> for End {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Interrupted>() {
            return Self::Interrupted;
        }
        Self::Unkept(error)
    }
}

impl<'a> Agents<'a> {
    /// Runs trials in processes of `program` on this host. Across a wire, `far` is the agent on the remote host.
    pub fn new(
        program: &Path,
        root: &'a Root,
        far: Option<&'a mut Agent>,
        interrupt: &Interrupt,
    ) -> Self {
        Self {
            near: Near::Here {
                program: program.to_owned(),
                root,
                agent: None,
                refusal: None,
                itself: Box::new(Here::new(root)),
                asked: interrupt.asked(),
            },
            far,
        }
    }

    /// Runs all trials on another host.
    pub fn on(agent: &'a mut Agent) -> Self {
        Self {
            near: Near::On(agent),
            far: None,
        }
    }

    /// Has the next trial run in a new process, on each host.
    pub fn renew(&mut self) {
        let elsewhere = match &mut self.near {
            Near::Here { agent, refusal, .. } => {
                (*agent, *refusal) = (None, None);
                None
            }
            Near::On(agent) => Some(&mut **agent),
        };
        for agent in elsewhere.into_iter().chain(self.far.as_deref_mut()) {
            // A later request finds out that an agent is gone.
            let _ = agent.renew();
        }
    }

    /// Returns whether the remote host is gone, so that nothing can be measured any more.
    ///
    /// # Errors
    /// Fails if a signal has ended the program that carries the agent's messages: Ctrl-C goes to all processes of a
    /// terminal.
    pub(crate) fn has_lost_the_other_host(
        &self,
        interrupt: &Interrupt,
    ) -> Result<bool, Interrupted> {
        let is_lost = match &self.near {
            Near::On(agent) => agent.is_lost(),
            Near::Here { .. } => self.far.as_ref().is_some_and(|far| far.is_lost()),
        };
        if is_lost {
            interrupt.sleep(LATE_SIGNAL)?;
        }
        Ok(is_lost)
    }

    fn both(&mut self) -> anyhow::Result<(&mut Agent, Option<&mut Agent>)> {
        let near: &mut Agent = match &mut self.near {
            Near::On(agent) => agent,
            Near::Here {
                agent: Some(agent), ..
            } => agent,
            Near::Here {
                program,
                root,
                agent: none,
                asked,
                ..
            } => none.insert(Box::new(Agent::start(program, root, asked)?)),
        };
        Ok((near, self.far.as_deref_mut()))
    }

    /// Returns the settings of the host of the near end.
    pub fn settings(&mut self) -> Settings<'_> {
        match &mut self.near {
            Near::Here { root, .. } => Settings::Here(root),
            Near::On(agent) => Settings::There(agent),
        }
    }

    /// Returns a warning if trials run in this process because no agent can be started.
    pub fn warning(&mut self) -> Option<String> {
        self.itself()?.ok()?;
        let Near::Here { refusal, .. } = &self.near else {
            return None;
        };
        let why = refusal.as_ref()?;
        Some(format!(
            "some rounds were measured in one process, the program itself: {why}"
        ))
    }

    /// Returns this process if no agent can be started, or `Interrupted` if it was asked to end. `None`: an agent runs
    /// the trials.
    fn itself(&mut self) -> Option<Result<&mut Here, Interrupted>> {
        let is_known = matches!(
            self.near,
            Near::Here {
                refusal: Some(_),
                ..
            }
        );
        let error = if is_known { None } else { self.both().err() };
        let Near::Here {
            refusal,
            itself,
            asked,
            ..
        } = &mut self.near
        else {
            return None;
        };
        // An agent that was asked to end could have been started.
        let error = error.filter(|error| !error.is::<Interrupted>());
        *refusal = refusal.take().or(error.map(|error| format!("{error:#}")));
        refusal.as_ref()?;
        Some(if asked.to_end() {
            Err(Interrupted)
        } else {
            Ok(itself)
        })
    }

    /// Runs a trial: warm-up, window, drain.
    ///
    /// # Errors
    /// Returns [`NoSample::Interrupted`] as soon as the program is asked to end. Returns another error if something
    /// cannot be built or breaks, or if an agent is gone; the next trial then has new processes.
    pub fn run(&mut self, spec: &TrialSpec) -> Result<Sample, NoSample> {
        if let Some(itself) = self.itself().filter(|_| spec.between.is_none()) {
            return itself?.run(spec).map_err(NoSample::from);
        }
        let is_elsewhere = matches!(self.near, Near::On(_));
        let opens_at = SystemTime::now() + spec.settings.warmup;
        let sample = self.with(|near, far| match far.filter(|_| spec.between.is_some()) {
            Some(far) => across::run(spec, near, far),
            None => near.run(spec),
        })?;
        Ok(Sample {
            // A board may have no battery-backed clock, so the time is that of this host.
            opened_unix_ms: if is_elsewhere {
                unix_ms(opens_at)
            } else {
                sample.opened_unix_ms
            },
            ..sample
        })
    }

    /// Returns the version of the program that runs trials.
    ///
    /// # Errors
    /// Fails if the agent cannot be started.
    pub fn version(&mut self) -> anyhow::Result<String> {
        let (near, _) = self.both()?;
        Ok(near.version().to_owned())
    }

    /// Returns the temperature of the hottest CPU sensor, in millidegrees Celsius. `None`: there is no sensor, or the
    /// agent is gone.
    pub fn hottest_millic(&mut self) -> Option<i32> {
        match &mut self.near {
            Near::Here { root, .. } => temperature::hottest_millic(root),
            Near::On(agent) => agent.call(&Request::HottestMillic).ok()?,
        }
    }

    /// Returns the memory that a datagram takes up in the receive queue of a loopback socket, for each of these
    /// payloads, both in bytes. Payloads for which it is unknown are missing.
    pub fn truesizes(&mut self, payloads: Vec<u32>) -> BTreeMap<u32, u32> {
        let sizes = self.with(|near, _| near.call(&Request::Truesizes(payloads)));
        sizes.unwrap_or_default()
    }

    /// Measures the receive rate on one host, in datagrams per second, in each of `slices` slices of time since the
    /// threads started.
    ///
    /// # Errors
    /// Returns [`NoSample::Interrupted`] if the program is asked to end. Returns another error if something cannot be
    /// built or breaks, or if the agent is gone.
    pub fn course(
        &mut self,
        spec: &TrialSpec,
        slices: usize,
        slice: Duration,
    ) -> Result<Vec<f64>, NoSample> {
        if let Some(itself) = self.itself() {
            return itself?.course(spec, slices, slice).map_err(NoSample::from);
        }
        let length = slice.saturating_mul(u32::try_from(slices).unwrap_or(u32::MAX));
        let request = Request::Course {
            spec: Box::new(spec.clone()),
            slices,
            slice,
        };
        self.with(|here, _| here.call_for(length, &request))
    }

    /// Finds the longest payload that arrives in one piece at the remote host, or at this one if `is_down`: see
    /// [`LinkEnd::longest_payload`](crate::plan::LinkEnd::longest_payload).
    ///
    /// # Errors
    /// Returns [`NoSample::Interrupted`] if the program is asked to end. Returns another error if something cannot be
    /// built or breaks, or if an agent is gone.
    pub fn longest_payload(
        &mut self,
        link: &WireLink,
        is_down: bool,
    ) -> Result<Option<u32>, NoSample> {
        let Some(most) = link.most_of_interfaces() else {
            return Ok(None);
        };
        let longest = self.with(|here, far| {
            let far = far.context("there is no other host")?;
            across::reach(&path_mtu::spec(link, is_down)?, most, here, far)
        });
        // The receiving end still waits for a trial.
        self.renew();
        longest
    }

    fn with<T>(
        &mut self,
        what: impl FnOnce(&mut Agent, Option<&mut Agent>) -> anyhow::Result<T>,
    ) -> Result<T, NoSample> {
        let done = self.both().and_then(|(here, far)| what(here, far));
        done.map_err(|error| {
            let error = NoSample::from(error);
            if matches!(error, NoSample::Failed(_)) {
                self.renew();
            }
            error
        })
    }
}
