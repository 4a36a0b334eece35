//! Cases that cannot run over transports other than UDP.

use crate::data::{Buffer, Case, ServerModel, Transport};
use crate::engines::{self, Engines, Entry};

/// Minimum of the bytes that a connection takes while nobody reads, if no buffer size is requested: Unix sockets have
/// 208 KiB, and TCP over loopback has more.
const ROOM_BYTES: usize = 64 << 10;
/// Bytes that the kernel charges for each message besides its payload.
const OVERHEAD_BYTES: usize = 1 << 10;
/// Minimum of the messages that a Unix datagram socket takes while nobody reads (`net.unix.max_dgram_qlen`).
const MOST_UNIX_DATAGRAMS: usize = 10;

/// Returns why the messages of a case cannot go over its transport, if they cannot.
pub(super) fn cannot_carry(
    case: &Case,
    transport: Transport,
    (sender, receiver): Engines,
) -> Option<String> {
    let goes = |entry: &Entry| entry.carrier(transport).is_some();
    if let Some(entry) = [sender, receiver].into_iter().find(|entry| !goes(entry)) {
        let those = engines::all().filter(|entry| goes(entry));
        let those: Vec<&str> = those.map(|entry| entry.about.name).collect();
        if those.is_empty() {
            let its_program = engines::why_not_built("message-io").unwrap_or_default();
            return Some(format!(
                "no engine here goes over {transport}; it has {its_program}"
            ));
        }
        return Some(format!(
            "{entry} does not go over {transport} here, {} does",
            those.join(" or ")
        ));
    }
    let bytes_of = |entry: &Entry, is_client| {
        let carrier = entry.carrier(transport)?;
        (carrier.bytes_of)(case.payload.bytes(), is_client)
    };
    if [true, false].map(|it| bytes_of(sender, it))
        != [true, false].map(|it| bytes_of(receiver, it))
    {
        return Some(format!(
            "{sender} and {receiver} write different heads before messages over {transport}"
        ));
    }
    if case.flows.is_some() {
        return Some(format!(
            "over {transport} each pair of threads has one connection: leave out --flows"
        ));
    }
    let threads = case.threads;
    if !threads.is_alone() && threads.senders() != threads.receivers() {
        return Some(
            "each connection has a thread at either end: use an even number of --threads"
                .to_owned(),
        );
    }
    let is_bare = matches!(transport, Transport::UnixStream | Transport::Tcp);
    if is_bare && case.payload.bytes() == 0 {
        return Some(
            "a stream has no messages of 0 bytes: use a --payload of 1 or more".to_owned(),
        );
    }
    // TCP itself sets the two lowest bits, for congestion notification (RFC 3168).
    if case.tos.is_some_and(|tos| tos.byte() % 4 != 0) {
        return Some(
            "TCP sets the two lowest bits of --tos itself: use a multiple of 4".to_owned(),
        );
    }
    let model = case.server_model.unwrap_or_default();
    if model != ServerModel::Inline {
        return Some(format!(
            "over {transport} answers come in the order of requests: use --server-model inline"
        ));
    }
    waits_for_ever(case, transport)
}

/// Returns why both ends of a connection might wait for room while neither reads, if they might.
fn waits_for_ever(case: &Case, transport: Transport) -> Option<String> {
    let asked = [case.sndbuf, case.requested_rcvbuf()].into_iter().flatten();
    let asked = asked.map(Buffer::bytes).min();
    let room = ROOM_BYTES.min(asked.unwrap_or(ROOM_BYTES));
    let payload = case.payload.bytes();
    if case.threads.is_alone() && payload > room {
        return Some(format!(
            "one thread that sends before it receives would wait for room: use --threads 2, or {room} B or less"
        ));
    }
    let outstanding = case.outstanding_requests();
    let is_closed_loop = case.is_rr() && !case.is_open_loop();
    let are_many = outstanding * (payload + OVERHEAD_BYTES) > room
        || (transport == Transport::UnixDgram && outstanding > MOST_UNIX_DATAGRAMS);
    (is_closed_loop && outstanding > 1 && are_many).then(|| {
        format!(
            "{outstanding} requests of {payload} B and their answers may fill a connection both ways while neither end \
             reads: use a smaller --outstanding or --payload"
        )
    })
}
