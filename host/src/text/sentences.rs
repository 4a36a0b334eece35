//! Types whose values are sentences with data. The sentence is made where somebody reads it; programs read the code.

/// Declares an enum of sentences, each with a stable code, its data, and its text (see [`std::fmt::Display`]). In JSON
/// a value is its code with its data.
#[macro_export]
macro_rules! sentences {
    ($(#[$meta:meta])* pub enum $name:ident { $(
        $code:tt: $(#[$attr:meta])* $variant:ident $({ $($field:ident: $type:ty),+ $(,)? })? => $text:literal $(, $arg:expr)*;
    )+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs, reason = "the text of a variant says what its fields are")]
        pub enum $name { $(
            #[doc = $text]
            #[serde(rename = $code)]
            $(#[$attr])*
            $variant $({ $($field: $type),+ })?,
        )+ }

        impl $name {
            /// Codes of all sentences.
            pub const CODES: &'static [&'static str] = &[$($code),+];

            /// Returns the code of the sentence, which stays when its words change.
            pub fn code(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $code,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $(Self::$variant $({ $($field),+ })? => write!(f, $text $(, $arg)*),)+ }
            }
        }
    };
}
pub use sentences;
