//! Numbers around the highest one, of which each came or did not.

/// Words of 64 bits.
const WORDS: usize = 64;
/// Positions that are remembered.
const REMEMBERED: u64 = 64 * WORDS as u64;
/// Numbers before the first one of a part that may still come late.
const EARLY: u64 = 64;

/// The last 4096 positions of a series. Positions do not begin again at 0, numbers do.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    /// Position of the highest number.
    pub(super) position: u64,
    /// Position of the lowest number that came.
    lowest: u64,
    /// One bit per position.
    came: [u64; WORDS],
}

/// Kinds of numbers that are not above the highest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// It had come before.
    Repeated { half: Half },
    /// It was missing. `neighbours`: the numbers next to it that came.
    Filled { half: Half, neighbours: u8 },
    /// It is below the lowest one, with this many numbers between.
    Early { between: u64 },
    /// It is far below the lowest one.
    FarBelow,
}

/// Halves of the series so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    First,
    Second,
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            position: 0,
            lowest: 0,
            came: [0; WORDS],
        }
    }
}

impl Ring {
    /// Returns the most numbers back that are remembered, of a series of 2^bits numbers.
    pub(super) fn back(bits: u32) -> u64 {
        // The bit before the last one is needed as a neighbour.
        REMEMBERED.min(1 << (bits - 2)) - 2
    }

    /// Begins a series. Bit `n` of `came`: number `n` from the first one on came. The first and the highest bit are
    /// set.
    pub(super) fn begin(&mut self, came: u64) {
        self.came.fill(0);
        // Positions before it are for numbers that come late.
        self.lowest = 2 * REMEMBERED;
        self.position = self.lowest + u64::from(came.ilog2());
        for n in (0..u64::BITS).filter(|n| came & 1 << n != 0) {
            self.mark(self.lowest + u64::from(n));
        }
    }

    /// Returns the numbers from the lowest to the highest one, less one.
    pub(super) fn span(&self) -> u64 {
        self.position - self.lowest
    }

    /// Moves the highest position and forgets those that leave the ring.
    pub(super) fn advance(&mut self, ahead: u64) {
        for n in 1..=ahead.min(REMEMBERED) {
            let position = self.position + n;
            // With a jump longer than the ring, every bit is cleared once.
            let (word, bit) = place(position);
            self.came[word] &= !bit;
        }
        self.position += ahead;
        self.mark(self.position);
    }

    /// Enters a number that is this much below the highest one.
    pub(super) fn look_back(&mut self, behind: u64) -> Behind {
        let position = self.position - behind;
        let half = match position.saturating_sub(self.lowest) {
            from if from <= self.span() / 2 => Half::First,
            _ => Half::Second,
        };
        if self.has(position) {
            return Behind::Repeated { half };
        }
        if position > self.lowest {
            self.mark(position);
            let neighbours = u8::from(self.has(position - 1)) + u8::from(self.has(position + 1));
            return Behind::Filled { half, neighbours };
        }
        let below = self.lowest - position;
        if below > EARLY {
            return Behind::FarBelow;
        }
        self.mark(position);
        self.lowest = position;
        Behind::Early { between: below - 1 }
    }

    fn has(&self, position: u64) -> bool {
        let (word, bit) = place(position);
        self.came[word] & bit != 0
    }

    fn mark(&mut self, position: u64) {
        let (word, bit) = place(position);
        self.came[word] |= bit;
    }
}

/// Returns the place of a position's bit in the ring.
fn place(position: u64) -> (usize, u64) {
    let at = (position % REMEMBERED) as usize;
    (at / 64, 1 << (at % 64))
}
