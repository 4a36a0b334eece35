//! Tools for a link in use: `soak` sends probes for hours, `listen` says what somebody else sends here, `watch` where
//! another program loses datagrams.

// Layers, from top to bottom: each module uses only those below it.
//
// | module | contents |
// |---|---|
// | `logs` | logs of `soak` and `listen` that were read |
// | `soak` | a constant rate for hours: outcomes, events, their log and its summary |
// | `listen` | what a listener heard: windows, their log and its summary |
// | `watch` | lines about another program |
// | `time` | times as text |
// | `program` | another program: its sockets and threads, and where it loses datagrams |

#![forbid(unsafe_code)]

pub mod listen;
pub mod logs;
pub mod program;
pub mod soak;
pub mod time;
pub mod watch;

use udpbench_datapath::{data, sys, workload};
use udpbench_host as host;
use udpbench_host::{VERSION, error, log, term, text};
