//! What trials run in: a process of its own for each round, and across a wire an agent on the other host.
//!
//! Where the stack, the heap, the code and the buffers of a process happen to lie makes a case faster or slower for
//! as long as it lives, so that all its windows are one observation (Kalibera & Jones, ISMM 2013). With a process
//! for each round, rounds differ by that, too.

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

/// A signal to all processes of a terminal has come to all of them by then.
const LATE_SIGNAL: Duration = Duration::from_millis(100);

/// Where trials run.
pub struct Agents<'a> {
    near: Near<'a>,
    /// The other host, across a wire.
    far: Option<&'a mut Agent>,
}

/// The end that is not the far one, or both.
enum Near<'a> {
    /// On this host.
    Here {
        /// What processes run.
        program: PathBuf,
        root: &'a Root,
        /// Started when it is needed.
        agent: Option<Box<Agent>>,
        /// Why there is none, if none can be started, as below qemu-user: then this process runs trials itself.
        refusal: Option<String>,
        itself: Box<Here>,
        asked: Asked,
    },
    /// On another one.
    On(&'a mut Agent),
}

/// Why what is measured ends before it is complete.
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
        if error.is::<Interrupted>() {
            return Self::Interrupted;
        }
        Self::Unkept(error)
    }
}

impl<'a> Agents<'a> {
    /// On this host, processes of `program`. Across a wire, `far` is the other host.
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

    /// All on another host.
    pub fn on(agent: &'a mut Agent) -> Self {
        Self {
            near: Near::On(agent),
            far: None,
        }
    }

    /// The next trial runs in another process, on each host.
    pub fn renew(&mut self) {
        let elsewhere = match &mut self.near {
            Near::Here { agent, refusal, .. } => {
                (*agent, *refusal) = (None, None);
                None
            }
            Near::On(agent) => Some(&mut **agent),
        };
        for agent in elsewhere.into_iter().chain(self.far.as_deref_mut()) {
            // Whether it is gone is seen when it is needed.
            let _ = agent.renew();
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

    /// The settings of the host of the near end.
    pub fn settings(&mut self) -> Settings<'_> {
        match &mut self.near {
            Near::Here { root, .. } => Settings::Here(root),
            Near::On(agent) => Settings::There(agent),
        }
    }

    /// What may mislead about where the next trial runs.
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

    /// This process, where no other one can be started, unless it is asked to end.
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
        // One that is asked to end is no refusal.
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
    /// [`NoSample::Interrupted`] as soon as the program is asked to end, else what could not be built or broke, and when
    /// an agent is gone. Whatever was wrong with the processes goes with them.
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
            // A board may have no clock that goes on without power.
            opened_unix_ms: if is_elsewhere {
                unix_ms(opens_at)
            } else {
                sample.opened_unix_ms
            },
            ..sample
        })
    }

    /// The version of what trials run in.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn version(&mut self) -> anyhow::Result<String> {
        let (near, _) = self.both()?;
        Ok(near.version().to_owned())
    }

    /// The temperature of the hottest sensor of the CPUs, in millidegrees Celsius. `None`: there is none, or it cannot be
    /// asked any more.
    pub fn hottest_millic(&mut self) -> Option<i32> {
        match &mut self.near {
            Near::Here { root, .. } => temperature::hottest_millic(root),
            Near::On(agent) => agent.call(&Request::HottestMillic).ok()?,
        }
    }

    /// What memory datagrams of these payloads take up in the receive queue of a socket on loopback, in bytes by bytes, as far
    /// as that is known.
    pub fn truesizes(&mut self, payloads: Vec<u32>) -> BTreeMap<u32, u32> {
        let sizes = self.with(|near, _| near.call(&Request::Truesizes(payloads)));
        sizes.unwrap_or_default()
    }

    /// How fast datagrams were received on one host in each of so many slices of time since the threads started, per
    /// second.
    ///
    /// # Errors
    /// As for [`Agents::run`].
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

    /// How long a payload may be to get to the other host whole, from there if `is_down`: see
    /// [`LinkEnd::longest_payload`](crate::plan::LinkEnd::longest_payload).
    ///
    /// # Errors
    /// As for [`Agents::run`].
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
        // The receivers wait for a trial.
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
