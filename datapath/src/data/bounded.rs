//! Types of parameters: numbers with limits, where what is beyond them is refused when it is parsed, with the fix;
//! and choices by name.

/// A number from `least` to `most`, of a primitive type that serde is told by its name.
macro_rules! bounded {
    (
        $(#[$doc:meta])*
        $name:ident($number:ty, $number_name:literal), $least:expr, $most:expr, $fix:literal
    ) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = $number_name, into = $number_name)]
        pub struct $name($number);

        impl $name {
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
                let number = text.parse::<$number>().ok();
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

/// A choice: parsed, shown and stored by the names that its variants have on the command line.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident,)+ }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
            clap::ValueEnum,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$of_variant])* $variant,)+ }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                clap::ValueEnum::from_str(text, false)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let value = clap::ValueEnum::to_possible_value(self);
                f.pad(
                    value
                        .as_ref()
                        .map_or("", clap::builder::PossibleValue::get_name),
                )
            }
        }
    };
}

/// Stored as the text by which it is parsed and shown.
macro_rules! stored_as_text {
    ($name:ident) => {
        impl TryFrom<std::borrow::Cow<'_, str>> for $name {
            type Error = String;

            fn try_from(text: std::borrow::Cow<'_, str>) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

pub(super) use {bounded, choice, stored_as_text};
