//! Reasons why requests, flows, both directions or a transport do not fit a case: tables as in
//! [`refusal`](super::refusal).

use anyhow::{anyhow, bail, ensure};

use super::{Question, permitted};
use crate::data::{
    Buffer, Case, Ip, LEAST_REQUEST_BYTES, ServerModel, Sharing, Spread, Tos, Transport, Wait,
};
use crate::engine::ManyEndpoints;
use crate::engines::{self, Entry};
use crate::workload::TIMEOUT_NS;

/// Ports per address that the kernel assigns when a program asks for any (`ip_local_port_range`).
const PORTS: usize = 28_000;
/// Sockets whose drop counts can be read from the kernel's list of all sockets within some milliseconds.
const MOST_LISTED: usize = 64;
/// Limit of the memory that the buffers of all flows may take up, in bytes.
const MOST_FLOW_BYTES: usize = 256 << 20;
/// Minimum of the bytes that a connection takes while nobody reads, if no buffer size is requested: Unix sockets have
/// 208 KiB, and TCP over loopback has more.
const ROOM_BYTES: usize = 64 << 10;
/// Bytes that the kernel charges for each message besides its payload.
const OVERHEAD_BYTES: usize = 1 << 10;
/// Minimum of the messages that a Unix datagram socket takes while nobody reads (`net.unix.max_dgram_qlen`).
const MOST_UNIX_DATAGRAMS: usize = 10;

impl Question<'_> {
    /// Checks that the case can send requests and responses.
    pub(super) fn can_ask(&self) -> anyhow::Result<()> {
        let (case, sender, receiver) = (self.case, self.sender, self.receiver);
        let spins = case.wait == Some(Wait::Spin) || sender.about.always_spins;
        let has_many = case.flows.is_some() && !case.serves_from_one_socket();
        let has_a_port_each = has_many && receiver.many_endpoints.0 == ManyEndpoints::IoEach;
        let has_one_request = case.flows.is_none() && case.outstanding.is_none();
        let queue_ns = queue_ns(case);
        let model = case.server_model;
        Err(match () {
            () if case.payload.bytes() < LEAST_REQUEST_BYTES => anyhow!(
                "a request holds its number: use a payload of {LEAST_REQUEST_BYTES} B or more"
            ),
            () if case.think_time.is_some() && !has_one_request => anyhow!(
                "a client that thinks has one request at a time: leave out --flows and --outstanding, or --think-time"
            ),
            () if case.is_open_loop() && spins => anyhow!(
                "with --rate, a client that spins would take the CPU from the thread that sends"
            ),
            () if queue_ns >= TIMEOUT_NS => anyhow!(
                "requests would wait for {} ms, and are given up after {}: use a shorter --service or fewer requests",
                queue_ns / 1_000_000,
                TIMEOUT_NS / 1_000_000
            ),
            () if model == Some(ServerModel::SpawnBlocking) && !receiver.about.spawns_blocking => {
                anyhow!(
                    "{receiver} has no threads for what blocks: use --server-model pool, or tokio"
                )
            }
            () if model == Some(ServerModel::Pool) && has_a_port_each => anyhow!(
                "each flow of {receiver} would have a pool: use --server-model spawn-blocking"
            ),
            () => {
                let refusal = |entry: &Entry| {
                    let refused = entry.about.can_serve_requests.err();
                    refused.map(|reason| format!("{entry} {reason}"))
                };
                return permitted(refusal(sender).or_else(|| refusal(receiver)));
            }
        })
    }

    /// Checks that the case can have its flows: ports, memory, and engines that serve several sockets.
    pub(super) fn can_serve(&self) -> anyhow::Result<()> {
        let case = self.case;
        let serves_from_one = case.serves_from_one_socket();
        let mut has_many = [
            Some(self.sender),
            (!serves_from_one).then_some(self.receiver),
        ]
        .into_iter()
        .flatten();
        if let Some(single) = has_many.find(|it| it.many_endpoints.0 == ManyEndpoints::No) {
            let instead = if serves_from_one {
                "; it can be the --receiver, which answers them all over one"
            } else {
                ""
            };
            bail!(
                "{single} serves one socket per thread: its calls wait for that one alone{instead}"
            );
        }
        let flows = case.flow_count();
        let most = usize::from(u16::MAX) / if case.is_full_duplex() { 2 } else { 1 };
        let sockets = flows + case.receiver_sockets();
        let bytes = 2 * flows * case.payload.bytes();
        Err(match () {
            () if flows > most => {
                anyhow!("{flows} flows, more than {most}: use fewer --threads or --flows")
            }
            () if case.ip == Ip::V6 && sockets > PORTS => {
                anyhow!("{flows} flows need {sockets} ports, and ::1 has {PORTS}: use --ip v4")
            }
            () if self.conditions.host.lists_drops && flows > MOST_LISTED => anyhow!(
                "this kernel lists the drops of all sockets (before Linux 4.12, or emulated), which takes too long for \
                 {flows} flows: use {MOST_LISTED} or fewer"
            ),
            () if bytes > MOST_FLOW_BYTES => anyhow!(
                "room for {flows} datagrams of {} B at either end takes {} MiB: use fewer --flows or a smaller --payload",
                case.payload,
                bytes >> 20
            ),
            () => return Ok(()),
        })
    }

    /// Checks that the case can send in both directions.
    pub(super) fn can_duplex(&self) -> anyhow::Result<()> {
        let (case, sender, receiver) = (self.case, self.sender, self.receiver);
        let is_steered = case.sharing == Some(Sharing::Reuseport(Spread::Bpf));
        let is_even = !is_steered && case.sharing.is_none_or(Sharing::is_even);
        Err(match () {
            () if !sender.about.moves_datagrams => {
                anyhow!("{sender} moves no datagrams, in neither direction")
            }
            () if case.threads.senders() != case.threads.receivers() || !is_even => anyhow!(
                "each sender has one receiver: use an even number of --threads, and leave out --sharing and --spread"
            ),
            // A thread that spins and one that sleeps cannot share a socket.
            () if sender.pair() != receiver.pair() => anyhow!(
                "{sender} and {receiver} would share each socket, and each waits in its own way"
            ),
            () => return Ok(()),
        })
    }

    /// Checks that the messages of the case can go over its transport.
    pub(super) fn can_carry(&self, transport: Transport) -> anyhow::Result<()> {
        let (case, sender, receiver) = (self.case, self.sender, self.receiver);
        let goes = |entry: &&Entry| entry.carrier(transport).is_some();
        if let Some(entry) = [sender, receiver].into_iter().find(|entry| !goes(entry)) {
            let those: Vec<&str> = engines::all()
                .filter(goes)
                .map(|it| it.about.name)
                .collect();
            let its_program = engines::why_not_built("message-io").unwrap_or_default();
            ensure!(
                !those.is_empty(),
                "no engine here goes over {transport}; it has {its_program}"
            );
            let those = those.join(" or ");
            bail!("{entry} does not go over {transport} here, {those} does");
        }
        let bytes_of = |entry: &Entry, is_client| {
            let carrier = entry.carrier(transport);
            carrier.map(|it| (it.bytes_of)(case.payload.bytes(), is_client))
        };
        let differ = |is_client| bytes_of(sender, is_client) != bytes_of(receiver, is_client);
        let (threads, tos) = (case.threads, case.tos.map_or(0, Tos::byte));
        let is_bare = matches!(transport, Transport::UnixStream | Transport::Tcp);
        Err(match () {
            () if differ(true) || differ(false) => anyhow!(
                "{sender} and {receiver} write different heads before messages over {transport}"
            ),
            () if case.flows.is_some() => anyhow!(
                "over {transport} each pair of threads has one connection: leave out --flows"
            ),
            () if !threads.is_alone() && threads.senders() != threads.receivers() => anyhow!(
                "each connection has a thread at either end: use an even number of --threads"
            ),
            () if is_bare && case.payload.bytes() == 0 => {
                anyhow!("a stream has no messages of 0 bytes: use a --payload of 1 or more")
            }
            // TCP itself sets them, for congestion notification (RFC 3168).
            () if tos % 4 != 0 => {
                anyhow!("TCP sets the two lowest bits of --tos itself: use a multiple of 4")
            }
            () if case.server_model.unwrap_or_default() != ServerModel::Inline => anyhow!(
                "over {transport} answers come in the order of requests: use --server-model inline"
            ),
            () => return has_room(case, transport),
        })
    }
}

/// Returns how long a request waits for its service at most.
fn queue_ns(case: &Case) -> u64 {
    let Some(service) = case.service.filter(|_| !case.is_open_loop()) else {
        return 0;
    };
    let clients = case.threads.senders().div_ceil(case.threads.receivers());
    let requests = clients * case.flows_each() * case.outstanding_requests();
    // Requests that compute share the server's CPU, on however many threads.
    let at_a_time = if service.sleeps {
        case.server_model.unwrap_or_default().at_a_time()
    } else {
        1
    };
    service.ns * requests.div_ceil(at_a_time) as u64
}

/// Checks that both ends of a connection never wait for room while neither reads.
fn has_room(case: &Case, transport: Transport) -> anyhow::Result<()> {
    let asked = [case.sndbuf, case.requested_rcvbuf()].into_iter().flatten();
    let asked = asked.map(Buffer::bytes).min();
    let room = ROOM_BYTES.min(asked.unwrap_or(ROOM_BYTES));
    let (payload, outstanding) = (case.payload.bytes(), case.outstanding_requests());
    let is_closed_loop = case.is_rr() && !case.is_open_loop();
    let are_many = outstanding * (payload + OVERHEAD_BYTES) > room
        || (transport == Transport::UnixDgram && outstanding > MOST_UNIX_DATAGRAMS);
    Err(match () {
        () if case.threads.is_alone() && payload > room => anyhow!(
            "one thread that sends before it receives would wait for room: use --threads 2, or {room} B or less"
        ),
        () if is_closed_loop && outstanding > 1 && are_many => anyhow!(
            "{outstanding} requests of {payload} B and their answers may fill a connection both ways while neither end \
             reads: use a smaller --outstanding or --payload"
        ),
        () => return Ok(()),
    })
}

/// Checks that this process may have as many open files as a case needs: the sockets of all flows and their copies, the
/// coordinator thread's own handle on each receiving socket, and the other files of the run and of its event loops. A
/// case without `--flows` may run with the minimum, so only that is required.
pub(super) fn has_enough_files(case: &Case, allowed: Option<u64>) -> anyhow::Result<()> {
    let (senders, receivers) = (case.threads.senders(), case.threads.receivers());
    let is_duplex = case.is_full_duplex();
    let has_copy = is_duplex || case.is_open_loop();
    let of_sender = 1 + usize::from(has_copy) + usize::from(case.receives_at_both_ends());
    let of_receiver = 2 + usize::from(is_duplex || case.server_model.is_some());
    let sockets = case.flow_count() * of_sender + case.receiver_sockets() * of_receiver;
    // Those at a rate have the kernel's transmit timestamps.
    let stamps = if case.is_paced() { senders } else { 0 };
    let besides = case.flows.map_or(12, |_| 64 + 8 * (senders + receivers));
    let files = (sockets + stamps + besides) as u64;
    let what = match case.flows {
        Some(_) => format!("{} flows", case.flow_count()),
        None => format!("{} threads", case.threads),
    };
    ensure!(
        allowed.is_none_or(|allowed| files <= allowed),
        "{what} take {files} open files, and {} may be: raise the limit (ulimit -Hn {files}, as root)",
        allowed.unwrap_or_default()
    );
    Ok(())
}
