//! A case, one point of the matrix, and what is measured side by side with it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::parameters::{parameters, value};
use super::{
    Address, Buffer, Connection, Direction, Duplex, EngineName, Flows, Ip, Outstanding, Rate,
    Sharing, Traits, Transport, Workload,
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
            /// How several receivers share the port. `None`: there is one, or each flow has a port.
            pub sharing: Option<Sharing>,
        }

        /// The parameters that the cases of one block share.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct BlockKey {
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
        }

        impl Case {
            /// The case of these engines in a block in which all else is as usual, on connected sockets.
            pub fn in_block(block: &BlockKey, sender: EngineName, receiver: EngineName) -> Self {
                Self {
                    sender,
                    receiver,
                    $($block: block.$block,)*
                    $($case: Default::default(),)*
                    sharing: block.receivers_share().then_some(Sharing::DEFAULT),
                }
            }

            /// What this case is held side by side with.
            pub fn block(&self) -> BlockKey {
                BlockKey { $($block: self.$block),* }
            }
        }
    };
}
parameters!(define);

impl Case {
    /// The reference case of this case's block: `std` on connected sockets, flows spread evenly.
    pub fn reference(&self) -> Self {
        Self::in_block(&self.block(), EngineName::REFERENCE, EngineName::REFERENCE)
    }

    /// Whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// Whether workers run the threads of this engine, on its side of this case.
    pub fn runs_on_workers(&self, engine: &Traits) -> bool {
        self.tokio_workers.is_some() && engine.shares_workers
    }
}

impl BlockKey {
    /// Whether several receivers share a port.
    pub fn receivers_share(&self) -> bool {
        self.threads.receivers() > 1 && self.flows.is_none() && self.transport.is_none()
    }

    /// Without what means nothing to its workload.
    pub fn pruned(self) -> Self {
        let asks = self.workload == Some(Workload::Ask);
        // Both directions at once are held against one, each as fast as it goes.
        let rate = self
            .rate
            .filter(|_| self.workload != Some(Workload::Duplex));
        let closed = asks && rate.is_none();
        let is_unix = self.transport.is_some_and(Transport::is_unix);
        Self {
            // Neither of them is IP.
            ip: if is_unix {
                Ip::V4
            } else {
                self.address.and_then(Address::ip).unwrap_or(self.ip)
            },
            address: self.address.filter(|_| !is_unix),
            tos: self.tos.filter(|_| !is_unix),
            // Nor do they heed it (unix(7)).
            rcvbuf: if is_unix {
                Buffer::DEFAULT
            } else {
                self.rcvbuf
            },
            rate,
            arrivals: self.arrivals.filter(|_| rate.is_some()),
            outstanding: self.outstanding.filter(|_| closed),
            think: self.think.filter(|_| closed),
            service: self.service.filter(|_| asks),
            server_model: self.server_model.filter(|_| asks),
            ..self
        }
    }
}

impl Case {
    /// What carries its messages.
    pub fn transport(&self) -> Transport {
        self.transport.unwrap_or_default()
    }

    /// The address that its receivers have. `None`: no interface has one.
    pub fn receivers_address(&self) -> Option<IpAddr> {
        match self.address.unwrap_or_default() {
            Address::Loopback => Some(self.ip.loopback()),
            Address::Local => self.ip.local(),
            Address::Of(address) => Some(address.ip),
        }
    }

    /// What its receivers ask for as SO_RCVBUF. Connections have the size that the kernel chooses, and changes as it sees
    /// fit, unless another one than that for datagrams was asked for.
    pub fn rcvbuf_asked(&self) -> Option<Buffer> {
        let is_for_datagrams = self.rcvbuf == Buffer::DEFAULT;
        (self.transport.is_none() || !is_for_datagrams).then_some(self.rcvbuf)
    }

    /// Whether each flow has a socket of its own at its receiver.
    pub fn has_a_socket_per_flow(&self) -> bool {
        (self.flows.is_some() || self.transport.is_some()) && !self.serves_from_one_socket()
    }

    /// Whether its threads ask and answer.
    pub fn asks(&self) -> bool {
        self.workload == Some(Workload::Ask)
    }

    /// Without what means nothing to it: clients and servers move one datagram per call, and flows share no port.
    pub fn pruned(self) -> Self {
        Self {
            // Both ends of all others are connected.
            connection: if self.transport.is_some() {
                Connection::Connected
            } else {
                self.connection
            },
            batch: self.batch.filter(|_| !self.asks()),
            sharing: self.sharing.filter(|_| self.block().receivers_share()),
            duplex: self
                .duplex
                .filter(|_| self.workload == Some(Workload::Duplex)),
            ..self
        }
    }

    /// Flows of each thread that sends.
    pub fn flows_each(&self) -> usize {
        self.flows.unwrap_or(Flows::DEFAULT).count()
    }

    /// All flows.
    pub fn flow_count(&self) -> usize {
        self.threads.senders() * self.flows_each()
    }

    /// Whether each server answers all its clients over one socket: it need not be connected to any of them.
    pub fn serves_from_one_socket(&self) -> bool {
        self.asks() && self.connection == Connection::Unconnected
    }

    /// Sockets of the receivers: one each, or one for each flow.
    pub fn receiver_sockets(&self) -> usize {
        if self.has_a_socket_per_flow() {
            self.flow_count()
        } else {
            self.threads.receivers()
        }
    }

    /// The receiving socket, from 0, at which a flow ends, where flows are many.
    pub fn socket_of_flow(&self, flow: usize) -> usize {
        if self.serves_from_one_socket() {
            self.receiver_of_flow(flow)
        } else {
            flow
        }
    }

    /// The receiver, from 0, that has the socket of that number.
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

    /// In how many directions sockets are flooded, where that is asked.
    pub fn duplex(&self) -> Option<Duplex> {
        (self.workload == Some(Workload::Duplex)).then(|| self.duplex.unwrap_or_default())
    }

    /// Whether its sockets are flooded in both directions at once.
    pub fn is_full_duplex(&self) -> bool {
        self.duplex() == Some(Duplex::Full) || self.direction == Some(Direction::Both)
    }

    /// Whether its senders, or clients, are at the other host.
    pub fn sends_from_there(&self) -> bool {
        self.direction == Some(Direction::Down)
    }

    /// The same in one direction, if this is in both.
    pub fn half_duplex(&self) -> Option<Self> {
        (self.duplex() == Some(Duplex::Full)).then_some(Self {
            duplex: Some(Duplex::Half),
            ..*self
        })
    }

    /// Whether its clients or senders receive, too.
    pub fn receives_at_both_ends(&self) -> bool {
        self.asks() || self.is_full_duplex()
    }

    /// Whether clients send requests at a rate, whether or not answers come.
    pub fn is_open_loop(&self) -> bool {
        self.asks() && self.rate.is_some()
    }

    /// Whether senders flood at a rate.
    pub fn is_paced(&self) -> bool {
        !self.asks() && self.rate.is_some()
    }

    /// The mean time between two datagrams of each thread that sends, in nanoseconds, if they go at a rate.
    pub fn gap_ns(&self) -> Option<f64> {
        let senders = self.threads.senders() as f64;
        Some(1e9 * senders / self.rate?.per_second(self.payload))
    }

    /// The rate that was asked for, as the nearest whole number of datagrams or requests per second.
    pub fn rate_in_datagrams(&self) -> Option<Rate> {
        let rate = self.rate?.per_second(self.payload);
        Some(Rate::nearest(rate))
    }

    /// Requests that each client of a closed loop has outstanding at a time.
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
        let key = |text: &str| Case::of_key(text).expect(text).block().pruned();
        let unusual = |text: &str| key(text).unusual().map(|it| it.key).collect::<Vec<_>>();
        let all = "std:std/2t/300B/connected/v4/ask/outstanding8/rate100/poisson";
        assert_eq!(unusual(all), ["ask", "rate100", "poisson"]);
        let closed = "std:std/2t/300B/connected/v4/ask/outstanding8/poisson";
        assert_eq!(unusual(closed), ["ask", "outstanding8"]);
        let flood = "std:std/2t/300B/connected/v4/outstanding8/rate100/poisson/service-1us";
        assert_eq!(unusual(flood), ["rate100", "poisson"]);
        let duplex = "std:std/2t/300B/connected/v4/duplex/rate100/poisson";
        assert_eq!(unusual(duplex), ["duplex"]);
    }
}
