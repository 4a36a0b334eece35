//! The engine `quinn-udp`: the library under QUIC stacks, with its own batching and offload, on a tokio runtime as in
//! quinn. It sends with UDP_SEGMENT and receives with recvmmsg(2) and UDP_GRO.

use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, UdpSocketState};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::runtime::{Builder, Runtime};

use super::selector::ReadinessPolicy;
use super::tokio::adopt;
use crate::data::Cmsg;
use crate::engine::prelude::*;
use crate::engine::{Arrived, ControlReader, erased};
use crate::engines::linux::gso;

pub(super) struct QuinnUdp {
    runtime: Runtime,
    wakeups: Arc<Wakeups>,
}

impl Engine for QuinnUdp {
    const ABOUT: About = About {
        name: "quinn-udp",
        summary: "the library under QUIC: UDP_SEGMENT, recvmmsg with UDP_GRO, on tokio",
        group: Group::Offload,
        can_serve_requests: Err("gains by trains of datagrams, and a request is one: use tokio"),
        trains: Trains::Always,
        receives_aggregates: true,
        busy_polling: BusyPolling::OF_LIBRARY,
        // BATCH_SIZE of the library.
        aggregates_per_call: 32,
        never_fragments: true,
        // It reads no time stamps.
        control_messages: Cmsg::SENT,
        one_thread: ReadinessPolicy::DRAIN.one_thread(),
        ..About::PLAIN
    };
    type DatagramIo = QuinnIo;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self {
            runtime: Builder::new_current_thread().enable_io().build()?,
            wakeups: Arc::clone(&brief.wakeups),
        })
    }

    fn open(&self, mut options: IoOptions) -> io::Result<QuinnIo> {
        let endpoint = options.only_endpoint()?;
        let state = UdpSocketState::new((&endpoint.socket).into())?;
        let controls = options.controls;
        let source = controls.source(&endpoint.socket)?;
        let reader = options.control_reader(&endpoint.socket)?;
        let payload = options.payload();
        let segments = gso::that_fit(payload.len())
            .min(state.max_gso_segments())
            .min(options.train);
        let receives = options.direction.receives();
        Ok(QuinnIo {
            payload_bytes: payload.len(),
            payload: payload.repeat(segments),
            segments: segments as u64,
            fell_back: false,
            buffers: vec![0; usize::from(receives) * BATCH_SIZE * AGGREGATE_BYTES],
            metas: [RecvMeta::default(); BATCH_SIZE],
            connected: options.is_connected(),
            peer: endpoint.peer_or_unspecified(),
            socket: adopt(&self.runtime, endpoint.socket.into())?,
            state,
            source: source.map(|source| source.ip()),
            ecn: controls.ecn().and_then(EcnCodepoint::from_bits),
            reader,
            waits: Waits::new(&self.wakeups),
        })
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        self.runtime.block_on(erased(pin!(future)))
    }
}

/// Maximum size of a GRO aggregate in bytes: one IP packet.
const AGGREGATE_BYTES: usize = 65_535;

pub(super) struct QuinnIo {
    socket: UdpSocket,
    state: UdpSocketState,
    peer: std::net::SocketAddr,
    payload: Vec<u8>,
    payload_bytes: usize,
    segments: u64,
    fell_back: bool,
    buffers: Vec<u8>,
    metas: [RecvMeta; BATCH_SIZE],
    connected: bool,
    /// Source address and ECN of each call, if it has control messages.
    source: Option<IpAddr>,
    ecn: Option<EcnCodepoint>,
    reader: Option<ControlReader>,
    waits: Waits,
}

impl QuinnIo {
    /// Switches to one datagram per call. The library leaves this to its user.
    #[cold]
    #[inline(never)]
    fn fall_back(&mut self) {
        self.payload.truncate(self.payload_bytes);
        self.segments = 1;
        self.fell_back = true;
    }

    #[inline]
    async fn hand_over(&mut self) -> io::Result<()> {
        let transmit = quinn_udp::Transmit {
            destination: self.peer,
            ecn: self.ecn,
            contents: &self.payload,
            segment_size: Some(self.payload_bytes),
            src_ip: self.source,
        };
        let send = || self.state.try_send((&self.socket).into(), &transmit);
        let writable = self.socket.async_io(Interest::WRITABLE, send);
        self.waits.interruptible(pin!(writable)).await
    }
}

impl DatagramIo for QuinnIo {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let sent = match self.hand_over().await {
            Err(error) if self.segments > 1 && gso::is_no_offload(&error) => {
                self.fall_back();
                self.hand_over().await
            }
            sent => sent,
        };
        sent.map(|()| BatchCount::of(self.segments, self.payload.len() as u64))
    }

    fn packets_per_failure(&self) -> u64 {
        self.segments
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let receive = || {
            let buffers = self.buffers.chunks_exact_mut(AGGREGATE_BYTES);
            let mut rest = buffers.map(IoSliceMut::new);
            let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
                std::array::from_fn(|_| rest.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
            (self.state).recv((&self.socket).into(), &mut slices, &mut self.metas)
        };
        let readable = self.socket.async_io(Interest::READABLE, receive);
        let aggregates = self.waits.interruptible(pin!(readable)).await?;
        let mut moved = BatchCount::default();
        for (meta, aggregate) in self.metas[..aggregates]
            .iter()
            .zip(self.buffers.chunks_exact(AGGREGATE_BYTES))
        {
            // An empty datagram has a stride of 0.
            moved.packets += meta.len.div_ceil(meta.stride.max(1)).max(1) as u64;
            moved.bytes += meta.len as u64;
            if let Some(reader) = &mut self.reader {
                reader.compare(&Arrived {
                    destination: meta.dst_ip,
                    traffic_class: Some(meta.ecn.map_or(0, |ecn| ecn as u8)),
                    at_ns: None,
                });
            }
            if C::READS_PAYLOAD {
                let origin = Origin::of((!self.connected).then_some(meta.addr));
                let datagrams = aggregate[..meta.len].chunks(meta.stride.max(1));
                datagrams.for_each(|datagram| check.check(datagram, origin));
            }
        }
        Ok(moved)
    }

    fn check_controls(&self) -> io::Result<()> {
        self.reader.as_ref().map_or(Ok(()), ControlReader::verdict)
    }

    fn remark(&self) -> Remark {
        self.fell_back
            .then_some("quinn-udp: kernel or NIC refused trains (EIO, EINVAL, EMSGSIZE: no segmentation offload, or a smaller path MTU): one datagram per call")
    }
}
