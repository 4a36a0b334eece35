//! Whether a window can be what happened: files can be damaged, or edited.

use crate::sample::{Fates, Sample};

/// No counter of a window reaches this: 2^53 datagrams are a year at 100 Mpps, and spreadsheets and JSON
/// readers count no further.
const MOST: u64 = 1 << 53;
/// The last millisecond of the year 9999, where RFC 3339 ends.
const LAST_MS: u64 = 253_402_300_799_999;
const MOST_LANES: usize = 4096;

impl Sample {
    /// What about it cannot be, if anything.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let books = &self.books;
        let counts = self.lanes.iter().flat_map(|lane| {
            [
                lane.sent_packets,
                lane.sent_bytes,
                lane.received_packets,
                lane.received_bytes,
                lane.would_blocks,
                lane.errors,
                lane.cpu_ns.unwrap_or_default(),
                lane.voluntary_switches.unwrap_or_default(),
                lane.involuntary_switches.unwrap_or_default(),
            ]
        });
        let of_run = [books.unread, books.kernel_discards, self.window_ns];
        let ends = [
            books.at_end.sent,
            books.at_end.received,
            books.at_end.dropped_socket,
        ];
        let buffers = [self.rcvbuf_bytes, self.sndbuf_bytes];
        let mut all = counts.chain(of_run).chain(ends).chain(buffers);
        if all.any(|count| count >= MOST) {
            return Some("a count of 2^53 or more");
        }
        if self.window_ns == 0 {
            return Some("a window that was never open");
        }
        if self.opened_unix_ms > LAST_MS {
            return Some("a window after the year 9999");
        }
        if self.lanes.is_empty() || self.lanes.len() > MOST_LANES {
            return Some("a window with no lanes, or too many");
        }
        if !(follows(books.at_opening, books.at_closing) && follows(books.at_closing, books.at_end))
        {
            return Some("books whose counts fall");
        }
        let mut paces = self.lanes.iter().filter_map(|lane| lane.pace);
        paces
            .any(|pace| pace.chain_ns == 0)
            .then_some("a CPU that needed no time")
    }
}

fn follows(before: Fates, after: Fates) -> bool {
    before.sent <= after.sent
        && before.received <= after.received
        && before.dropped_socket <= after.dropped_socket
}
