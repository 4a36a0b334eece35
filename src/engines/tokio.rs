//! `tokio`, `tokio-exhaustive`: one current-thread runtime per lane, or one with several worker threads for
//! all lanes (`--tokio-workers`), as `rust_socket_benchmark` had it. No timer in the path.
//!
//! `tokio` awaits each `send` and `recv`. `tokio-exhaustive` awaits readiness once, and then calls `try_send`
//! or `try_recv` until the socket says `WouldBlock`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::task::coop;
use tokio::time::{Sleep, sleep};

use super::readiness_policy::{ReadinessPolicy, Variant};
use super::recv_timeout::within;
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Pool, PoolBrief, Receive, ReceiveEnd, SendEnd,
    Transmit, Wakeups,
};
use crate::engines::linux::scoped_spawn;

/// Each operation is awaited.
pub(super) enum EachOne {}
/// Readiness is awaited, and used up.
pub(super) enum Exhaustive {}

const ABOUT: About = About {
    group: Group::Async,
    shares_workers: true,
    ..About::PLAIN
};

impl Variant for EachOne {
    const ABOUT: About = About {
        name: "tokio",
        summary: "tokio, a current-thread runtime per thread, every send and recv awaited",
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

/// tokio with the policy of `V`.
pub(super) struct Tokio<V> {
    runtime: Home,
    wakeups: Arc<Wakeups>,
    variant: PhantomData<V>,
}

impl<V: Variant> Engine for Tokio<V> {
    const ABOUT: About = About {
        one_thread: V::POLICY.one_thread(),
        ..V::ABOUT
    };
    type Sender<A: Addressing> = TokioSender<A, V>;
    type Receiver<A: Addressing> = TokioReceiver<A, V>;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        let runtime =
            match &brief.pool {
                Some(pool) => Home::Shared(Arc::clone(pool).downcast().map_err(|_| {
                    io::Error::other("the workers are not those of a tokio runtime")
                })?),
                None => Home::Own(build(&mut Builder::new_current_thread(), brief.alone)?),
            };
        Ok(Self {
            runtime,
            wakeups: Arc::clone(&brief.wakeups),
            variant: PhantomData,
        })
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<TokioSender<A, V>> {
        Ok(TokioSender {
            payload: end.payload(),
            peer: end.peer,
            socket: adopt(self.runtime.get(), end.socket)?,
            wakeups: Arc::clone(&self.wakeups),
            ready: V::POLICY.try_first,
            marker: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<TokioReceiver<A, V>> {
        Ok(TokioReceiver {
            buffer: vec![0; end.payload_bytes],
            recv_timeout: end.recv_timeout,
            socket: adopt(self.runtime.get(), end.socket)?,
            wakeups: Arc::clone(&self.wakeups),
            ready: V::POLICY.try_first,
            marker: PhantomData,
        })
    }

    fn pool(brief: PoolBrief) -> io::Result<Pool> {
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(brief.workers).thread_name("worker");
        runtime.on_thread_start(move || (brief.at_start)());
        // tokio panics where the system has no more threads.
        let built = catch_unwind(AssertUnwindSafe(|| build(&mut runtime, brief.alone)));
        let no_thread = |_| io::Error::other("the system refused a thread");
        Ok(Arc::new(built.map_err(no_thread)??))
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        match &self.runtime {
            Home::Own(runtime) => runtime.block_on(future),
            Home::Shared(runtime) => {
                scoped_spawn::until_done(|lent| drop(runtime.spawn(lent)), future)
            }
        }
    }
}

/// Where a lane's future lives.
enum Home {
    Own(Runtime),
    Shared(Arc<Runtime>),
}

impl Home {
    fn get(&self) -> &Runtime {
        match self {
            Self::Own(runtime) => runtime,
            Self::Shared(runtime) => runtime,
        }
    }
}

/// With a timer only where a lost datagram would hang the only lane.
fn build(runtime: &mut Builder, alone: bool) -> io::Result<Runtime> {
    runtime.enable_io();
    if alone {
        runtime.enable_time();
    }
    runtime.build()
}

/// Registers the socket with the runtime's own epoll instance.
pub(super) fn adopt(runtime: &Runtime, socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    let _context = runtime.enter();
    UdpSocket::from_std(socket)
}

pub(super) struct TokioSender<A, V> {
    socket: UdpSocket,
    peer: SocketAddr,
    payload: Vec<u8>,
    wakeups: Arc<Wakeups>,
    ready: bool,
    marker: PhantomData<(A, V)>,
}

impl<A: Addressing, V: Variant> Transmit for TokioSender<A, V> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        if !V::POLICY.drain {
            let sent = if A::CONNECTED {
                self.wakeups
                    .end(pin!(self.socket.send(&self.payload)))
                    .await?
            } else {
                self.wakeups
                    .end(pin!(self.socket.send_to(&self.payload, self.peer)))
                    .await?
            };
            return Ok(Burst::one(sent));
        }
        if !self.ready {
            self.wakeups.end(pin!(self.socket.writable())).await?;
        }
        let outcome = if A::CONNECTED {
            self.socket.try_send(&self.payload)
        } else {
            self.socket.try_send_to(&self.payload, self.peer)
        };
        // Whatever the error: whether the socket is still ready, tokio knows, and then says so at once.
        self.ready = outcome.is_ok();
        outcome.map(Burst::one)
    }
}

pub(super) struct TokioReceiver<A, V> {
    socket: UdpSocket,
    buffer: Vec<u8>,
    recv_timeout: Option<Duration>,
    wakeups: Arc<Wakeups>,
    ready: bool,
    marker: PhantomData<(A, V)>,
}

impl<A: Addressing, V: Variant> Receive for TokioReceiver<A, V> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        if !V::POLICY.drain {
            let buffer = &mut self.buffer;
            let (wakeups, recv_timeout) = (&self.wakeups, self.recv_timeout);
            let received = if A::CONNECTED {
                let receive = pin!(self.socket.recv(buffer));
                within(recv_timeout, timer, pin!(wakeups.end(receive))).await?
            } else {
                let receive = pin!(self.socket.recv_from(buffer));
                within(recv_timeout, timer, pin!(wakeups.end(receive)))
                    .await?
                    .0
            };
            check.check_first(received, &self.buffer);
            return Ok(Burst::one(received));
        }
        if !self.ready {
            self.wakeups.end(pin!(self.socket.readable())).await?;
        }
        let outcome = if A::CONNECTED {
            self.socket.try_recv(&mut self.buffer)
        } else {
            let outcome = self.socket.try_recv_from(&mut self.buffer);
            outcome.map(|(bytes, _)| bytes)
        };
        // Whatever the error: whether the socket is still ready, tokio knows, and then says so at once.
        self.ready = outcome.is_ok();
        let received = outcome?;
        check.check_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}

/// None for an operation that only gives way to other tasks, as tokio has each do now and then.
#[cold]
fn timer(limit: Duration) -> Option<Sleep> {
    coop::has_budget_remaining().then(|| sleep(limit))
}
