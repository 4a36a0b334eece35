//! The parameters that vary, and their combinations into blocks and cases.

use crate::data::parameters::{attribute, parameters};
use crate::data::{BlockKey, Case, EngineProperties, Sharing};
use crate::engine::About;
use crate::engines::{self, Engines};

/// Expands to the values of a parameter: a `required` parameter keeps them as they were given; for an `optional`
/// one see [`settled`].
macro_rules! values {
    (required $given:expr, $applies:expr) => {
        $given.clone()
    };
    (optional $given:expr, $applies:expr) => {
        settled(&$given, $applies)
    };
}

/// Returns the values that apply, each once. `None` stands for the values that do not apply, and for an empty list.
fn settled<T: Copy + PartialEq>(given: &[T], applies: impl Fn(T) -> bool) -> Vec<Option<T>> {
    let settled = given
        .iter()
        .map(|&value| Some(value).filter(|&value| applies(value)));
    let settled = once_each(settled);
    if settled.is_empty() {
        vec![None]
    } else {
        settled
    }
}

/// Binds the two engines to a predicate on a value and its engines.
fn to<T>(
    about: (&About, &About),
    applies: impl Fn(T, (&About, &About)) -> bool,
) -> impl Fn(T) -> bool {
    move |value| applies(value, about)
}

/// Combines every item with every value; the combinations of the first item come first.
fn with_each<I: Copy, V: Copy, C>(items: &[I], values: &[V], with: impl Fn(I, V) -> C) -> Vec<C> {
    let pairs = items
        .iter()
        .flat_map(|&item| values.iter().map(move |&value| (item, value)));
    pairs.map(|(item, value)| with(item, value)).collect()
}

/// Removes duplicates; the first occurrence keeps its place.
pub fn once_each<I: PartialEq>(items: impl Iterator<Item = I>) -> Vec<I> {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// The values of all parameters that a plan combines.
        #[derive(Clone, Debug)]
        pub struct Axes {
            /// Engine pairs: the sender's and the receiver's.
            pub engines: Vec<Engines>,
            /// True if the user named the engines. Otherwise the cases that can run nowhere are left out.
            pub engines_are_asked: bool,
            $($(#[$block_doc])* pub $block: Vec<$block_type>,)*
            $($(#[$case_doc])* pub $case: Vec<$case_type>,)*
            /// Ways for several receivers to share the port.
            pub sharings: Vec<Sharing>,
            /// True if every block holds the reference case.
            pub reference: bool,
        }

        impl Axes {
            /// Returns the keys of the blocks; the first parameter varies slowest.
            pub(super) fn blocks(&self) -> Vec<BlockKey> {
                let first = || Some(BlockKey {
                    $($block: *values!($block_kind self.$block, attribute!(applies { $($of_block)* })).first()?,)*
                });
                let mut keys = Vec::from_iter(first());
                $(
                    let values = values!($block_kind self.$block, attribute!(applies { $($of_block)* }));
                    keys = with_each(&keys, &values, |key, $block| BlockKey { $block, ..key });
                )*
                once_each(keys.into_iter().map(BlockKey::normalized))
            }

            /// Returns the cases of a pair of engines in a block; the connection varies fastest.
            pub(super) fn cases(&self, block: &BlockKey, (sender, receiver): Engines) -> Vec<Case> {
                let about: (&About, &About) = (sender.about, receiver.about);
                let mut cases = vec![Case::in_block(block, sender.name(), receiver.name())];
                $(
                    let values = values!($case_kind self.$case, to(about, attribute!(applies { $($of_case)* })));
                    cases = with_each(&values, &cases, |$case, case| Case { $case, ..case });
                )*
                if block.receivers_share() {
                    let with = |sharing, case| Case { sharing: Some(sharing), ..case };
                    cases = with_each(&self.sharings, &cases, with);
                }
                let with_trains = |case: Case| Case {
                    loopback: case.loopback.filter(|_| about.0.sends_trains(case.train)),
                    ..case
                };
                once_each(cases.into_iter().map(with_trains).map(Case::normalized))
            }
        }
    };
}
parameters!(define);

impl Axes {
    /// Returns the properties of all engines, including the reference if every block holds it.
    pub(super) fn properties(&self) -> Vec<EngineProperties> {
        let asked = self.engines.iter().flat_map(|&(s, r)| [s, r]);
        let reference = self.reference.then(engines::reference);
        let mut properties: Vec<EngineProperties> = Vec::new();
        for entry in reference.into_iter().chain(asked) {
            if properties.iter().all(|known| known.name != entry.name()) {
                properties.push(entry.properties());
            }
        }
        properties
    }
}
