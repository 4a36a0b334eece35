//! Loss places: the points between programs on two hosts where a datagram can be lost.

/// Datagrams that did not arrive, by loss place. The fields follow the way from sender to receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The sender's kernel refused it, and no counter says where.
    pub kernel_out: u64,
    /// The queueing discipline of the sender's interface had no room, or a filter of it dropped it.
    pub qdisc: u64,
    /// The sender's interface, or its driver, dropped it.
    pub nic_out: u64,
    /// Lost anywhere else: no counter of either host explains it.
    pub path: u64,
    /// The receiver's interface, or its driver, dropped it.
    pub nic_in: u64,
    /// The backlog queue of a CPU of the receiver's host was full (`net.core.netdev_max_backlog`).
    pub backlog: u64,
    /// The receiver's interface received it, but no protocol did: a firewall, tc or XDP dropped it.
    pub kernel_in: u64,
    /// The receiver's IP or UDP discarded it: a bad checksum, or a closed port.
    pub protocol: u64,
    /// Received, but not sent by this run: the path duplicated it, or another program sent it. Not a loss.
    pub surplus: u64,
}

impl Places {
    /// Returns the names of the loss places and the datagrams lost at each.
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
