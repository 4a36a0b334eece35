//! Place of the sequence number in the datagrams of another program.

use std::fmt;
use std::str::FromStr;

/// Method by which another program numbers its datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    /// A number at a fixed place.
    Field(SequenceField),
    /// RTP (RFC 3550): 16 bits, and a series for each synchronization source.
    Rtp,
}

/// An unsigned number at a fixed place of a payload: `OFFSET:BYTES[:le|be]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceField {
    /// Bytes before it.
    offset: usize,
    /// Length in bytes: 1, 2, 3, 4 or 8.
    bytes: usize,
    order: ByteOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// Largest payload of a UDP datagram in bytes.
const MOST_PAYLOAD: usize = 65_507;
/// Length of the fixed header of RTP in bytes (RFC 3550, section 5.1).
const RTP_HEADER_BYTES: usize = 12;

impl Numbered {
    /// Returns the series and the number of a datagram. `None`: it is too short, or not RTP.
    pub fn read(self, payload: &[u8]) -> Option<(u32, u64)> {
        match self {
            Self::Field(field) => Some((0, field.read(payload)?)),
            Self::Rtp => {
                let header: &[u8; RTP_HEADER_BYTES] = payload.first_chunk()?;
                let [first, second, high, low, .., s0, s1, s2, s3] = *header;
                // On the same port, RTCP has packet types from 192 to 223 (RFC 5761, section 4).
                let is_rtp = first >> 6 == 2 && !(192..=223).contains(&second);
                let number = u64::from(u16::from_be_bytes([high, low]));
                is_rtp.then(|| (u32::from_be_bytes([s0, s1, s2, s3]), number))
            }
        }
    }

    /// Returns the length of the number in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Field(SequenceField { bytes: 8, .. }) => 64,
            Self::Field(SequenceField { bytes: 4, .. }) => 32,
            Self::Field(SequenceField { bytes: 3, .. }) => 24,
            Self::Field(SequenceField { bytes: 1, .. }) => 8,
            Self::Field(_) | Self::Rtp => 16,
        }
    }

    /// Returns the bytes of a payload that [`Numbered::read`] needs.
    pub fn needed_bytes(self) -> usize {
        match self {
            Self::Field(field) => field.offset + field.bytes,
            Self::Rtp => RTP_HEADER_BYTES,
        }
    }
}

impl SequenceField {
    fn read(self, payload: &[u8]) -> Option<u64> {
        let bytes = payload.get(self.offset..)?.get(..self.bytes)?;
        let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(match self.order {
            ByteOrder::Big => bytes.iter().fold(0, append),
            ByteOrder::Little => bytes.iter().rev().fold(0, append),
        })
    }
}

impl FromStr for SequenceField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = "write OFFSET:BYTES, such as 4:4, or OFFSET:BYTES:le for little-endian numbers";
        let parts: Vec<&str> = text.split(':').collect();
        let (offset, bytes, order) = match parts[..] {
            [offset, bytes] | [offset, bytes, "be"] => (offset, bytes, ByteOrder::Big),
            [offset, bytes, "le"] => (offset, bytes, ByteOrder::Little),
            _ => return Err(shape.to_owned()),
        };
        let offset: usize = offset.parse().map_err(|_| shape.to_owned())?;
        let bytes: usize = bytes.parse().map_err(|_| shape.to_owned())?;
        if ![1, 2, 3, 4, 8].contains(&bytes) {
            return Err("a number has 1, 2, 3, 4 or 8 bytes".to_owned());
        }
        if offset > MOST_PAYLOAD - bytes {
            return Err(format!("a datagram has at most {MOST_PAYLOAD} bytes"));
        }
        Ok(Self {
            offset,
            bytes,
            order,
        })
    }
}

impl fmt::Display for SequenceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            ByteOrder::Little => ":le",
            ByteOrder::Big => "",
        };
        write!(f, "{}:{}{order}", self.offset, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Numbered {
        Numbered::Field(text.parse().expect("a field"))
    }

    #[test]
    fn a_number_is_read_at_its_place_in_its_order() {
        let payload = [9, 1, 2, 3, 4, 5, 6, 7, 8];
        for (text, number) in [
            ("0:1", 9),
            ("1:2", 0x0102),
            ("1:2:le", 0x0201),
            ("1:3:be", 0x01_0203),
            ("5:4:le", 0x0807_0605),
            ("1:8", 0x0102_0304_0506_0708),
        ] {
            assert_eq!(field(text).read(&payload), Some((0, number)), "{text}");
        }
        assert_eq!(field("2:8").read(&payload), None, "too short");
        assert_eq!(field("9:1").read(&payload), None, "too short");
    }

    #[test]
    fn rtp_has_a_series_for_each_source() {
        let rtp = [0x80, 96, 0x12, 0x34, 0, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef, 7];
        assert_eq!(Numbered::Rtp.read(&rtp), Some((0xdead_beef, 0x1234)));
        assert_eq!(Numbered::Rtp.read(&rtp[..11]), None);
        let mut rtcp = rtp;
        rtcp[1] = 200;
        assert_eq!(Numbered::Rtp.read(&rtcp), None);
        let mut version_1 = rtp;
        version_1[0] = 0x40;
        assert_eq!(Numbered::Rtp.read(&version_1), None);
    }

    #[test]
    fn what_is_no_field_is_refused_with_the_fix() {
        for (text, problem) in [
            ("", "write OFFSET:BYTES"),
            ("4", "write OFFSET:BYTES"),
            ("4:4:xe", "write OFFSET:BYTES"),
            ("-1:4", "write OFFSET:BYTES"),
            ("0:5", "1, 2, 3, 4 or 8"),
            ("65504:4", "at most 65507"),
        ] {
            let refused = text.parse::<SequenceField>().expect_err(text);
            assert!(refused.contains(problem), "{text}: {refused}");
        }
        let text = "42:8:le";
        assert_eq!(
            text.parse::<SequenceField>().map(|it| it.to_string()),
            Ok(text.to_owned())
        );
    }
}
