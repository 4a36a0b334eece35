//! The parameters of a case, each in one place: its flag and help, its type and default, its text in keys and
//! labels, and whether it separates blocks.
//!
//! A new one is an entry here, its type, the place that acts on it, and its column in
//! `src/results/row/columns.rs`.
//! The command line (`cli`), the defaults (`options`), the plan, keys, blocks and their headings follow from the table.
//! A case also has its engines, and how its receivers share the port: these have no entry.

/// Passes the table to the macro `$take`, which picks the attributes that it needs.
///
/// A parameter is `required`, or `optional`: absent if it is not given or does not apply. Its attributes:
///
/// - doc comment: the first paragraph is the text of `-h`; `--help` has both. A default named in the second paragraph
///   replaces that of the first.
/// - `flag`: the option. `heading`: its heading in `--help`.
/// - `key`: the text in keys; `{}` stands for the value.
/// - `usual`, for parameters of blocks: the default, which keys and headings omit.
/// - `label`, for parameters of cases: the text in labels.
/// - `default`: the values to measure if the option is not given, from the defaults of the board and the extent of the
///   sweep.
/// - `applies`: returns whether a value has an effect: on these engines, for parameters of cases.
#[macro_export]
macro_rules! parameters {
    ($take:ident) => {
        $take! {
            block {
                /// Thread counts, such as 2 or 1,2,4 [default: the most that fit the CPUs]
                ///
                /// One thread sends and receives in turn. More are divided between senders and receivers [default:
                /// the largest of the board profile that fits the CPUs; with --full all that fit]
                threads: required $crate::data::Threads {
                    flag "--threads", heading "Placement", key "{}t", usual [],
                    default |board, extent| extent.most(&board.threads), applies |_| true
                }

                /// Payloads in bytes, such as 1460 or 9k [default: mostly 26,1460]
                ///
                /// From 0 to 65507, and to 1M in a stream (--transport) [default: the smallest and the largest of
                /// the board profile, mostly 26,1460; with --full all]
                payload: required $crate::data::Payload {
                    flag "--payload", heading "Workload", key "{}B", usual [],
                    default |board, extent| extent.ends(&board.payload), applies |_| true
                }

                /// IP versions: v4, v6 [default: v4]
                ///
                /// Over loopback: 127.0.0.1 and ::1. See --address [default: v4; with --full both]
                ip: required $crate::data::Ip {
                    flag "--ip", heading "Sockets", key "{}", usual [],
                    default |_board, extent| extent.first(&[$crate::data::Ip::V4, $crate::data::Ip::V6]),
                    applies |_| true
                }

                /// Receive buffer (SO_RCVBUF) in bytes, such as 4M [default: 4194304]
                ///
                /// The kernel may grant less. The size that it grants is in every row
                rcvbuf: required $crate::data::Buffer {
                    flag "--rcvbuf", heading "Sockets", key "rcvbuf{}", usual [$crate::data::Buffer::DEFAULT],
                    default |_board, _extent| vec![$crate::data::Buffer::DEFAULT], applies |_| true
                }

                /// Send buffer (SO_SNDBUF) in bytes [default: the kernel's own size]
                sndbuf: optional $crate::data::Buffer {
                    flag "--sndbuf", heading "Sockets", key "sndbuf{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// DSCP of the senders: cs0 to cs7, af11 to af43, ef, va, le [default: cs0]
                ///
                /// Or the whole byte, 0 to 255: the IPv4 TOS or the IPv6 traffic class
                tos: optional $crate::data::Tos {
                    flag "--tos", heading "Sockets", key "tos-{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Tos::DEFAULT
                }

                /// Scheduling of the bench threads: other, fifo:50, rr:10 [default: other]
                ///
                /// Real-time classes with a priority from 1 to 98. docs/LATENCY.md says what they need
                sched: optional $crate::data::Sched {
                    flag "--sched", heading "Placement", key "sched-{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Sched::Other
                }

                /// Locks the memory of the process that runs them: on, off [default: off]
                ///
                /// By mlockall: no page fault delays them
                mlock: optional $crate::data::Mlock {
                    flag "--mlock", heading "Placement", key "mlock-{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Mlock::Off
                }

                /// Workload: flood, rr (requests and responses), bidir [default: flood]
                ///
                /// flood: senders send as fast as they can. rr: clients send requests, servers respond, and round
                /// trips are timed. bidir: a flood in both directions at once, and one in one direction beside it
                workload: optional $crate::data::Workload {
                    flag "--workload", heading "What", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Workload::Flood
                }

                /// Transport: udp, unix-dgram, unix-stream, tcp [default: udp]
                ///
                /// framed-tcp and websocket are transports of the program examples/message-io only. docs/ENGINES.md
                /// lists the engines of each
                transport: optional $crate::data::Transport {
                    flag "--transport", heading "What", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Transport::Udp
                }

                /// Addresses to send to [default: loopback]
                ///
                /// loopback, or local, the first address of an interface of this host: its datagrams do not leave the
                /// host. With udpbench wire: IP addresses of the other host; a link-local one with the interface of
                /// this host, such as fe80::1%eth0
                address: optional $crate::data::Destination {
                    flag "--address", heading "Path", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Destination::Loopback
                }

                /// up (to the other host), down (from it), both [default: up,down]
                ///
                /// both is up and down at once, over the same sockets
                direction: optional $crate::data::Direction {
                    flag "--direction", heading "Path", key "{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// Flows of each thread that sends, 1 to 30000 [default: 1]
                ///
                /// For engines that wait for many sockets: each flow has a socket at either end
                flows: optional $crate::data::Flows {
                    flag "--flows", heading "Workload", key "flows{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Flows::DEFAULT
                }

                /// Requests that each client has outstanding at a time, 1 to 1024 [default: 1]
                ///
                /// For --workload rr
                outstanding: optional $crate::data::Outstanding {
                    flag "--outstanding", heading "Workload", key "outstanding{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Outstanding::DEFAULT
                }

                /// Pause of a client between a response and its next request [default: none]
                ///
                /// For --workload rr, from 1us to 10s
                think_time: optional $crate::data::ThinkTime {
                    flag "--think-time", heading "Workload", key "think-{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// Datagrams or requests per second: 20k, 100Mbit [default: no limit]
                ///
                /// Of all threads that send together. With Mbit or Gbit, bits of payload per second. Requests are
                /// sent whether or not responses come, and round trips then count from the time when a request was
                /// due [default: none, as fast as the threads can]
                rate: optional $crate::data::AskedRate {
                    flag "--rate", heading "Workload", key "rate{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// Times of sending at a --rate: even, poisson, train100 [default: even]
                ///
                /// even: at equal distances. poisson: at random. train100: 100 of each thread at once, and the
                /// trains at equal distances
                arrivals: optional $crate::data::Arrivals {
                    flag "--arrivals", heading "Workload", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Arrivals::Even
                }

                /// Work of a server for each request: 50us, or sleep:1ms [default: none]
                ///
                /// For --workload rr. 50us computes for that time, sleep:1ms sleeps
                service: optional $crate::data::ServiceTime {
                    flag "--service", heading "Workload", key "service-{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// Place of that work: inline, pool, spawn-blocking [default: inline]
                ///
                /// For --workload rr and --service. inline: the loop that receives. pool: 64 threads.
                /// spawn-blocking: tokio's threads for work that blocks
                server_model: optional $crate::data::ServerModel {
                    flag "--server-model", heading "Workload", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::ServerModel::Inline
                }
            }
            case {
                /// Sockets: connected (send), unconnected (send_to) [default: connected]
                ///
                /// [default: connected; with --full both]
                connection: required $crate::data::Connection {
                    flag "--connection", heading "Sockets", key "{}", label [],
                    default |_board, extent| extent.first(&[
                        $crate::data::Connection::Connected,
                        $crate::data::Connection::Unconnected,
                    ]),
                    applies |_, _| true
                }

                /// Datagrams per call of the engines that batch, 1 to 1024 [default: 32]
                batch: optional $crate::data::Batch {
                    flag "--batch", heading "Sockets", key "batch{}", label ["{}"],
                    default |_board, _extent| vec![$crate::data::Batch::DEFAULT],
                    applies |_, (sender, receiver)| sender.sends_batches || receiver.receives_batches
                }

                /// Datagrams per call of senders whose calls the kernel segments, 1 to 128 [default: the most]
                ///
                /// For gso and quinn-udp, and for zerocopy, which sends single datagrams without it. A train also fits
                /// 65507 B [default: the most that the kernel takes]
                train: optional $crate::data::Train {
                    flag "--train", heading "Sockets", key "segments{}", label ["s{}"],
                    default |_board, _extent| vec![], applies |_, (sender, _)| sender.takes_train()
                }

                /// Trains over loopback: cut, whole [default: cut]
                ///
                /// cut: as must be done before a NIC without segmentation offload, on a loopback of the trial's own, in
                /// a network namespace. whole: as one packet, what two processes of one host gain [default: cut,
                /// or where the host forbids namespaces whole]
                loopback: optional $crate::data::LoopbackTrains {
                    flag "--loopback", heading "Path", key "loopback-{}", label ["{}"],
                    default |_board, _extent| vec![], applies |_, (sender, _)| sender.takes_train()
                }

                /// Priority of the senders (SO_PRIORITY), 0 to 15 [default: 0, or by --tos]
                ///
                /// Queueing disciplines may treat it apart. Above 6 it needs CAP_NET_ADMIN
                priority: optional $crate::data::Priority {
                    flag "--priority", heading "Sockets", key "priority{}", label ["p{}"],
                    default |_board, _extent| vec![], applies |value, _| value != $crate::data::Priority::DEFAULT
                }

                /// UDP checksums: on, off (SO_NO_CHECK) [default: on]
                ///
                /// off sends datagrams without. Over loopback nothing computes them anyway
                checksum: optional $crate::data::Checksum {
                    flag "--checksum", heading "Sockets", key "checksum-{}", label ["checksum-{}"],
                    default |_board, _extent| vec![], applies |value, _| value != $crate::data::Checksum::On
                }

                /// Control messages of each datagram: none, pktinfo, ecn, timestamp, joined by + [default: none]
                ///
                /// In floods of mmsg, gso, gro, zerocopy and quinn-udp. Senders name their source address (pktinfo) and
                /// set ECT(0) (ecn). Receivers read all kinds, and compare them with what was sent. A timestamp is for
                /// receivers only
                cmsg: optional $crate::data::Cmsg {
                    flag "--cmsg", heading "Sockets", key "cmsg-{}", label ["{}"],
                    default |_board, _extent| vec![],
                    applies |value, (sender, receiver)| $crate::data::Cmsg::changes_calls(
                        value, sender.control_messages, receiver.control_messages)
                }

                /// Busy polling of receivers, such as 50us: off, 1us to 10ms [default: off]
                ///
                /// Asks the interface for packets for that time before a receive sleeps. Needs CAP_NET_ADMIN, and has
                /// no effect over loopback (docs/LATENCY.md)
                busy_poll: optional $crate::data::BusyPoll {
                    flag "--busy-poll", heading "Sockets", key "busy-{}", label ["busy-{}"],
                    default |_board, _extent| vec![],
                    applies |value, (_, receiver)| value != $crate::data::BusyPoll::OFF && receiver.moves_datagrams
                }

                /// Worker threads of one tokio runtime for the whole case [default: 0]
                ///
                /// For the engines tokio and tokio-exhaustive, up to 256 [default: 0, a current-thread runtime per
                /// thread]
                tokio_workers: optional $crate::data::Workers {
                    flag "--tokio-workers", heading "Placement", key "workers{}", label ["w{}"],
                    default |_board, _extent| vec![$crate::data::Workers::NONE],
                    applies |value, (sender, receiver)| value != $crate::data::Workers::NONE
                        && (sender.shares_workers || receiver.shares_workers)
                }

                /// For --workload bidir: full (both directions), half (one) [default: full,half]
                ///
                /// full has two threads for each socket
                duplex: optional $crate::data::Duplex {
                    flag "--duplex", heading "Workload", key "{}", label ["{}"],
                    default |_board, _extent| vec![$crate::data::Duplex::Full, $crate::data::Duplex::Half],
                    applies |value, _| value != $crate::data::Duplex::Full
                }

                /// How receivers wait: block (sleep), spin (busy loop) [default: block]
                ///
                /// For the engines std, mmsg, gro and uring. spin takes a whole CPU
                wait: optional $crate::data::Wait {
                    flag "--wait", heading "Sockets", key "{}", label ["{}"],
                    default |_board, _extent| vec![],
                    applies |value, (_, receiver)| value == $crate::data::Wait::Spin && receiver.can_spin
                }
            }
        }
    };
}
pub use parameters;

/// Picks one attribute of a parameter.
#[macro_export]
macro_rules! attribute {
    (flag { flag $flag:literal, $($rest:tt)* }) => {
        $flag
    };
    (heading { flag $flag:literal, heading $heading:literal, $($rest:tt)* }) => {
        $heading
    };
    (key { flag $flag:literal, heading $heading:literal, key $key:literal, $($rest:tt)* }) => {
        $key
    };
    (default { flag $flag:literal, heading $heading:literal, key $key:literal, $name:ident $value:tt,
        default $default:expr, applies $applies:expr }) => {
        $default
    };
    (applies { flag $flag:literal, heading $heading:literal, key $key:literal, $name:ident $value:tt,
        default $default:expr, applies $applies:expr }) => {
        $applies
    };
}
pub use attribute;

/// Expands to the type of a parameter in a case: its own, or an `Option` of it.
macro_rules! value {
    (required $type:ty) => { $type };
    (optional $type:ty) => { Option<$type> };
}
pub(crate) use value;

/// Extent of a sweep for parameters that were not typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The values that answer which engine to take.
    Usual,
    /// Every value of the board profile.
    Full,
}

impl Extent {
    /// The first of the values, or all.
    pub fn first<T: Clone>(self, all: &[T]) -> Vec<T> {
        self.those(all, |at, _| at == 0)
    }

    /// The largest of the values, or all.
    pub fn most<T: Clone + Ord>(self, all: &[T]) -> Vec<T> {
        self.those(all, |_, value| Some(value) == all.iter().max())
    }

    /// The smallest and the largest of the values, or all.
    pub fn ends<T: Clone + Ord>(self, all: &[T]) -> Vec<T> {
        self.those(all, |_, value| {
            [all.iter().min(), all.iter().max()].contains(&Some(value))
        })
    }

    fn those<T: Clone>(self, all: &[T], is_usual: impl Fn(usize, &T) -> bool) -> Vec<T> {
        let all = all.iter().enumerate();
        let vary = all.filter(|(at, value)| self == Self::Full || is_usual(*at, value));
        vary.map(|(_, value)| value.clone()).collect()
    }
}
