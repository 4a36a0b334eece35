//! Senders whose datagrams are lost, late, repeated and dropped by a seed.

use std::collections::BTreeMap;

use super::super::*;
use crate::data::sequence::Series;

const US: u64 = 1000;

/// Random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn up_to(&mut self, most: u64) -> u64 {
        self.next() % (most + 1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.next() % from.len() as u64).expect("small")]
    }

    fn is(&mut self, per_mille: u64) -> bool {
        self.next() % 1000 < per_mille
    }
}

/// Ways in which a sender numbers its datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Numbering {
    Plain,
    /// It begins again at this number of the time, at 0 or anywhere.
    Restarts(u64),
    /// It begins again after so many, with a pause.
    Frames(u64),
    /// It begins again after so many, without a pause.
    Short(u64),
    Steps(u64),
    Random,
    Constant,
    /// Microseconds.
    Time,
}

/// Datagram of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram {
    sender: u8,
    /// Its place among those of its sender.
    id: u64,
    /// Series that it belongs to.
    part: u64,
    number: u64,
    at_ns: u64,
    pub(super) address: SocketAddr,
    pub(super) interface: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fate {
    came: u64,
    dropped: bool,
}

/// Truth about the numbers of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Truth {
    pub(super) received: u64,
    pub(super) missing: u64,
    pub(super) places: u64,
    pub(super) duplicates: u64,
    pub(super) restarts: u64,
    pub(super) at_socket: u64,
}

impl Truth {
    /// Returns what was said.
    pub(super) fn said(series: &Series) -> Self {
        let counts = series.counts;
        let not_negative = |count: i64| u64::try_from(count).expect("not below 0");
        Self {
            received: counts.received,
            missing: not_negative(counts.missing),
            places: not_negative(counts.places),
            duplicates: counts.duplicates,
            restarts: counts.restarts,
            at_socket: series.possible_drops,
        }
    }
}

pub(super) struct Stream {
    random: Random,
    bits: u32,
    sent: Vec<Datagram>,
    /// Longest delay of a copy, in nanoseconds: copies of whole frames cannot be told from frames.
    longest_copy_ns: u64,
    /// Numbering of each sender.
    numberings: Vec<Numbering>,
    pub(super) about: Vec<String>,
}

impl Stream {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let bits = random.pick(&[8, 16, 16, 24, 32, 32]);
        let mut stream = Self {
            random,
            bits,
            sent: Vec::new(),
            longest_copy_ns: u64::MAX,
            numberings: Vec::new(),
            about: vec![format!("seed {seed}, {bits} bits")],
        };
        let senders = stream.random.pick(&[1, 1, 2, 2, 3, 5]);
        for sender in 0..senders {
            stream.send(sender);
        }
        stream
    }

    fn numbering(&mut self) -> Numbering {
        let random = &mut self.random;
        match random.up_to(15) {
            6..=7 if self.bits > 8 => Numbering::Restarts(1 + random.up_to(2)),
            0..=7 => Numbering::Plain,
            8..=9 => Numbering::Frames(20 + random.up_to(200)),
            10 => Numbering::Short(random.pick(&[100, 256, 1000, 1024, 4096, 10_000])),
            11 => Numbering::Steps(random.pick(&[2, 3, 16, 1000])),
            12 => Numbering::Constant,
            13 => Numbering::Time,
            _ => Numbering::Random,
        }
    }

    /// Sends the datagrams of a sender: in some streams with the address of the one before, on the same interface or on
    /// another one.
    fn send(&mut self, sender: u8) {
        let numbering = self.numbering();
        self.numberings.push(numbering);
        let count = 100 + self.random.up_to(3000);
        let gap_ns = self.random.pick(&[20, 100, 500, 2000, 10_000]) * US;
        if let Numbering::Frames(length) | Numbering::Short(length) = numbering {
            self.longest_copy_ns = self.longest_copy_ns.min(gap_ns * length / 4);
        }
        let shares = sender > 0 && self.random.is(200);
        let port = 2000 + u16::from(sender) - u16::from(shares);
        let interface = 1 + u32::from(shares && self.random.is(700)) * u32::from(sender);
        let changes_port = self.random.is(50);
        self.about.push(format!(
            "{numbering:?} {count} every {gap_ns} ns, port {port} on {interface}, changes {changes_port}"
        ));
        let mask = u64::MAX >> (64 - self.bits);
        let mut number = self.random.pick(&[0, 1, mask - 50, 30_000]) & mask;
        if self.random.is(500) {
            number = self.random.next() & mask;
        }
        let restarts: Vec<u64> = match numbering {
            Numbering::Restarts(times) => (0..times).map(|_| self.random.up_to(count)).collect(),
            _ => Vec::new(),
        };
        let (mut at_ns, mut part) = (1_000_000_000_000 + self.random.up_to(1_000_000_000), 0);
        for id in 0..count {
            at_ns += gap_ns / 2 + self.random.up_to(gap_ns);
            let begins = match numbering {
                Numbering::Frames(length) | Numbering::Short(length)
                    if number >= length.min(mask + 1) =>
                {
                    Some(0)
                }
                Numbering::Restarts(_) if restarts.contains(&id) => {
                    Some(if self.bits == 32 && self.random.is(300) {
                        self.random.next() & mask
                    } else {
                        0
                    })
                }
                _ => None,
            };
            if let Some(first) = begins {
                // A counter that ends as its field does only goes around.
                let goes_around = number == mask + 1;
                part += u64::from(!goes_around);
                number = first;
                match numbering {
                    Numbering::Frames(_) => at_ns += 20_000 * US,
                    Numbering::Restarts(_) => at_ns += (500 + self.random.up_to(4000)) * MS,
                    _ => {}
                }
            }
            let shown = match numbering {
                Numbering::Random => self.random.next() & mask,
                Numbering::Constant => 7,
                Numbering::Time => (at_ns / US) & mask,
                _ => number & mask,
            };
            let port = if changes_port {
                10_000 + u16::try_from(id % 40_000).expect("small")
            } else {
                port
            };
            self.sent.push(Datagram {
                sender,
                id,
                part,
                number: shown,
                at_ns,
                address: ([10, 0, 0, if changes_port { 1 + sender } else { 99 }], port).into(),
                interface,
            });
            number = match numbering {
                Numbering::Steps(step) => (number + step) & mask,
                Numbering::Frames(_) | Numbering::Short(_) => number + 1,
                _ => (number + 1) & mask,
            };
        }
    }

    /// Returns what arrives at the socket in order, and loses datagrams on the way.
    pub(super) fn travel(&mut self) -> Vec<Datagram> {
        let (first, last) = self.span();
        let random = &mut self.random;
        let lost_per_mille = random.pick(&[0, 0, 1, 20, 150, 300]);
        let every = random.pick(&[0, 0, 0, 10, 7]);
        let bursts: Vec<(u64, u64)> = (0..random.pick(&[0, 0, 1, 3]))
            .map(|_| {
                let from = first + random.up_to(last - first);
                (from, from + random.up_to((last - first) / 5))
            })
            .collect();
        let copies = random.pick(&[0, 0, 0, 5, 1000]);
        let copy_ns = (random.up_to(2000) * US).min(self.longest_copy_ns);
        let late_per_mille = random.pick(&[0, 0, 0, 10, 200]);
        let late_ns = random.up_to(3000) * US;
        self.about.push(format!(
            "lost {lost_per_mille}, every {every}, bursts {bursts:?}, copies {copies} after {copy_ns}, late \
             {late_per_mille} by {late_ns}"
        ));
        let mut arrived = Vec::new();
        for datagram in &self.sent {
            let is_in_burst = bursts
                .iter()
                .any(|(from, to)| (from..to).contains(&&datagram.at_ns));
            let is_lost = |random: &mut Random| {
                random.is(lost_per_mille) || is_in_burst || every > 0 && datagram.id % every == 3
            };
            let mut copy = *datagram;
            if random.is(late_per_mille) {
                copy.at_ns += late_ns;
            }
            if !is_lost(random) {
                arrived.push(copy);
            }
            if random.is(copies) && !is_lost(random) {
                copy.at_ns += copy_ns;
                arrived.push(copy);
            }
        }
        arrived.sort_by_key(|datagram| datagram.at_ns);
        arrived
    }

    fn span(&self) -> (u64, u64) {
        let times = self.sent.iter().map(|datagram| datagram.at_ns);
        (
            times.clone().min().expect("some"),
            times.max().expect("some"),
        )
    }

    /// Delivers datagrams, except those that the socket drops. Returns what was heard, and the fates by sender and
    /// place.
    pub(super) fn hear(&mut self, arrived: &[Datagram]) -> (Listened, BTreeMap<(u8, u64), Fate>) {
        let (first, last) = self.span();
        let random = &mut self.random;
        let full: Vec<(u64, u64)> = (0..random.pick(&[0, 0, 1, 2]))
            .map(|_| {
                let from = first + random.up_to(last - first);
                (from, from + random.up_to((last - first) / 10))
            })
            .collect();
        // A full queue takes one now and then.
        let taken_per_mille = random.pick(&[0, 0, 100]);
        self.about
            .push(format!("full {full:?}, takes {taken_per_mille}"));
        let field = format!("0:{}", self.bits / 8);
        let mut listened = Listened::new(field.parse().map(Numbered::Field).ok(), None);
        let mut window = ListenWindow::new();
        let mut fates: BTreeMap<(u8, u64), Fate> = BTreeMap::new();
        let (mut dropped, mut has_come) = (0, false);
        listened.begin_window();
        for datagram in arrived {
            let fate = fates.entry((datagram.sender, datagram.id)).or_default();
            let is_full = full
                .iter()
                .any(|(from, to)| (from..to).contains(&&datagram.at_ns));
            if is_full && !random.is(taken_per_mille) {
                dropped += 1;
                fate.dropped = true;
                continue;
            }
            fate.came += 1;
            let bytes = datagram.number.to_be_bytes();
            let heard = Heard {
                source: Some(datagram.address),
                interface: datagram.interface,
                bytes: 100,
                payload: &bytes[8 - usize::try_from(self.bits / 8).expect("small")..],
                arrived_ns: datagram.at_ns,
                dropped: if has_come { dropped } else { 0 },
            };
            listened.enter(&heard, &mut window);
            (dropped, has_come) = (0, true);
            if random.is(5) {
                listened.close_window(&mut window);
                window.clear();
                listened.begin_window();
            }
        }
        listened.finish(dropped.into());
        listened.close_window(&mut window);
        (listened, fates)
    }

    /// Returns whether all datagrams that satisfy a condition are of one sender with plain numbers of 16 bits or more.
    pub(super) fn is_plain(&self, is_it: impl Fn(&Datagram) -> bool) -> bool {
        let mut senders = self.sent.iter().filter(|it| is_it(it)).map(|it| it.sender);
        let first = senders.next();
        let is_plain = |sender: u8| self.numberings[usize::from(sender)] == Numbering::Plain;
        self.bits > 8 && first.is_some_and(is_plain) && senders.all(|it| Some(it) == first)
    }

    /// Returns the truth about all datagrams that satisfy a condition.
    pub(super) fn truth(
        &self,
        fates: &BTreeMap<(u8, u64), Fate>,
        is_it: impl Fn(&Datagram) -> bool,
        heard_is_cut: bool,
    ) -> Truth {
        let mut parts: BTreeMap<(u8, u64), Vec<Fate>> = BTreeMap::new();
        for datagram in self.sent.iter().filter(|it| is_it(it)) {
            let fate = fates.get(&(datagram.sender, datagram.id)).copied();
            let part = parts.entry((datagram.sender, datagram.part)).or_default();
            part.push(fate.unwrap_or_default());
        }
        let mut truth = Truth::default();
        let mut heard_parts = 0;
        // A few numbers at the end may be counted nowhere.
        let last = parts.keys().next_back().copied();
        let is_cut = |fates: &[Fate]| fates.iter().filter(|it| it.came > 0).count() < 7;
        let skipped = last.filter(|last| heard_is_cut && is_cut(&parts[last]));
        for (_, fates) in parts.iter().filter(|(part, _)| Some(**part) != skipped) {
            let came = |fate: &Fate| fate.came > 0;
            let Some(first) = fates.iter().position(came) else {
                continue;
            };
            let last = fates.iter().rposition(came).expect("one came");
            heard_parts += 1;
            let mut is_gap = false;
            for fate in &fates[first..=last] {
                truth.received += u64::from(came(fate));
                truth.duplicates += fate.came.saturating_sub(1);
                truth.missing += u64::from(!came(fate));
                truth.at_socket += u64::from(!came(fate) && fate.dropped);
                truth.places += u64::from(!came(fate) && !is_gap);
                is_gap = !came(fate);
            }
        }
        truth.restarts = u64::saturating_sub(heard_parts, 1);
        truth
    }
}
