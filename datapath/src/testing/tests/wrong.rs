//! Engines that are right but for one fault.

use std::future;
use std::io::{self, Error, ErrorKind};
use std::marker::PhantomData;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::unistd::pause;

use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{
    About, BatchCount, DatagramIo, Endpoint, Engine, Group, IoOptions, ManyEndpoints, ThreadArgs,
};

/// Deviations from the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    CannotOpen,
    IgnoresOtherEndpoints,
    UsesFirstEndpoint,
    SendsToItself,
    SendsFromOtherSocket,
    IgnoresDestination,
    NeverFills,
    FillsAfterwards,
    FillsOne,
    CountsOneMoreSent,
    CountsNoBytesSent,
    SendsTwoBatches,
    TakesOnePerWait,
    SleepsThroughArrivals,
    NeverChecks,
    ChecksWholeBuffer,
    TellsNoSource,
    TellsSourceOfConnected,
    TellsFirstEndpoint,
    CountsBuffers,
    CountsOneForAll,
    TakesTwoBatches,
    TakesEmptyForEnd,
    CannotTakeEmpty,
    RepeatsAfterSignal,
    HidesInterruption,
    WaitsThoughItSpins,
    NeverWaits,
    CallsItselfBlocking,
    Suspends,
}

/// Engine with the fault of `F`.
pub(super) struct Wrong<F>(PhantomData<F>);

/// A fault as a type.
pub(super) trait Has: Send + Sync + 'static {
    const FAULT: Fault;
}

impl<F: Has> Engine for Wrong<F> {
    const ABOUT: About = About {
        name: "wrong",
        summary: "right but for one fault",
        group: match F::FAULT {
            Fault::CallsItselfBlocking => Group::Blocking,
            _ => Group::Batch,
        },
        sends_batches: true,
        receives_batches: true,
        can_spin: true,
        many_endpoints: match F::FAULT {
            Fault::UsesFirstEndpoint | Fault::TellsFirstEndpoint => ManyEndpoints::OneIo,
            _ => ManyEndpoints::No,
        },
        ..About::PLAIN
    };
    type DatagramIo = WrongIo<F>;

    fn start(_: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<WrongIo<F>> {
        if has::<F>(Fault::CannotOpen) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let endpoints = match Self::ABOUT.many_endpoints {
            ManyEndpoints::OneIo => mem::take(&mut options.endpoints),
            _ if has::<F>(Fault::IgnoresOtherEndpoints) => vec![options.endpoints.remove(0)],
            _ => vec![options.only_endpoint()?],
        };
        WrongIo::new(endpoints, &options)
    }
}

fn has<F: Has>(fault: Fault) -> bool {
    F::FAULT == fault
}

/// Non-blocking sockets with poll(2), or with edges of epoll(7).
pub(super) struct WrongIo<F> {
    endpoints: Vec<(UdpSocket, SocketAddr)>,
    edges: Epoll,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    batch: usize,
    spins: bool,
    is_connected: bool,
    fault: PhantomData<fn(F)>,
}

impl<F: Has> WrongIo<F> {
    fn new(endpoints: Vec<Endpoint>, options: &IoOptions) -> io::Result<Self> {
        let edges = Epoll::new(EpollCreateFlags::empty())?;
        let mut sockets = Vec::new();
        for endpoint in endpoints {
            endpoint.set_nonblocking()?;
            let peer = endpoint.peer_or_unspecified();
            let event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0);
            edges.add(&endpoint.socket, event)?;
            sockets.push((UdpSocket::from(endpoint.socket), peer));
        }
        Ok(Self {
            endpoints: sockets,
            edges,
            payload: options.payload().repeat(2 * options.batch),
            buffer: options.buffer(),
            batch: options.batch,
            spins: options.spins && !has::<F>(Fault::WaitsThoughItSpins),
            is_connected: options.is_connected(),
            fault: PhantomData,
        })
    }

    /// Sends one datagram.
    fn send(&self, endpoint: usize, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<usize> {
        let (socket, peer) = &self.endpoints[endpoint];
        match F::FAULT {
            Fault::SendsToItself => socket.send_to(datagram, socket.local_addr()?),
            Fault::SendsFromOtherSocket => {
                let mut any = socket.local_addr()?;
                any.set_port(0);
                UdpSocket::bind(any)?.send_to(datagram, to.unwrap_or(*peer))
            }
            Fault::IgnoresDestination if !self.is_connected => socket.send_to(datagram, *peer),
            _ if self.is_connected => socket.send(datagram),
            _ => socket.send_to(datagram, to.unwrap_or(*peer)),
        }
    }

    /// Waits for a datagram.
    fn wait(&self) -> io::Result<()> {
        let waited = loop {
            let mut sockets: Vec<PollFd> = self
                .endpoints
                .iter()
                .map(|(socket, _)| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
                .collect();
            let waited = match F::FAULT {
                Fault::TakesOnePerWait => {
                    let mut events = [EpollEvent::empty()];
                    self.edges.wait(&mut events, EpollTimeout::NONE).map(drop)
                }
                Fault::NeverWaits => Ok(()),
                _ => poll(&mut sockets, PollTimeout::NONE).map(drop),
            };
            if waited != Err(Errno::EINTR) || !has::<F>(Fault::RepeatsAfterSignal) {
                break waited;
            }
        };
        match waited {
            Err(_) if has::<F>(Fault::HidesInterruption) => Err(Error::other("no datagram")),
            waited => Ok(waited?),
        }
    }

    /// Takes one datagram from any socket.
    fn take(&mut self, check: &mut impl Check) -> io::Result<usize> {
        for (endpoint, (socket, _)) in self.endpoints.iter().enumerate() {
            let (bytes, source) = match socket.recv_from(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                received => received?,
            };
            match F::FAULT {
                Fault::TakesEmptyForEnd if bytes == 0 => {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                Fault::CannotTakeEmpty => assert!(bytes > 0, "no header"),
                _ => {}
            }
            let has_source = match F::FAULT {
                Fault::TellsNoSource => false,
                Fault::TellsSourceOfConnected => true,
                _ => !self.is_connected,
            };
            let endpoint = if has::<F>(Fault::TellsFirstEndpoint) {
                0
            } else {
                endpoint
            };
            let origin = Origin {
                endpoint,
                source: has_source.then_some(source),
            };
            let shown = if has::<F>(Fault::ChecksWholeBuffer) {
                self.buffer.len()
            } else {
                bytes
            };
            if !has::<F>(Fault::NeverChecks) {
                check.check_received(shown, &self.buffer, || origin);
            }
            return Ok(bytes);
        }
        Err(ErrorKind::WouldBlock.into())
    }
}

impl<F: Has> DatagramIo for WrongIo<F> {
    async fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let batches = if has::<F>(Fault::SendsTwoBatches) {
            2
        } else {
            1
        };
        let endpoint = if has::<F>(Fault::UsesFirstEndpoint) {
            0
        } else {
            endpoint
        };
        let each = self.payload.len() / (2 * self.batch);
        let mut memory = mem::take(&mut self.payload);
        let batch = &mut memory[..batches * self.batch * each];
        match F::FAULT {
            Fault::NeverFills | Fault::FillsAfterwards => {}
            Fault::FillsOne => fill.fill(&mut batch[..each]),
            _ => fill.fill(batch),
        }
        let mut moved = BatchCount::default();
        for datagram in batch.chunks(each) {
            moved.packets += 1;
            moved.bytes += self.send(endpoint, datagram, fill.destination())? as u64;
        }
        match F::FAULT {
            Fault::FillsAfterwards => fill.fill(batch),
            Fault::CountsOneMoreSent => moved.packets += 1,
            Fault::CountsNoBytesSent => moved.bytes = 0,
            _ => {}
        }
        self.payload = memory;
        Ok(moved)
    }

    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        match F::FAULT {
            Fault::Suspends => future::pending().await,
            Fault::SleepsThroughArrivals => match self.take(check) {
                Ok(bytes) => return Ok(BatchCount::one(bytes)),
                Err(_) if !self.spins => pause(),
                Err(error) => return Err(error),
            },
            _ if self.spins => {}
            _ => self.wait()?,
        }
        let most = match F::FAULT {
            Fault::TakesOnePerWait => 1,
            Fault::TakesTwoBatches => 2 * self.batch,
            _ => self.batch,
        };
        let mut moved = BatchCount::one(self.take(check)?);
        while moved.packets < most as u64 {
            match self.take(check) {
                Ok(bytes) => moved = BatchCount::of(moved.packets + 1, moved.bytes + bytes as u64),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        match F::FAULT {
            Fault::CountsBuffers => moved.bytes = moved.packets * self.buffer.len() as u64,
            Fault::CountsOneForAll => moved.packets = 1,
            _ => {}
        }
        Ok(moved)
    }
}
