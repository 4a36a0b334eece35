//! The flags of the parameters, from their table.

use clap::Args;

use super::choice::parser;
use super::engine::{EngineArg, EngineParser};
use crate::data::parameters::{attribute, parameters};
use crate::data::{SharingKind, Spread};

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// The parameters that vary: a list of values each.
        #[derive(Args, Clone, Debug)]
        #[command(next_help_heading = "What")]
        pub struct ParameterArgs {
            /// Engines, such as std,tokio, or all (see udpbench engines)
            ///
            /// For both sides. exec:PROGRAM is a loop of yours, in any language (docs/OWN-LOOP.md); exec:NAME=PROGRAM gives
            /// it another name than that of its file. Groups of engines: gso-gro, blocking, batch, readiness, async, offload [default:
            /// std,mmsg,gso-gro,mio-level,mio-exhaustive,tokio, without those that cannot run the case]
            #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = EngineParser, hide_possible_values = true)]
            pub engine: Option<Vec<EngineArg>>,

            /// Engines of the senders, each combined with every receiver
            #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = EngineParser, hide_possible_values = true)]
            pub sender: Option<Vec<EngineArg>>,

            /// Engines of the receivers, each combined with every sender
            #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = EngineParser, hide_possible_values = true)]
            pub receiver: Option<Vec<EngineArg>>,

            $(
                $(#[$block_doc])*
                #[arg(long, help_heading = attribute!(heading { $($of_block)* }), value_name = "LIST", value_delimiter = ',',
                    value_parser = parser!($block_type),
                    hide_possible_values = true, allow_negative_numbers = true)]
                pub $block: Option<Vec<$block_type>>,
            )*
            $(
                $(#[$case_doc])*
                #[arg(long, help_heading = attribute!(heading { $($of_case)* }), value_name = "LIST", value_delimiter = ',',
                    value_parser = parser!($case_type),
                    hide_possible_values = true, allow_negative_numbers = true)]
                pub $case: Option<Vec<$case_type>>,
            )*

            /// How receivers share the port: reuseport, reuseaddr, separate [default: reuseport]
            ///
            /// reuseaddr: the kernel gives all datagrams to one of them. separate: a port each
            #[arg(long, help_heading = "Sockets", value_name = "LIST", value_delimiter = ',', value_parser = parser!(SharingKind),
                hide_possible_values = true)]
            pub sharing: Option<Vec<SharingKind>>,

            /// How reuseport assigns flows to receivers: even, hash, bpf, cpu [default: even]
            ///
            /// even: the same number each, verified. hash: by the kernel. bpf: by a BPF program. cpu: to the
            /// receiver on the CPU that handles the packet (SO_INCOMING_CPU)
            #[arg(long, help_heading = "Sockets", value_name = "LIST", value_delimiter = ',', value_parser = parser!(Spread),
                hide_possible_values = true)]
            pub spread: Option<Vec<Spread>>,
        }
    };
}
parameters!(define);
