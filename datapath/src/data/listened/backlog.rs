//! Estimate of the receive buffer that would have held everything.

/// Datagrams of a queue that are enough to know the memory of one, if nothing was dropped.
const FEWEST: u64 = 16;

/// Longest backlog of a socket: what its queue held, and what it dropped meanwhile.
///
/// With a larger buffer, the dropped datagrams would have waited behind those of the queue. So the backlog is the full
/// buffer and the drops until the queue was empty again, each with the memory that a datagram takes up. That memory is
/// known from a full queue: its bytes, divided by its datagrams, which are those that had arrived at the reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Drops of the socket at the last look.
    seen_drops: u32,
    /// Datagrams dropped since the queue was empty.
    dropped: u64,
    /// Largest number of datagrams dropped before the queue was empty again.
    most_dropped: u64,
    /// Largest memory of the queue that was seen, in bytes.
    pub most_queued_bytes: u32,
    /// Memory of the queue at the last reading, and its time since 1970 in nanoseconds, while its datagrams are
    /// counted.
    reading: Option<(u32, u64)>,
    /// Datagrams of that queue so far.
    counted: u64,
    /// The fullest queue whose datagrams were counted: bytes and datagrams.
    fullest: (u32, u64),
}

impl Backlog {
    /// Creates the backlog of a socket that has dropped this many datagrams since it was made.
    pub fn new(drops: u32) -> Self {
        Self {
            seen_drops: drops,
            ..Self::default()
        }
    }

    /// Enters the memory of the queue before it is read, in bytes, the drops of the socket since it was made, and the
    /// time since 1970 in nanoseconds.
    pub fn queue(&mut self, bytes: u32, drops: u32, now_ns: u64) {
        self.most_queued_bytes = self.most_queued_bytes.max(bytes);
        // The rest of a queue that is counted is smaller: a call reads a part of it.
        let most = self.reading.map_or(self.fullest.0, |(bytes, _)| bytes);
        if bytes > most {
            self.reading = Some((bytes, now_ns));
            self.counted = 0;
        }
        self.drops(drops);
    }

    /// Enters a datagram that was read, by its arrival since 1970 in nanoseconds.
    pub fn datagram(&mut self, arrived_ns: u64) {
        match self.reading {
            Some((_, read_ns)) if arrived_ns <= read_ns => self.counted += 1,
            Some(_) => self.finish_counting(),
            None => {}
        }
    }

    /// Enters the drops of the socket since it was made. The kernel keeps 32 bits.
    pub fn drops(&mut self, drops: u32) {
        self.dropped += u64::from(drops.wrapping_sub(self.seen_drops));
        self.seen_drops = drops;
        self.most_dropped = self.most_dropped.max(self.dropped);
    }

    /// Enters drops before the count began, behind datagrams that are still in the queue.
    pub fn older(&mut self, drops: u32) {
        self.dropped += u64::from(drops);
        self.most_dropped = self.most_dropped.max(self.dropped);
    }

    /// Enters that the queue is empty.
    pub fn empty(&mut self) {
        self.finish_counting();
        self.dropped = 0;
    }

    fn finish_counting(&mut self) {
        if let Some((bytes, _)) = self.reading.take() {
            // One that arrived meanwhile would count for much beside few.
            if self.counted >= FEWEST || self.counted > 0 && self.dropped > 0 {
                self.fullest = (bytes, self.counted);
            }
        }
    }

    /// Returns the memory that one datagram takes up in the queue, in bytes. `None`: no queue was counted.
    pub fn bytes_per_datagram(&self) -> Option<u64> {
        let (bytes, datagrams) = self.fullest;
        (datagrams > 0).then(|| u64::from(bytes).div_ceil(datagrams))
    }

    /// Returns the estimate of the memory that would have held everything, in bytes. `granted` is the size of the
    /// buffer, `largest` the memory of the largest datagram: sizes of dropped ones are not known. `None`: nothing was
    /// dropped, or the memory of a datagram is not known.
    pub fn needed_bytes(&self, granted: u32, largest: u32) -> Option<u64> {
        let each = self.bytes_per_datagram()?.max(largest.into());
        let full = u64::from(granted.max(self.most_queued_bytes));
        (self.most_dropped > 0).then(|| full + self.most_dropped * each)
    }
}
