//! The part of a frame that rules look at: the UDP datagram that it holds, or begins.

use super::fragments::FragmentOf;

/// A UDP datagram, as its first or only frame shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// Bytes of payload, of all fragments together.
    pub(crate) payload_bytes: u16,
    /// Bytes of its frame from the Ethernet header on, without a checksum. Of one in fragments, what it would be
    /// in one frame.
    pub(crate) frame_bytes: u32,
    /// The port that it comes from.
    pub(crate) source_port: u16,
    /// The port that it goes to.
    pub(crate) destination_port: u16,
    /// Offset of the UDP header in the frame.
    pub(crate) udp_at: usize,
    /// Whose fragments have the rest of it, if this is not all.
    pub(crate) rest: Option<FragmentOf>,
}

/// Content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A UDP datagram, or the first fragment of one.
    Datagram(Datagram),
    /// A later fragment of a UDP datagram.
    Fragment(FragmentOf),
    /// Anything else: ARP, neighbour discovery, TCP.
    Other,
}

/// The port that is closed on any host that does not serve `discard` (RFC 863).
pub(crate) const CLOSED_PORT: u16 = 9;

const UDP: u8 = 17;
const ETHERNET_BYTES: usize = 14;
const UDP_BYTES: u16 = 8;

/// Reads an Ethernet frame, with a VLAN tag or without.
pub(crate) fn read(frame: &[u8]) -> Content {
    read_ip(frame).unwrap_or(Content::Other)
}

fn read_ip(frame: &[u8]) -> Option<Content> {
    const VLAN: u16 = 0x8100;
    let (at, kind) = match u16_at(frame, 12)? {
        VLAN => (ETHERNET_BYTES + 4, u16_at(frame, 16)?),
        kind => (ETHERNET_BYTES, kind),
    };
    match kind {
        0x0800 => read_v4(frame, at),
        0x86dd => read_v6(frame, at),
        _ => None,
    }
}

fn read_v4(frame: &[u8], at: usize) -> Option<Content> {
    let header = frame.get(at..at + 20)?;
    if header[9] != UDP {
        return None;
    }
    let fragment = u16_at(header, 6)?;
    let (is_first, more) = (fragment << 3 == 0, fragment & 0x2000 != 0);
    let of = FragmentOf::new(&header[12..20], u16_at(header, 4)?.into());
    let udp_at = at + usize::from(header[0] & 0xf) * 4;
    part(frame, udp_at, is_first, more, of)
}

fn read_v6(frame: &[u8], at: usize) -> Option<Content> {
    const FRAGMENT: u8 = 44;
    // Hop-by-hop options, routing, destination options: RFC 8200, section 4.
    const OPTIONS: [u8; 3] = [0, 43, 60];
    let addresses = frame.get(at + 8..at + 40)?;
    let mut next = *frame.get(at + 6)?;
    let mut at = at + 40;
    let (mut is_first, mut more, mut of) = (true, false, FragmentOf::default());
    while next != UDP {
        let header = frame.get(at..at + 8)?;
        if next == FRAGMENT {
            let offset = u16_at(header, 2)?;
            (is_first, more) = (offset & 0xfff8 == 0, offset & 1 != 0);
            let id = u32::from(u16_at(header, 4)?) << 16 | u32::from(u16_at(header, 6)?);
            of = FragmentOf::new(addresses, id);
            at += 8;
        } else if OPTIONS.contains(&next) {
            at += (usize::from(header[1]) + 1) * 8;
        } else {
            return None;
        }
        next = header[0];
        if !is_first {
            break;
        }
    }
    // Behind the fragment header of a later one there is payload, and no further header.
    (next == UDP).then_some(())?;
    part(frame, at, is_first, more, of)
}

fn part(frame: &[u8], at: usize, is_first: bool, more: bool, of: FragmentOf) -> Option<Content> {
    if !is_first {
        return Some(Content::Fragment(of));
    }
    let udp_bytes = u16_at(frame, at + 4)?;
    Some(Content::Datagram(Datagram {
        payload_bytes: udp_bytes.saturating_sub(UDP_BYTES),
        frame_bytes: u32::try_from(at).ok()? + u32::from(udp_bytes),
        source_port: u16_at(frame, at)?,
        destination_port: u16_at(frame, at + 2)?,
        udp_at: at,
        rest: more.then_some(of),
    }))
}

/// Has the datagram go to [`CLOSED_PORT`], with a checksum that is right.
pub(crate) fn misdirect(frame: &mut [u8], datagram: &Datagram) {
    let at = datagram.udp_at;
    let (Some(port), Some(sum)) = (u16_at(frame, at + 2), u16_at(frame, at + 6)) else {
        return;
    };
    frame[at + 2..at + 4].copy_from_slice(&CLOSED_PORT.to_be_bytes());
    // 0 says that there is none, which IPv4 allows.
    if sum != 0 {
        let sum = updated_checksum(sum, port, CLOSED_PORT);
        frame[at + 6..at + 8].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The checksum when one word has changed (RFC 1624, equation 3): the rest of a datagram in fragments, which it
/// covers too, is not at hand.
fn updated_checksum(sum: u16, old: u16, new: u16) -> u16 {
    let mut total = u32::from(!sum) + u32::from(!old) + u32::from(new);
    while let Ok(carry @ 1..) = u16::try_from(total >> 16) {
        total = (total & 0xffff) + u32::from(carry);
    }
    match !u16::try_from(total).unwrap_or_default() {
        0 => 0xffff,
        sum => sum,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}
