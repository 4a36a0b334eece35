//! The processes that run trials: a new one for each round, and across a wire an agent on the remote host.
//!
//! The positions of the stack, the heap, the code and the buffers of a process make a case faster or slower for the
//! lifetime of the process. All windows in one process are therefore one observation (Kalibera & Jones, ISMM 2013).
//! With a process for each round, the scatter between rounds includes this effect.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};

use crate::data::{Direction, Sample};
use crate::host::check::{self, Finding};
use crate::plan::{Plan, WireLink};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted, StopRequested};
use crate::sys::power::IdlePower;
use crate::trial::changes::host_settings::HostSettings;
use crate::trial::controller::across;
use crate::trial::controller::agent::Agent;
use crate::trial::end::local::LocalTrials;
use crate::trial::end::running_end::unix_ms;
use crate::trial::end::serve::{Begins, serve};
use crate::trial::messages::message::Request;
use crate::trial::messages::spec::TrialSpec;
use crate::trial::spawned::start_thread;

/// Time after which a signal to all processes of a terminal has reached all of them.
const LATE_SIGNAL: Duration = Duration::from_millis(100);

/// The agents that run trials, on one host or on two.
pub struct Agents<'a> {
    local: LocalAgent<'a>,
    /// Agent on the remote host, across a wire.
    remote: Option<&'a mut Agent>,
    /// True if the agent that is not across a wire has a loopback of its own, which cuts trains.
    own_loopback: bool,
}

/// The agent that is not across a wire; it runs one end of a trial, or both.
enum LocalAgent<'a> {
    /// An agent on this host.
    ThisHost {
        /// Program that the agent's process runs.
        program: PathBuf,
        root: &'a Root,
        /// The agent, started when it is needed.
        agent: Option<Box<Agent>>,
        /// Reason why no process can be started, for example below qemu-user. The agent is then in this one.
        refusal: Option<String>,
        /// Settings that are changed for a trial.
        settings: Box<LocalTrials>,
        asked: StopRequested,
    },
    /// An agent on another host.
    OtherHost(&'a mut Agent),
}

impl<'a> Agents<'a> {
    /// Runs trials in processes of `program` on this host. Across a wire, `remote` is the agent on the remote host.
    pub fn new(
        program: &Path,
        root: &'a Root,
        remote: Option<&'a mut Agent>,
        interrupt: &Interrupt,
    ) -> Self {
        Self {
            local: LocalAgent::ThisHost {
                program: program.to_owned(),
                root,
                agent: None,
                refusal: None,
                settings: Box::new(LocalTrials::new(root, None)),
                asked: interrupt.asked(),
            },
            remote,
            own_loopback: false,
        }
    }

    /// Runs all trials on another host.
    pub fn on(agent: &'a mut Agent) -> Self {
        Self {
            local: LocalAgent::OtherHost(agent),
            remote: None,
            own_loopback: false,
        }
    }

    /// Has trials of one host run on a loopback of their own, which cuts trains, if one of the plans needs one.
    #[must_use]
    pub fn for_plans(mut self, plans: &[&Plan]) -> Self {
        self.own_loopback = plans.iter().any(|plan| plan.has_own_loopback());
        if self.own_loopback {
            self.restart();
        }
        self
    }

    /// Restarts the agents: the next trial runs in a new process, on each host.
    pub fn restart(&mut self) {
        let elsewhere = match &mut self.local {
            LocalAgent::ThisHost { agent, refusal, .. } => {
                (*agent, *refusal) = (None, None);
                None
            }
            LocalAgent::OtherHost(agent) => Some(&mut **agent),
        };
        for agent in elsewhere.into_iter().chain(self.remote.as_deref_mut()) {
            // A later request finds out that an agent is gone.
            let _ = agent.restart(self.own_loopback);
        }
    }

    /// Returns whether the remote host is gone, so that nothing can be measured any more.
    ///
    /// # Errors
    /// Fails if a signal has ended the program that carries the agent's messages: Ctrl-C goes to all processes of a
    /// terminal.
    pub(crate) fn remote_is_lost(&self, interrupt: &Interrupt) -> Result<bool, Interrupted> {
        let is_lost = match &self.local {
            LocalAgent::OtherHost(agent) => agent.is_lost(),
            LocalAgent::ThisHost { .. } => self.remote.as_ref().is_some_and(|it| it.is_lost()),
        };
        if is_lost {
            interrupt.sleep(LATE_SIGNAL)?;
        }
        Ok(is_lost)
    }

    fn both(&mut self) -> anyhow::Result<(&mut Agent, Option<&mut Agent>)> {
        let local: &mut Agent = match &mut self.local {
            LocalAgent::OtherHost(agent) => agent,
            LocalAgent::ThisHost {
                agent: Some(agent), ..
            } => agent,
            LocalAgent::ThisHost {
                program,
                root,
                agent,
                refusal,
                asked,
                ..
            } => {
                let started = match Agent::start(program, root, self.own_loopback, asked) {
                    Err(error) if !error.is::<Interrupted>() => {
                        *refusal = Some(format!("{error:#}"));
                        within_this_process(root, asked)?
                    }
                    started => started?,
                };
                agent.insert(Box::new(started))
            }
        };
        Ok((local, self.remote.as_deref_mut()))
    }

    /// Returns the settings of the host where trials run, or from which they cross a wire.
    pub fn settings(&mut self) -> HostSettings<'_> {
        match &mut self.local {
            LocalAgent::ThisHost { settings, .. } => HostSettings::Local(settings),
            LocalAgent::OtherHost(agent) => HostSettings::Remote(agent),
        }
    }

    /// Returns why no process can be started, so that trials run in this one. `None`: the agent has a process of its
    /// own.
    pub fn refusal(&mut self) -> Option<String> {
        let _ = self.both();
        match &self.local {
            LocalAgent::ThisHost { refusal, .. } => refusal.clone(),
            LocalAgent::OtherHost(_) => None,
        }
    }

    /// Runs a trial: warm-up, window, drain.
    ///
    /// # Errors
    /// Returns [`Interrupted`] as soon as the program is asked to end. Returns another error if something
    /// cannot be built or breaks, or if an agent is gone; the next trial then has new processes.
    pub fn run(&mut self, spec: &TrialSpec) -> anyhow::Result<Sample> {
        let is_elsewhere = matches!(self.local, LocalAgent::OtherHost(_));
        let is_across = spec.between.is_some();
        let opens_at = SystemTime::now() + spec.settings.warmup;
        let mut sample = self.with(|local, remote| match remote.filter(|_| is_across) {
            Some(remote) => across::run(spec, local, remote),
            None => local.run(spec),
        })?;
        if is_elsewhere {
            // A board may have no battery-backed clock, so the time is that of this host.
            sample.opened_unix_ms = unix_ms(opens_at);
        }
        Ok(sample)
    }

    /// Returns the version of the program that runs trials.
    ///
    /// # Errors
    /// Fails if the agent cannot be started.
    pub fn version(&mut self) -> anyhow::Result<String> {
        if let Some(why) = self.refusal() {
            bail!(why);
        }
        let (local, _) = self.both()?;
        Ok(local.version.clone())
    }

    /// Observes which other programs use CPU time where trials run: see [`check::other_programs`]. `None`: they use
    /// little, or the agent is gone.
    pub(crate) fn other_programs(&mut self) -> Option<Finding> {
        match &mut self.local {
            LocalAgent::ThisHost { root, .. } => check::other_programs(root),
            LocalAgent::OtherHost(agent) => check::other_programs_in(agent.facts().ok()?.findings),
        }
    }

    /// Returns the temperature of the hottest CPU sensor, in millidegrees Celsius. `None`: there is no sensor, or the
    /// agent is gone.
    pub fn hottest_millic(&mut self) -> Option<i32> {
        let hottest = self.with(|local, _| local.call(&Request::HottestMillic));
        hottest.ok().flatten()
    }

    /// Measures the idle power of the host where trials run, or from which they cross a wire. `None`: it has no meter,
    /// or the agent is gone.
    ///
    /// # Errors
    /// Fails if the program is asked to end.
    pub fn idle_power(&mut self, length: Duration) -> Result<Option<IdlePower>, Interrupted> {
        let measured = self.with(|local, _| local.call_for(length, &Request::IdlePower(length)));
        match measured {
            Err(error) if error.is::<Interrupted>() => Err(Interrupted),
            measured => Ok(measured.ok().flatten()),
        }
    }

    /// Returns the memory that a datagram takes up in the receive queue of a loopback socket, for each of these
    /// payloads, both in bytes. Payloads for which it is unknown are missing.
    pub fn truesizes(&mut self, payloads: Vec<u32>) -> BTreeMap<u32, u32> {
        let sizes = self.with(|local, _| local.call(&Request::Truesizes(payloads)));
        sizes.unwrap_or_default()
    }

    /// Measures the receive rate on one host, in datagrams per second, in each of `slices` slices of time since the
    /// threads started. A slice is as long as a window.
    ///
    /// # Errors
    /// Returns [`Interrupted`] if the program is asked to end. Returns another error if something cannot be
    /// built or breaks, or if the agent is gone.
    pub fn rate_over_time(&mut self, spec: &TrialSpec, slices: u32) -> anyhow::Result<Vec<f64>> {
        let length = spec.settings.window.saturating_mul(slices);
        let spec = Box::new(spec.clone());
        let request = Request::RateOverTime { spec, slices };
        self.with(|local, _| local.call_for(length, &request))
    }

    /// Finds the longest payload that arrives in one piece in this direction: see
    /// [`LinkEnd::longest_payload`](crate::plan::LinkEnd::longest_payload). If none arrives, returns the packets that
    /// the receiving host lost meanwhile, by place.
    ///
    /// # Errors
    /// Returns [`Interrupted`] if the program is asked to end. Returns another error if something cannot be
    /// built or breaks, or if an agent is gone.
    pub fn longest_payload(
        &mut self,
        link: &WireLink,
        direction: Direction,
    ) -> anyhow::Result<Result<u32, BTreeMap<String, u64>>> {
        let Some(most) = link.longest_payload_by_mtu() else {
            return Ok(Err(BTreeMap::new()));
        };
        let longest = self.with(|local, remote| {
            let remote = remote.context("there is no other host")?;
            across::longest_payload(link, direction, most, local, remote)
        });
        // The receiving end still waits for a trial.
        self.restart();
        longest
    }

    fn with<T>(
        &mut self,
        what: impl FnOnce(&mut Agent, Option<&mut Agent>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let done = self.both().and_then(|(local, remote)| what(local, remote));
        if done.as_ref().is_err_and(|it| !it.is::<Interrupted>()) {
            self.restart();
        }
        done
    }
}

/// Starts an agent in threads of this process, which reads sensors below `root`.
fn within_this_process(root: &Root, asked: &StopRequested) -> anyhow::Result<Agent> {
    let (answers, own_answers) = UnixStream::pair()?;
    let (requests, own_requests) = UnixStream::pair()?;
    let trials = LocalTrials::new(root, None);
    // It ends with the requests.
    start_thread("agent", move || {
        serve(requests, answers, Begins::First, trials)
    })?;
    Agent::connect(None, own_answers, own_requests, true, asked)
}
