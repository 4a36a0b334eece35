//! Parser for the values of parameters. A value that is one of a few names is refused with all of them.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::data::Choice;

/// Parses values of `T`.
#[derive(Clone)]
pub(super) struct ParameterParser<T> {
    /// Empty if `T` is more than a few names.
    names: &'static [&'static str],
    parsed: PhantomData<fn() -> T>,
}

impl<T> ParameterParser<T> {
    pub(super) fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            parsed: PhantomData,
        }
    }
}

impl<T: FromStr<Err = String> + Clone + Send + Sync + 'static> TypedValueParser
    for ParameterParser<T>
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let parse = |text: String| text.parse::<T>();
        if self.names.is_empty() {
            return StringValueParser::new()
                .try_map(parse)
                .parse_ref(command, arg, value);
        }
        PossibleValuesParser::new(self.names)
            .try_map(parse)
            .parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = self.names.iter().copied().map(PossibleValue::new);
        (!self.names.is_empty()).then(|| Box::new(names) as Box<dyn Iterator<Item = _>>)
    }
}

/// Finds the names of a type: by [`Named`] for a choice, otherwise by [`Unnamed`], since the compiler looks for methods of
/// `Probe` before those of `&Probe`.
pub(super) struct Probe<T>(pub(super) PhantomData<T>);

pub(super) trait Named {
    fn names(&self) -> &'static [&'static str];
}

impl<T: Choice> Named for Probe<T> {
    fn names(&self) -> &'static [&'static str] {
        T::NAMES
    }
}

pub(super) trait Unnamed {
    fn names(&self) -> &'static [&'static str];
}

impl<T> Unnamed for &Probe<T> {
    fn names(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Makes the parser for a type.
macro_rules! parser {
    ($type:ty) => {{
        #[allow(unused_imports, reason = "a type needs one of them")]
        use $crate::cli::choice::{Named as _, Unnamed as _};
        let probe = $crate::cli::choice::Probe::<$type>(std::marker::PhantomData);
        $crate::cli::choice::ParameterParser::<$type>::new((&probe).names())
    }};
}
pub(super) use parser;
