//! The parameters of a case, each in one place: its flag and help, its type and default, its text in keys and
//! labels, and whether it separates blocks.
//!
//! A new one is an entry here, its type, the place that acts on it, and its column in `row/columns.rs` and `row/new.rs`.
//! The command line (`cli`), the defaults (`options`), the plan, keys, blocks and their headings follow from the table.
//! Besides it, a case has its engines, and how its receivers share the port, which is made of two flags.

/// Hands the table to a macro, which takes from it what it needs.
///
/// An entry: `one` value, or `some` (absent where it is not given or does not apply). `key` and `label`: how the
/// value stands there. `usual`: a value that goes without saying. `default`: the values to measure where nothing
/// was typed, from the board's defaults and the extent of the sweep. `applies`: whether a value means anything
/// to such engines; those of a block are not asked about engines.
#[macro_export]
macro_rules! parameters {
    ($take:ident) => {
        $take! {
            block {
                /// Thread counts (1,2 or 1-4): 1 sends and receives in turn, more are divided between senders and receivers
                /// [default: the most of the board profile for which there are CPUs; with --full all such]
                threads: one $crate::data::Threads {
                    flag "--threads", key "{}t", usual [],
                    default |board, extent| extent.most(&board.threads), applies |_| true
                }

                /// Payloads in bytes (1460, 9k), 0 to 65507, and to 1M in a stream (--transport)
                /// [default: the smallest and the largest of the board profile, mostly 26,1460; with --full all]
                payload: one $crate::data::Payload {
                    flag "--payload", key "{}B", usual [],
                    default |board, extent| extent.ends(&board.payload), applies |_| true
                }

                /// v4 (127.0.0.1), v6 (::1); see --address [default: v4; with --full both]
                ip: one $crate::data::Ip {
                    flag "--ip", key "{}", usual [],
                    default |_board, extent| extent.first(&[$crate::data::Ip::V4, $crate::data::Ip::V6]),
                    applies |_| true
                }

                /// SO_RCVBUF that receivers ask for, in bytes (4M); the size granted is in every row
                /// [default: 4194304]
                rcvbuf: one $crate::data::Buffer {
                    flag "--rcvbuf", key "rcvbuf{}", usual [$crate::data::Buffer::DEFAULT],
                    default |_board, _extent| vec![$crate::data::Buffer::DEFAULT], applies |_| true
                }

                /// SO_SNDBUF that senders ask for, in bytes [default: none, the kernel's default size]
                sndbuf: some $crate::data::Buffer {
                    flag "--sndbuf", key "sndbuf{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// IPv4 TOS or IPv6 traffic class of the senders: a DSCP (cs0 to cs7, af11 to af43, ef, va, le) or the
                /// whole byte, 0 to 255 [default: cs0]
                tos: some $crate::data::Tos {
                    flag "--tos", key "tos-{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Tos::DEFAULT
                }

                /// What the threads do: flood (senders send as fast as they can), rr (clients send requests, servers
                /// respond, round trips are timed), bidir (flood in both directions at once, and in one beside it)
                /// [default: flood]
                workload: some $crate::data::Workload {
                    flag "--workload", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Workload::Flood
                }

                /// What carries the messages: udp, unix-dgram, unix-stream, tcp, framed-tcp (each message after its length, of
                /// four bytes), websocket (over TCP); which engines go over which: docs/TRANSPORTS.md [default: udp]
                transport: some $crate::data::Transport {
                    flag "--transport", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Transport::Udp
                }

                /// Which of this host's addresses the messages go to: loopback, local (the first that an interface has; they
                /// do not leave the host, either) [default: loopback]; with udpbench wire, of the other host's; one of a link
                /// with the interface here: fe80::1%eth0 [default: that which ssh has reached]
                address: some $crate::data::Address {
                    flag "--address", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Address::Loopback
                }

                /// For udpbench wire: up (from here to there), down (from there to here), both (at once, over the same
                /// sockets) [default: up,down]
                direction: some $crate::data::Direction {
                    flag "--direction", key "{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// Flows of each thread that sends, 1 to 30000, for engines that wait for many sockets: each has a socket at
                /// either end [default: 1]
                flows: some $crate::data::Flows {
                    flag "--flows", key "flows{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Flows::DEFAULT
                }

                /// For --workload rr: requests that each client has outstanding at a time, 1 to 1024 [default: 1]
                outstanding: some $crate::data::Outstanding {
                    flag "--outstanding", key "outstanding{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Outstanding::DEFAULT
                }

                /// For --workload rr: how long a client waits between an answer and its next request (1us to 10s)
                /// [default: none, it asks at once]
                think_time: some $crate::data::ThinkTime {
                    flag "--think-time", key "think-{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// Datagrams, or with --workload rr requests, per second of all threads that send together (20k, 1.5M); or
                /// bits of payload per second (100Mbit, 1Gbit). Requests go whether or not answers come, and round trips
                /// then count from when one was due [default: none, as fast as they can]
                rate: some $crate::data::AskedRate {
                    flag "--rate", key "rate{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// With --rate: even (at equal distances), poisson (at random), train100 (so many of each thread at once, and
                /// the trains at equal distances) [default: even]
                arrivals: some $crate::data::Arrivals {
                    flag "--arrivals", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::Arrivals::Even
                }

                /// For --workload rr: what a server does before it answers, each time: 50us of computing, or sleep:1ms
                /// [default: nothing]
                service: some $crate::data::ServiceTime {
                    flag "--service", key "service-{}", usual [],
                    default |_board, _extent| vec![], applies |_| true
                }

                /// For --workload rr: who does that: inline (the loop that receives), pool (64 threads), spawn-blocking
                /// (tokio's threads for what blocks) [default: inline]
                server_model: some $crate::data::ServerModel {
                    flag "--server-model", key "{}", usual [],
                    default |_board, _extent| vec![], applies |value| value != $crate::data::ServerModel::Inline
                }
            }
            case {
                /// connected (send/recv), unconnected (send_to/recv_from) [default: connected; with --full both]
                connection: one $crate::data::Connection {
                    flag "--connection", key "{}", label [],
                    default |_board, extent| extent.first(&[
                        $crate::data::Connection::Connected,
                        $crate::data::Connection::Unconnected,
                    ]),
                    applies |_, _| true
                }

                /// Datagrams per call, 1 to 1024, of the engines that batch [default: 32]
                batch: some $crate::data::Batch {
                    flag "--batch", key "batch{}", label ["{}"],
                    default |_board, _extent| vec![$crate::data::Batch::DEFAULT],
                    applies |_, (sender, receiver)| sender.sends_batches || receiver.receives_batches
                }

                /// For the engines tokio and tokio-exhaustive: worker threads, up to 256, of one runtime for the whole
                /// case [default: 0, a current-thread runtime per thread]
                tokio_workers: some $crate::data::Workers {
                    flag "--tokio-workers", key "workers{}", label ["w{}"],
                    default |_board, _extent| vec![$crate::data::Workers::NONE],
                    applies |value, (sender, receiver)| value != $crate::data::Workers::NONE
                        && (sender.shares_workers || receiver.shares_workers)
                }

                /// For --workload bidir: full (both directions at once: two threads for each socket), half (one direction)
                /// [default: full,half]
                duplex: some $crate::data::Duplex {
                    flag "--duplex", key "{}", label ["{}"],
                    default |_board, _extent| vec![$crate::data::Duplex::Full, $crate::data::Duplex::Half],
                    applies |value, _| value != $crate::data::Duplex::Full
                }

                /// How receivers of the engines std, mmsg, gro and uring wait: block (sleep), spin (busy loop, takes a
                /// whole CPU) [default: block]
                wait: some $crate::data::Wait {
                    flag "--wait", key "{}", label ["{}"],
                    default |_board, _extent| vec![],
                    applies |value, (_, receiver)| value == $crate::data::Wait::Spin && receiver.can_spin
                }
            }
        }
    };
}
pub use parameters;

/// One column of an entry, from all of them.
#[macro_export]
macro_rules! column {
    (flag { flag $flag:literal, $($rest:tt)* }) => {
        $flag
    };
    (key { flag $flag:literal, key $key:literal, $($rest:tt)* }) => {
        $key
    };
    (default { flag $flag:literal, key $key:literal, $name:ident $value:tt,
        default $default:expr, applies $applies:expr }) => {
        $default
    };
    (applies { flag $flag:literal, key $key:literal, $name:ident $value:tt,
        default $default:expr, applies $applies:expr }) => {
        $applies
    };
}
pub use column;

/// The type of a parameter in a case: of `one` its own, of `some` an option.
macro_rules! value {
    (one $type:ty) => { $type };
    (some $type:ty) => { Option<$type> };
}
pub(crate) use value;

/// How much of what can vary does, where nothing was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What answers which engine to take.
    Usual,
    /// All of it.
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
