//! Macros that define types of parameters: bounded numbers, and choices by name. Errors for invalid values give the
//! fix.

/// Defines a type of whole numbers from `$least` to `$most`.
///
/// `$number` is the primitive type, `$number_name` its name as a literal for serde. With `bytes`, k (1024) or M (1024
/// times 1024) may follow a typed number, as in iperf3; with `rate`, k (1000) or M. `$fix` is the error message, with
/// two `{}` for the limits.
macro_rules! bounded {
    (@parse bytes, $text:expr, $number:ty) => { super::bounded::bytes::<$number>($text) };
    (@parse rate, $text:expr, $number:ty) => { thousands::<$number>($text) };
    (@parse $text:expr, $number:ty) => { $text.parse::<$number>().ok() };
    (@usize bytes) => {
        /// Returns the number of bytes.
        pub fn bytes(self) -> usize { self.0 as usize }
    };
    (@usize rate) => {};
    (@usize) => {
        /// Returns the number.
        pub fn count(self) -> usize { self.0.into() }
    };
    (
        $(#[$doc:meta])*
        $name:ident($number:ty, $number_name:literal $(, $kind:ident)?), $least:expr, $most:expr, $fix:literal
    ) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = $number_name, into = $number_name)]
        pub struct $name($number);

        impl $name {
            bounded!(@usize $($kind)?);

            fn fix() -> String {
                let (least, most): ($number, $number) = ($least, $most);
                format!($fix, least, most)
            }
        }

        impl TryFrom<$number> for $name {
            type Error = String;

            fn try_from(number: $number) -> Result<Self, String> {
                if ($least..=$most).contains(&number) {
                    Ok(Self(number))
                } else {
                    Err(format!("{number}: {}", Self::fix()))
                }
            }
        }

        impl From<$name> for $number {
            fn from(bounded: $name) -> Self {
                bounded.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let number = bounded!(@parse $($kind,)? text, $number);
                number.and_then(|number| Self::try_from(number).ok()).ok_or_else(Self::fix)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

/// Parses a number of bytes: `9000`, `1k`, `4M`. `None`: not a number, or too large for its type.
pub(super) fn bytes<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let (number, times) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1 << 10),
        None => text
            .strip_suffix(['m', 'M'])
            .map_or((text, 1), |number| (number, 1 << 20)),
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(times)?;
    T::try_from(bytes).ok()
}

/// An enum whose values have names.
pub trait Choice {
    /// Names of all values, in their order.
    const NAMES: &'static [&'static str];
}

/// Defines a [`Choice`]. Its values are parsed, shown and stored by their names.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name { $($(#[$of_variant])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl $crate::data::Choice for $name {
            const NAMES: &'static [&'static str] = &[$($text),+];
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(format!("use one of {}", <Self as $crate::data::Choice>::NAMES.join(", "))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// Has serde store a type as its text, through `FromStr` and `Display`.
macro_rules! stored_as_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Has a type parsed, shown and stored by its text: its functions `parse` and `text`. `FIX` is the error message.
macro_rules! text_form {
    ($name:ident) => {
        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::parse(text).ok_or_else(|| Self::FIX.to_owned())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.text())
            }
        }

        super::bounded::stored_as_text!($name);
    };
}

pub(crate) use choice;
pub(super) use {bounded, stored_as_text, text_form};

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_may_have_a_unit() {
        for (text, expected) in [
            ("0", Some(0)),
            ("9000", Some(9000)),
            ("1k", Some(1024)),
            ("64K", Some(65_536)),
            ("1M", Some(1 << 20)),
            ("4m", Some(4 << 20)),
            ("k", None),
            ("1kk", None),
            ("-1k", None),
            ("1.5k", None),
            ("1G", None),
            ("99999999999999999999k", None),
            ("4096M", None),
        ] {
            assert_eq!(bytes::<u32>(text), expected, "{text}");
        }
    }
}
