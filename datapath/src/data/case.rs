//! A case: one combination of parameters. A block: cases that are compared with each other.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::parameters::{parameters, value};
use super::{
    Buffer, Connection, Destination, Direction, Duplex, EngineName, EngineProperties, Flows, Ip,
    Outstanding, Rate, Sharing, Transport, Workload,
};

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// A value for every parameter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Case {
            /// The engine of the senders.
            pub sender: EngineName,
            /// The engine of the receivers.
            pub receiver: EngineName,
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
            $($(#[$case_doc])* pub $case: value!($case_kind $case_type),)*
            /// Method by which several receivers share the port. `None`: one receiver, or a port for each flow.
            pub sharing: Option<Sharing>,
        }

        /// The parameters that are equal in all cases of a block. Only these cases are compared with each other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct BlockKey {
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
        }

        impl Case {
            /// Returns the case of these engines in this block, with connected sockets and the usual values elsewhere.
            pub fn in_block(block: &BlockKey, sender: EngineName, receiver: EngineName) -> Self {
                Self {
                    sender,
                    receiver,
                    $($block: block.$block,)*
                    $($case: Default::default(),)*
                    sharing: block.receivers_share().then_some(Sharing::DEFAULT),
                }
            }

            /// Returns the block of this case: the parameters of the cases that it is compared with.
            pub fn block(&self) -> BlockKey {
                BlockKey { $($block: self.$block),* }
            }
        }
    };
}
parameters!(define);

impl Case {
    /// Returns the reference case of this case's block: `std` on connected sockets, flows spread evenly.
    pub fn reference(&self) -> Self {
        Self::in_block(&self.block(), EngineName::REFERENCE, EngineName::REFERENCE)
    }

    /// Returns whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// Returns whether tokio's shared workers run the bench threads of this engine in this case.
    pub fn runs_on_workers(&self, engine: &EngineProperties) -> bool {
        self.tokio_workers.is_some() && engine.shares_workers
    }
}

impl BlockKey {
    /// Returns whether several receivers share a port.
    pub fn receivers_share(&self) -> bool {
        self.threads.receivers() > 1 && self.flows.is_none() && self.transport.is_none()
    }

    /// Removes the parameters that do not apply to the workload.
    pub fn normalized(self) -> Self {
        let is_rr = self.workload == Some(Workload::Rr);
        // Bidirectional flood is compared with one direction, each at full speed, so no rate applies.
        let rate = self.rate.filter(|_| self.workload != Some(Workload::Bidir));
        let is_closed_loop = is_rr && rate.is_none();
        let is_unix = self.transport.is_some_and(Transport::is_unix);
        Self {
            // Unix sockets do not use IP.
            ip: if is_unix {
                Ip::V4
            } else {
                self.address.and_then(Destination::ip).unwrap_or(self.ip)
            },
            address: self.address.filter(|_| !is_unix),
            tos: self.tos.filter(|_| !is_unix),
            // Unix sockets ignore SO_RCVBUF (unix(7)).
            rcvbuf: if is_unix {
                Buffer::DEFAULT
            } else {
                self.rcvbuf
            },
            rate,
            arrivals: self.arrivals.filter(|_| rate.is_some()),
            outstanding: self.outstanding.filter(|_| is_closed_loop),
            think_time: self.think_time.filter(|_| is_closed_loop),
            service: self.service.filter(|_| is_rr),
            server_model: self.server_model.filter(|_| is_rr),
            ..self
        }
    }
}

impl Case {
    /// Returns the transport of the messages: UDP unless another one is set.
    pub fn transport(&self) -> Transport {
        self.transport.unwrap_or_default()
    }

    /// Returns the address of the receivers. `None`: no interface has a suitable one.
    pub fn receivers_address(&self) -> Option<IpAddr> {
        match self.address.unwrap_or_default() {
            Destination::Loopback => Some(self.ip.loopback()),
            Destination::Local => self.ip.local(),
            Destination::Of(address) => Some(address.ip),
        }
    }

    /// Returns the SO_RCVBUF that receivers request. `None`: the kernel chooses the size, and changes it over time,
    /// for other transports than UDP unless a size other than the default for datagrams is set.
    pub fn requested_rcvbuf(&self) -> Option<Buffer> {
        let is_for_datagrams = self.rcvbuf == Buffer::DEFAULT;
        (self.transport.is_none() || !is_for_datagrams).then_some(self.rcvbuf)
    }

    /// Returns whether each flow has a socket of its own at its receiver.
    pub fn has_a_socket_per_flow(&self) -> bool {
        (self.flows.is_some() || self.transport.is_some()) && !self.serves_from_one_socket()
    }

    /// Returns whether the workload is request and response (rr).
    pub fn is_rr(&self) -> bool {
        self.workload == Some(Workload::Rr)
    }

    /// Removes the parameters that do not apply to this case: clients and servers move one datagram per call, and
    /// flows share no port.
    pub fn normalized(self) -> Self {
        let is_udp = self.transport.is_none();
        let is_bidir = self.workload == Some(Workload::Bidir);
        let sends_trains = self.may_send_trains_over_loopback();
        Self {
            // Other transports than UDP connect both ends.
            connection: if is_udp {
                self.connection
            } else {
                Connection::Connected
            },
            batch: self.batch.filter(|_| !self.is_rr()),
            train: self.train.filter(|_| is_udp),
            loopback: self.loopback.filter(|_| sends_trains),
            priority: self.priority.filter(|_| is_udp),
            checksum: self.checksum.filter(|_| is_udp),
            cmsg: self.cmsg.filter(|_| is_udp),
            busy_poll: self.busy_poll.filter(|_| is_udp),
            sharing: self.sharing.filter(|_| self.block().receivers_share()),
            duplex: self.duplex.filter(|_| is_bidir),
            ..self
        }
    }

    /// Returns whether trains can go over loopback: requests are single datagrams.
    fn may_send_trains_over_loopback(&self) -> bool {
        let is_loopback = self.address.unwrap_or_default() == Destination::Loopback;
        self.transport.is_none() && self.direction.is_none() && is_loopback && !self.is_rr()
    }

    /// Returns the number of flows of each thread that sends.
    pub fn flows_each(&self) -> usize {
        self.flows.unwrap_or(Flows::DEFAULT).count()
    }

    /// Returns the number of flows of all threads.
    pub fn flow_count(&self) -> usize {
        self.threads.senders() * self.flows_each()
    }

    /// Returns whether each server serves all its clients over one socket. That socket is not connected to any client.
    pub fn serves_from_one_socket(&self) -> bool {
        self.is_rr() && self.connection == Connection::Unconnected
    }

    /// Returns the number of receiving sockets: one per receiver, or one per flow.
    pub fn receiver_sockets(&self) -> usize {
        if self.has_a_socket_per_flow() {
            self.flow_count()
        } else {
            self.threads.receivers()
        }
    }

    /// Returns the number, from 0, of the receiving socket at the end of a flow, for cases with many flows.
    pub fn socket_of_flow(&self, flow: usize) -> usize {
        if self.serves_from_one_socket() {
            self.receiver_of_flow(flow)
        } else {
            flow
        }
    }

    /// Returns the number, from 0, of the receiver that owns a receiving socket.
    pub fn receiver_of_socket(&self, socket: usize) -> usize {
        if self.serves_from_one_socket() {
            socket
        } else {
            self.receiver_of_flow(socket)
        }
    }

    fn receiver_of_flow(&self, flow: usize) -> usize {
        flow / self.flows_each() % self.threads.receivers()
    }

    /// Returns the number of directions (one or both) for the bidirectional workload, `None` for the others.
    pub fn duplex(&self) -> Option<Duplex> {
        (self.workload == Some(Workload::Bidir)).then(|| self.duplex.unwrap_or_default())
    }

    /// Returns whether its sockets are flooded in both directions at once.
    pub fn is_full_duplex(&self) -> bool {
        self.duplex() == Some(Duplex::Full) || self.direction == Some(Direction::Both)
    }

    /// Returns whether its senders, or clients, run on the remote host.
    pub fn remote_sends(&self) -> bool {
        self.direction == Some(Direction::Down)
    }

    /// Returns the equivalent case in one direction. `None`: this case does not flood in both.
    pub fn half_duplex(&self) -> Option<Self> {
        (self.duplex() == Some(Duplex::Full)).then_some(Self {
            duplex: Some(Duplex::Half),
            ..*self
        })
    }

    /// Returns whether both ends receive.
    pub fn receives_at_both_ends(&self) -> bool {
        self.is_rr() || self.is_full_duplex()
    }

    /// Returns whether clients send requests at a fixed rate without waiting for responses.
    pub fn is_open_loop(&self) -> bool {
        self.is_rr() && self.rate.is_some()
    }

    /// Returns whether senders flood at a fixed rate.
    pub fn is_paced(&self) -> bool {
        !self.is_rr() && self.rate.is_some()
    }

    /// Returns the mean time between two datagrams of each sending thread, in nanoseconds. `None`: no rate is set.
    pub fn gap_ns(&self) -> Option<f64> {
        let senders = self.threads.senders() as f64;
        Some(1e9 * senders / self.rate?.per_second(self.payload))
    }

    /// Returns the target rate, rounded to a whole number of datagrams or requests per second.
    pub fn rate_in_datagrams(&self) -> Option<Rate> {
        let rate = self.rate?.per_second(self.payload);
        Some(Rate::nearest(rate))
    }

    /// Returns the number of requests that each client of a closed loop keeps outstanding.
    pub fn outstanding_requests(&self) -> usize {
        self.outstanding.unwrap_or(Outstanding::DEFAULT).count()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::data) fn case() -> Case {
        Case::of_key("std:std/2t/300B/connected/v4").expect("a case")
    }

    #[test]
    fn what_means_nothing_to_a_workload_goes_away() {
        let key = |text: &str| Case::of_key(text).expect(text).block().normalized();
        let unusual = |text: &str| key(text).unusual().map(|it| it.key).collect::<Vec<_>>();
        let all = "std:std/2t/300B/connected/v4/rr/outstanding8/rate100/poisson";
        assert_eq!(unusual(all), ["rr", "rate100", "poisson"]);
        let closed = "std:std/2t/300B/connected/v4/rr/outstanding8/poisson";
        assert_eq!(unusual(closed), ["rr", "outstanding8"]);
        let flood = "std:std/2t/300B/connected/v4/outstanding8/rate100/poisson/service-1us";
        assert_eq!(unusual(flood), ["rate100", "poisson"]);
        let duplex = "std:std/2t/300B/connected/v4/bidir/rate100/poisson";
        assert_eq!(unusual(duplex), ["bidir"]);
    }
}
