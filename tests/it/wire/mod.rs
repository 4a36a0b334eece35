//! Tests between two hosts: network namespaces on this host, joined by a cable whose losses are known. Skipped with a
//! message if the user may not create namespaces.

mod accounting;
mod commands;
mod full_queue;
// The rules of the test wire, whose tests need no lab.
mod ends;
mod firewall;
#[allow(
    dead_code,
    reason = "the reports are for the example that it is a part of"
)]
#[path = "../../../examples/test_wire/judge/mod.rs"]
mod judge;
mod napi;
mod on;
mod places;
mod reach;
mod resumed;
mod rsh;
mod strangers;
mod traces;
mod truth;
