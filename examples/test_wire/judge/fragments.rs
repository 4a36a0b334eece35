//! Fragments after the first have no ports: they share the fate of the first.

/// Whose fragments they are: addresses and identification (RFC 791, section 3.2; RFC 8200, section 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FragmentOf {
    addresses: [u8; 32],
    id: u32,
}

impl FragmentOf {
    /// The addresses as they stand in the header: 8 bytes, or 32.
    pub(crate) fn new(addresses: &[u8], id: u32) -> Self {
        let mut of = Self {
            id,
            ..Self::default()
        };
        of.addresses[..addresses.len()].copy_from_slice(addresses);
        of
    }
}

/// Maximum number of datagrams in fragments at a time. Linux sends the fragments of one after the other, so more
/// than one per sending CPU is rare.
const MOST: usize = 64;

/// The fates of the latest datagrams in fragments.
#[derive(Clone, Debug)]
pub(crate) struct Fragments<F> {
    known: Vec<(FragmentOf, F)>,
    /// Which one makes room for the next.
    oldest: usize,
}

impl<F: Copy> Fragments<F> {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self {
            known: Vec::with_capacity(MOST),
            oldest: 0,
        }
    }

    /// The first fragment came.
    pub(crate) fn begin(&mut self, of: FragmentOf, fate: F) {
        if let Some(known) = self.known.iter_mut().find(|(known, _)| *known == of) {
            known.1 = fate;
        } else if self.known.len() < MOST {
            self.known.push((of, fate));
        } else {
            self.known[self.oldest] = (of, fate);
            self.oldest = (self.oldest + 1) % MOST;
        }
    }

    /// Returns the fate of the first fragment.
    pub(crate) fn fate(&self, of: &FragmentOf) -> Option<F> {
        let known = self.known.iter().find(|(known, _)| known == of);
        known.map(|&(_, fate)| fate)
    }
}
