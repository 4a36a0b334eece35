//! The engines `tokio` and `tokio-exhaustive`: a current-thread runtime per bench thread, or one runtime with several
//! worker threads for all bench threads (`--tokio-workers`), like `rust_socket_benchmark`. No timers are involved.
//!
//! `tokio` awaits each `send` and `recv`. `tokio-exhaustive` awaits readiness once, and then calls `try_send` or
//! `try_recv` until the socket says `WouldBlock`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use tokio::net::UdpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::selector::{ReadinessPolicy, Variant};
use crate::engine::prelude::*;
use crate::engine::{Loop, Pool, PoolArgs, Spawner, erased};
use crate::engines::lent_future;

/// Awaits each operation.
pub(super) enum EachOne {}
/// Awaits readiness, then drains the socket until an operation fails.
pub(super) enum Exhaustive {}

const ABOUT: About = About {
    group: Group::Async,
    shares_workers: true,
    many_endpoints: ManyEndpoints::IoEach,
    busy_polling: BusyPolling::OF_LIBRARY,
    spawns_blocking: true,
    ..About::PLAIN
};

impl Variant for EachOne {
    const ABOUT: About = About {
        name: "tokio",
        summary: "tokio, a current-thread runtime per thread, every send and recv awaited",
        selection: Selection::Default,
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

impl Variant for Exhaustive {
    const ABOUT: About = About {
        name: "tokio-exhaustive",
        summary: "tokio, readiness awaited, then try_send and try_recv until WouldBlock",
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::DRAIN;
}

/// The tokio engine with the policy of `V`.
pub(super) struct Tokio<V> {
    /// Its own, or one shared by all bench threads.
    runtime: Arc<Runtime>,
    is_shared: bool,
    wakeups: Arc<Wakeups>,
    variant: PhantomData<V>,
}

impl<V: Variant> Engine for Tokio<V> {
    const ABOUT: About = About {
        one_thread: V::POLICY.one_thread(),
        ..V::ABOUT
    };
    type DatagramIo = TokioIo<V>;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        let runtime = match &brief.pool {
            Some(pool) => Arc::clone(pool)
                .downcast()
                .map_err(|_| io::Error::other("the workers are not those of a tokio runtime"))?,
            None => Arc::new(Builder::new_current_thread().enable_io().build()?),
        };
        Ok(Self {
            runtime,
            is_shared: brief.pool.is_some(),
            wakeups: Arc::clone(&brief.wakeups),
            variant: PhantomData,
        })
    }

    fn open(&self, mut options: IoOptions) -> io::Result<TokioIo<V>> {
        let endpoint = options.only_endpoint()?;
        Ok(TokioIo {
            is_connected: options.is_connected(),
            payload: options.payload(),
            buffer: options.buffer(),
            peer: endpoint.peer_or_unspecified(),
            socket: adopt(&self.runtime, endpoint.socket.into())?,
            waits: Waits::new(&self.wakeups),
            writable: V::POLICY.try_first,
            readable: V::POLICY.try_first,
            marker: PhantomData,
        })
    }

    fn pool(brief: PoolArgs) -> io::Result<Pool> {
        let mut runtime = Builder::new_multi_thread();
        runtime.enable_io().worker_threads(brief.workers);
        runtime.thread_name("worker");
        runtime.on_thread_start(move || (brief.at_start)());
        // tokio panics if the system has no more threads.
        let built = catch_unwind(AssertUnwindSafe(|| runtime.build()));
        let no_thread = |_| io::Error::other("the system refused a thread");
        Ok(Arc::new(built.map_err(no_thread)??))
    }

    /// Runs each loop as a task. The tasks are spawned from within the runtime, as programs do: tasks spawned from
    /// outside get a turn only now and then while others are ready.
    fn run_all(&self, loops: Vec<Loop>) -> io::Result<()> {
        self.runtime.block_on(async {
            let mut tasks: JoinSet<io::Result<()>> = loops.into_iter().collect();
            while let Some(ended) = tasks.join_next().await {
                ended.map_err(io::Error::other)??;
            }
            Ok(())
        })
    }

    fn spawner(&self) -> Option<Spawner> {
        let runtime = self.runtime.handle().clone();
        Some(Arc::new(move |job| drop(runtime.spawn_blocking(job))))
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        if self.is_shared {
            lent_future::until_done(&|lent| drop(self.runtime.spawn(lent)), future)
        } else {
            self.runtime.block_on(erased(pin!(future)))
        }
    }
}

impl<V> Tokio<V> {
    /// Calls `act` in the context of the runtime, so that sockets can register with it.
    pub(super) fn within<T>(&self, act: impl FnOnce() -> T) -> T {
        let _context = self.runtime.enter();
        act()
    }
}

/// Registers the socket with the runtime's own epoll instance.
pub(super) fn adopt(runtime: &Runtime, socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    let _context = runtime.enter();
    UdpSocket::from_std(socket)
}

pub(super) struct TokioIo<V> {
    socket: UdpSocket,
    is_connected: bool,
    peer: SocketAddr,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    waits: Waits,
    writable: bool,
    readable: bool,
    marker: PhantomData<V>,
}

impl<V: Variant> DatagramIo for TokioIo<V> {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        if !V::POLICY.drain {
            let sent = if self.is_connected {
                let send = pin!(self.socket.send(&self.payload));
                self.waits.interruptible(send).await?
            } else {
                let to = fill.destination().unwrap_or(self.peer);
                let send = pin!(self.socket.send_to(&self.payload, to));
                self.waits.interruptible(send).await?
            };
            return Ok(BatchCount::one(sent));
        }
        if !self.writable {
            self.waits
                .interruptible(pin!(self.socket.writable()))
                .await?;
        }
        let outcome = if self.is_connected {
            self.socket.try_send(&self.payload)
        } else {
            let to = fill.destination().unwrap_or(self.peer);
            self.socket.try_send_to(&self.payload, to)
        };
        // Any error counts as not ready: tokio knows whether the socket still is, and then says so at once.
        self.writable = outcome.is_ok();
        outcome.map(BatchCount::one)
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        if V::POLICY.drain && !self.readable {
            self.waits
                .interruptible(pin!(self.socket.readable()))
                .await?;
        }
        let alone = |bytes: usize| (bytes, None);
        let from = |(bytes, source): (usize, SocketAddr)| (bytes, Some(source));
        let outcome = match (V::POLICY.drain, self.is_connected) {
            (true, true) => self.socket.try_recv(&mut self.buffer).map(alone),
            (true, false) => self.socket.try_recv_from(&mut self.buffer).map(from),
            (false, true) => {
                let receive = pin!(self.socket.recv(&mut self.buffer));
                self.waits.interruptible(receive).await.map(alone)
            }
            (false, false) => {
                let receive = pin!(self.socket.recv_from(&mut self.buffer));
                self.waits.interruptible(receive).await.map(from)
            }
        };
        // Any error counts as not ready: tokio knows whether the socket still is, and then says so at once.
        self.readable = outcome.is_ok();
        let (received, source) = outcome?;
        check.check_received(received, &self.buffer, || Origin::of(source));
        Ok(BatchCount::one(received))
    }
}
