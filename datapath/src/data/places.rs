//! The places between two programs on two hosts at which a datagram can be lost.

/// Datagrams that did not arrive, by the place between the two programs at which they were last, in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The sender's kernel refused it, and no counter says where.
    pub kernel_out: u64,
    /// The queueing discipline of the sender's interface had no room, or a filter of it dropped it.
    pub qdisc: u64,
    /// The sender's interface, or its driver, dropped it.
    pub nic_out: u64,
    /// The rest: no counter of either host explains it.
    pub path: u64,
    /// The receiver's interface, or its driver, dropped it.
    pub nic_in: u64,
    /// The queue of a CPU of the receiver's host was full (`net.core.netdev_max_backlog`).
    pub backlog: u64,
    /// The receiver's interface received it, and it came to no protocol: a firewall, tc or XDP.
    pub kernel_in: u64,
    /// The receiver's IP or UDP discarded it: a checksum, a port that is closed.
    pub protocol: u64,
    /// Received although nobody had sent it: the path duplicated it, or a stranger sent it. Not lost.
    pub surplus: u64,
}

impl Places {
    /// Those that were lost, with the names of their places.
    pub fn lost(&self) -> [(&'static str, u64); 8] {
        [
            ("kernel out", self.kernel_out),
            ("qdisc", self.qdisc),
            ("NIC out", self.nic_out),
            ("path", self.path),
            ("NIC in", self.nic_in),
            ("backlog", self.backlog),
            ("kernel in", self.kernel_in),
            ("protocol", self.protocol),
        ]
    }
}

impl std::ops::AddAssign for Places {
    fn add_assign(&mut self, other: Self) {
        self.kernel_out += other.kernel_out;
        self.qdisc += other.qdisc;
        self.nic_out += other.nic_out;
        self.path += other.path;
        self.nic_in += other.nic_in;
        self.backlog += other.backlog;
        self.kernel_in += other.kernel_in;
        self.protocol += other.protocol;
        self.surplus += other.surplus;
    }
}
