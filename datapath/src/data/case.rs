//! A case, one point of the matrix, and what is measured side by side with it.

use serde::{Deserialize, Serialize};

use super::parameters::{parameters, value};
use super::{EngineName, Outstanding, Sharing, Traits, Workload};

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// A value for every parameter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Case {
            /// The engine of the senders.
            pub sender: EngineName,
            /// The engine of the receivers.
            pub receiver: EngineName,
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
            $($(#[$case_doc])* pub $case: value!($case_kind $case_type),)*
            /// How several receivers share the port. `None`: there is one.
            pub sharing: Option<Sharing>,
        }

        /// The parameters that the cases of one block share.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct BlockKey {
            $($(#[$block_doc])* pub $block: value!($block_kind $block_type),)*
        }

        impl Case {
            /// The case of these engines in a block in which all else is as usual, on connected sockets.
            pub fn in_block(block: &BlockKey, sender: EngineName, receiver: EngineName) -> Self {
                Self {
                    sender,
                    receiver,
                    $($block: block.$block,)*
                    $($case: Default::default(),)*
                    sharing: (block.threads.receivers() > 1).then_some(Sharing::DEFAULT),
                }
            }

            /// What this case is held side by side with.
            pub fn block(&self) -> BlockKey {
                BlockKey { $($block: self.$block),* }
            }
        }
    };
}
parameters!(define);

impl Case {
    /// The reference case of this case's block: `std` on connected sockets, flows spread evenly.
    pub fn reference(&self) -> Self {
        Self::in_block(&self.block(), EngineName::REFERENCE, EngineName::REFERENCE)
    }

    /// Whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// Whether workers run the threads of this engine, on its side of this case.
    pub fn runs_on_workers(&self, engine: &Traits) -> bool {
        self.tokio_workers.is_some() && engine.shares_workers
    }
}

impl BlockKey {
    /// Without what means nothing to its workload.
    pub fn pruned(self) -> Self {
        let asks = self.workload == Some(Workload::Ask);
        let rate = self.rate.filter(|_| asks);
        let closed = asks && rate.is_none();
        Self {
            rate,
            arrivals: self.arrivals.filter(|_| rate.is_some()),
            outstanding: self.outstanding.filter(|_| closed),
            service: self.service.filter(|_| asks),
            ..self
        }
    }
}

impl Case {
    /// Whether its threads ask and answer.
    pub fn asks(&self) -> bool {
        self.workload == Some(Workload::Ask)
    }

    /// Without what means nothing to its workload: clients and servers move one datagram per call.
    pub fn pruned(self) -> Self {
        let batch = self.batch.filter(|_| !self.asks());
        Self { batch, ..self }
    }

    /// Whether clients send requests at a rate, whether or not answers come.
    pub fn is_open_loop(&self) -> bool {
        self.asks() && self.rate.is_some()
    }

    /// Requests that each client of a closed loop has outstanding at a time.
    pub fn outstanding_requests(&self) -> usize {
        self.outstanding.unwrap_or(Outstanding::DEFAULT).count()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::data) fn case() -> Case {
        Case::of_key("std:std/2t/300B/connected/v4").expect("a case")
    }

    #[test]
    fn what_means_nothing_to_a_workload_goes_away() {
        let key = |text: &str| Case::of_key(text).expect(text).block().pruned();
        let unusual = |text: &str| key(text).unusual().map(|it| it.key).collect::<Vec<_>>();
        let all = "std:std/2t/300B/connected/v4/ask/outstanding8/rate100/poisson";
        assert_eq!(unusual(all), ["ask", "rate100", "poisson"]);
        let closed = "std:std/2t/300B/connected/v4/ask/outstanding8/poisson";
        assert_eq!(unusual(closed), ["ask", "outstanding8"]);
        let flood = "std:std/2t/300B/connected/v4/outstanding8/rate100/poisson/service-1us";
        assert_eq!(unusual(flood), Vec::<String>::new());
    }
}
