//! Cases that cannot run over transports other than UDP.

use anyhow::{bail, ensure};

use crate::data::{Buffer, Case, ServerModel, Transport};
use crate::engines::{self, Engines, Entry};

/// Minimum of the bytes that a connection takes while nobody reads, if no buffer size is requested: Unix sockets have
/// 208 KiB, and TCP over loopback has more.
const ROOM_BYTES: usize = 64 << 10;
/// Bytes that the kernel charges for each message besides its payload.
const OVERHEAD_BYTES: usize = 1 << 10;
/// Minimum of the messages that a Unix datagram socket takes while nobody reads (`net.unix.max_dgram_qlen`).
const MOST_UNIX_DATAGRAMS: usize = 10;

/// Checks that the messages of a case can go over its transport. The error is the reason why not.
pub(super) fn can_carry(
    case: &Case,
    transport: Transport,
    (sender, receiver): Engines,
) -> anyhow::Result<()> {
    let goes = |entry: &Entry| entry.carrier(transport).is_some();
    if let Some(entry) = [sender, receiver].into_iter().find(|entry| !goes(entry)) {
        let those = engines::all().filter(|entry| goes(entry));
        let those: Vec<&str> = those.map(|entry| entry.about.name).collect();
        let its_program = engines::why_not_built("message-io").unwrap_or_default();
        ensure!(
            !those.is_empty(),
            "no engine here goes over {transport}; it has {its_program}"
        );
        let those = those.join(" or ");
        bail!("{entry} does not go over {transport} here, {those} does");
    }
    let bytes_of = |entry: &Entry| {
        let carrier = entry.carrier(transport);
        [true, false]
            .map(|is_client| carrier.map(|it| (it.bytes_of)(case.payload.bytes(), is_client)))
    };
    ensure!(
        bytes_of(sender) == bytes_of(receiver),
        "{sender} and {receiver} write different heads before messages over {transport}"
    );
    ensure!(
        case.flows.is_none(),
        "over {transport} each pair of threads has one connection: leave out --flows"
    );
    let threads = case.threads;
    ensure!(
        threads.is_alone() || threads.senders() == threads.receivers(),
        "each connection has a thread at either end: use an even number of --threads"
    );
    let is_bare = matches!(transport, Transport::UnixStream | Transport::Tcp);
    ensure!(
        !is_bare || case.payload.bytes() > 0,
        "a stream has no messages of 0 bytes: use a --payload of 1 or more"
    );
    // TCP itself sets the two lowest bits, for congestion notification (RFC 3168).
    ensure!(
        case.tos.is_none_or(|tos| tos.byte() % 4 == 0),
        "TCP sets the two lowest bits of --tos itself: use a multiple of 4"
    );
    ensure!(
        case.server_model.unwrap_or_default() == ServerModel::Inline,
        "over {transport} answers come in the order of requests: use --server-model inline"
    );
    has_room(case, transport)
}

/// Checks that both ends of a connection never wait for room while neither reads.
fn has_room(case: &Case, transport: Transport) -> anyhow::Result<()> {
    let asked = [case.sndbuf, case.requested_rcvbuf()].into_iter().flatten();
    let asked = asked.map(Buffer::bytes).min();
    let room = ROOM_BYTES.min(asked.unwrap_or(ROOM_BYTES));
    let payload = case.payload.bytes();
    ensure!(
        !case.threads.is_alone() || payload <= room,
        "one thread that sends before it receives would wait for room: use --threads 2, or {room} B or less"
    );
    let outstanding = case.outstanding_requests();
    let is_closed_loop = case.is_rr() && !case.is_open_loop();
    let are_many = outstanding * (payload + OVERHEAD_BYTES) > room
        || (transport == Transport::UnixDgram && outstanding > MOST_UNIX_DATAGRAMS);
    ensure!(
        !(is_closed_loop && outstanding > 1 && are_many),
        "{outstanding} requests of {payload} B and their answers may fill a connection both ways while neither end \
         reads: use a smaller --outstanding or --payload"
    );
    Ok(())
}
