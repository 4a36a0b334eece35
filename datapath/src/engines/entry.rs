//! Entries of the engine registry. An entry erases the engine's type; the code behind it stays generic.

use std::net::UdpSocket;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{fmt, io, panic};

use super::exec;
use super::stream::{BenchThread, Carrier};
use crate::data::{Case, EngineName, EngineProperties, Transport};
use crate::engine::{
    About, Engine, ManyEndpoints, Partner, Pool, PoolArgs, QueueProbe, Remark, panic_message,
};
#[cfg(test)]
use crate::testing;
use crate::workload::context::ThreadContext;
use crate::workload::{self, Program};

/// An engine in the registry, with its type erased. This costs one indirect call per bench thread and none per
/// datagram.
pub struct Entry {
    /// Description and properties of the engine.
    #[doc(hidden)]
    pub about: &'static About,
    /// The engine's [`Engine::probe`], which may panic. [`Entry::probe`] catches the panic.
    try_out: fn() -> Result<(), String>,
    /// The engine's [`Engine::pool`].
    #[doc(hidden)]
    pub pool: fn(PoolArgs) -> io::Result<Pool>,
    /// The engine's [`Engine::queue_probe`].
    #[doc(hidden)]
    pub queue_probe: fn(&UdpSocket) -> io::Result<Box<dyn QueueProbe>>,
    /// Function that runs one bench thread from start to stop.
    #[doc(hidden)]
    pub thread: BenchThread,
    /// Way in which one bench thread serves many sockets, and the function that runs such a thread.
    #[doc(hidden)]
    pub many_endpoints: (ManyEndpoints, BenchThread),
    /// Program that sends and receives, if that is not done in this process.
    #[doc(hidden)]
    pub executable: Option<&'static Path>,
    /// Tests of the contract: of the engine, of the one that serves many sockets in its stead, and of the engine's
    /// control messages.
    #[cfg(test)]
    pub(super) keeps_contract: [fn(); 3],
}

impl Entry {
    /// Creates the registry's entry for `E`.
    pub const fn of<E: Engine>() -> Self {
        // The registry is a constant: an invalid name does not compile.
        EngineName::new(E::ABOUT.name);
        Self {
            about: &E::ABOUT,
            try_out: E::probe,
            pool: E::pool,
            queue_probe: E::queue_probe,
            thread: workload::run::<E>,
            many_endpoints: (ManyEndpoints::No, refuse),
            executable: None,
            #[cfg(test)]
            keeps_contract: [
                testing::check_engine::<E>,
                || {},
                testing::check_controls::<E>,
            ],
        }
    }

    /// Creates the entry of a program in any language: see [`super::exec`].
    pub(super) fn of_program(about: &'static About, path: &'static Path) -> Self {
        Self {
            about,
            thread: exec::run,
            executable: Some(path),
            // Its sockets are those of the reference.
            ..Self::of::<super::std::Std>()
        }
    }

    /// Adds support for many sockets per thread through `M`. It is often the engine itself; it may be another one, so
    /// that the loop over one socket compiles without regard to many. Nothing is compiled for engines that have no
    /// such support.
    pub const fn with_many<M: Engine>(self) -> Self {
        Self {
            many_endpoints: (M::ABOUT.many_endpoints, workload::run_flows::<M>),
            #[cfg(test)]
            keeps_contract: [
                self.keeps_contract[0],
                testing::check_engine::<M>,
                self.keeps_contract[2],
            ],
            ..self
        }
    }

    /// Checks that the engine can run: see [`crate::engine::Engine::probe`]. A panic of its library counts as a
    /// failure.
    ///
    /// # Errors
    /// Returns the reason why the engine cannot run.
    pub fn probe(&self) -> Result<(), String> {
        // The panic hook belongs to the whole process. Without the lock, two threads that silence it at once would
        // leave it silent.
        static HOOK: Mutex<()> = Mutex::new(());
        if let Some(path) = self.executable {
            return exec::probe(path);
        }
        let silenced = HOOK.lock();
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| ()));
        let probed = panic::catch_unwind(self.try_out);
        panic::set_hook(hook);
        drop(silenced);
        probed
            .unwrap_or_else(|panic| Err(format!("its library panics: {}", panic_message(&*panic))))
    }

    /// Returns the function that runs a bench thread of this case. `None`: the engine does not support the case's
    /// transport.
    #[doc(hidden)]
    pub fn thread_of(&self, case: &Case, serves_from_one: bool) -> Option<BenchThread> {
        if let Some(transport) = case.transport {
            return self.carrier(transport).map(|it| it.thread);
        }
        let has_one = case.flows.is_none() || serves_from_one;
        Some(if has_one {
            self.thread
        } else {
            self.many_endpoints.1
        })
    }

    /// Returns the engine's support for transports other than UDP.
    #[doc(hidden)]
    pub fn carriers(&self) -> impl Iterator<Item = &'static Carrier> {
        super::carriers().filter(|it| it.engine == self.about.name)
    }

    /// Returns the engine's support for a transport, if any.
    #[doc(hidden)]
    pub fn carrier(&self, transport: Transport) -> Option<&'static Carrier> {
        self.carriers().find(|it| it.transport == transport)
    }

    /// Returns the properties that the header of a log records.
    pub fn properties(&self) -> EngineProperties {
        EngineProperties {
            executable: self.executable.map(Path::to_owned),
            ..self.about.properties()
        }
    }

    /// Returns the name on the command line and in the results.
    pub const fn name(&self) -> EngineName {
        EngineName::new(self.about.name)
    }

    /// Returns what names the engine on the command line.
    pub fn argument(&self) -> String {
        match self.executable {
            Some(path) => format!("exec:{}={}", self.name(), path.display()),
            None => self.name().to_string(),
        }
    }

    /// Returns the sender's and the receiver's engine for `--engine` with this name.
    ///
    /// # Panics
    /// Never panics: a test ensures that partners are registered.
    pub fn pair(&'static self) -> (&'static Self, &'static Self) {
        let partner = |name| super::find(name).expect("partners are registered");
        match self.about.partner {
            Partner::Itself => (self, self),
            Partner::ReceivedBy(name) => (self, partner(name)),
            Partner::SentBy(name) => (partner(name), self),
        }
    }

    /// Returns whether worker threads run the bench threads' loops in this case.
    #[doc(hidden)]
    pub const fn runs_on_workers(&self, case: &Case) -> bool {
        case.tokio_workers.is_some() && self.about.shares_workers
    }

    /// Returns whether the engine can send.
    pub const fn sends(&self) -> bool {
        !matches!(self.about.partner, Partner::SentBy(_))
    }

    /// Returns whether the engine can receive.
    pub const fn receives(&self) -> bool {
        !matches!(self.about.partner, Partner::ReceivedBy(_))
    }
}

/// Fails with `Unsupported`. Never called in a trial, since the plan refuses such cases.
fn refuse(_: Program, _: &Arc<ThreadContext>) -> io::Result<Remark> {
    Err(io::ErrorKind::Unsupported.into())
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.about.name)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about.name)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;

    #[test]
    fn a_probe_that_panics_is_a_reason() {
        let with = |try_out| Entry {
            try_out,
            ..*engines::reference()
        };
        let reason = "its library panics: no epoll".to_owned();
        assert_eq!(with(|| panic!("no epoll")).probe(), Err(reason));
        let reason = "its library panics: 24 files".to_owned();
        assert_eq!(with(|| panic!("{} files", 24)).probe(), Err(reason));
        assert_eq!(
            with(|| Err("old".to_owned())).probe(),
            Err("old".to_owned())
        );
        assert_eq!(with(|| Ok(())).probe(), Ok(()));
    }
}
