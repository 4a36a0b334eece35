//! Frames that are on their way: those that are due at a time, and those that wait for others to pass.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::Passage;

/// A frame, and how it passes.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its bytes.
    pub(crate) frame: Vec<u8>,
    /// Part of the datagram that the frame carries.
    pub(crate) part: Part,
    /// Changes that the frame has when it passes.
    pub(crate) passage: Passage,
}

/// Part of a datagram that a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole datagram, or its first fragment: this counts as the datagram.
    First,
    /// A later fragment.
    Later,
    /// Part of a datagram that does not count, or no datagram.
    Uncounted,
}

/// The frames held in one direction.
#[derive(Debug, Default)]
pub(crate) struct Holding {
    due: BinaryHeap<Reverse<(Duration, u64, usize)>>,
    /// By place: what `due` names, and what has been given back.
    places: Vec<Option<Held>>,
    free: Vec<usize>,
    /// In the order in which they came, each with the number of others that still have to pass.
    behind: Vec<(u64, Held)>,
    /// Buffers to use again: no frame that is held allocates once there are enough.
    spare: Vec<Vec<u8>>,
    /// Number that keeps frames of the same time in their order.
    order: u64,
}

impl Holding {
    /// Number of frames.
    pub(crate) fn len(&self) -> usize {
        self.due.len() + self.behind.len()
    }

    /// Returns the number of held frames that count as a datagram.
    pub(crate) fn datagrams(&self) -> usize {
        let due = self.places.iter().flatten();
        let behind = self.behind.iter().map(|(_, held)| held);
        due.chain(behind)
            .filter(|held| held.part == Part::First)
            .count()
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    /// Holds a copy of the frame until its time.
    pub(crate) fn until_due(&mut self, frame: &[u8], part: Part, passage: Passage) {
        let held = self.copied(frame, part, passage);
        let place = self.free.pop().unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(held);
        self.due.push(Reverse((passage.at, self.order, place)));
        self.order += 1;
    }

    /// The next one that is due by now.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<Held> {
        self.next().filter(|at| *at <= now)?;
        let Reverse((_, _, place)) = self.due.pop()?;
        self.free.push(place);
        self.places[place].take()
    }

    /// Holds a copy of the frame until others have passed.
    pub(crate) fn until_passed(&mut self, frame: &[u8], part: Part, passage: Passage) {
        let held = self.copied(frame, part, passage);
        self.behind.push((passage.behind, held));
    }

    /// A datagram that was not held back has passed.
    pub(crate) fn one_passed(&mut self) {
        for (others, _) in &mut self.behind {
            *others = others.saturating_sub(1);
        }
    }

    /// The next one that enough others have passed.
    pub(crate) fn take_passed(&mut self) -> Option<Held> {
        let first = self.behind.iter().position(|(others, _)| *others == 0)?;
        Some(self.behind.remove(first).1)
    }

    /// Takes the buffer of one that has passed.
    pub(crate) fn reuse(&mut self, mut held: Held) {
        held.frame.clear();
        self.spare.push(held.frame);
    }

    fn copied(&mut self, frame: &[u8], part: Part, passage: Passage) -> Held {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(frame);
        Held {
            frame: buffer,
            part,
            passage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(at_us: u64, behind: u64) -> Passage {
        Passage {
            at: Duration::from_micros(at_us),
            behind,
            ..Passage::default()
        }
    }

    #[test]
    fn frames_pass_when_they_are_due_and_in_their_order() {
        let mut holding = Holding::default();
        for (frame, at_us) in [(1, 30), (2, 10), (3, 30), (4, 20)] {
            holding.until_due(&[frame], Part::First, passage(at_us, 0));
        }
        assert_eq!(holding.next(), Some(Duration::from_micros(10)));
        let mut passed = Vec::new();
        for now in [9, 10, 29, 30] {
            while let Some(held) = holding.take_due(Duration::from_micros(now)) {
                passed.push((now, held.frame[0]));
                holding.reuse(held);
            }
        }
        assert_eq!(passed, [(10, 2), (29, 4), (30, 1), (30, 3)]);
        assert_eq!(holding.len(), 0);
    }

    #[test]
    fn a_frame_that_is_held_back_passes_after_so_many_others() {
        let mut holding = Holding::default();
        holding.until_passed(&[1], Part::First, passage(0, 2));
        holding.until_passed(&[2], Part::Later, passage(0, 2));
        assert_eq!((holding.len(), holding.datagrams()), (2, 1));
        holding.one_passed();
        assert!(holding.take_passed().is_none());
        holding.one_passed();
        let order = [(); 2].map(|()| holding.take_passed().map(|held| held.frame[0]));
        assert_eq!(order, [Some(1), Some(2)]);
        assert!(holding.take_passed().is_none());
    }
}
