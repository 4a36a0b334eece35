//! Two hosts on this one: network namespaces, joined by a cable whose losses are known. Skipped, loudly, where this
//! user may not have them.

mod books;
#[path = "../common/mod.rs"]
mod common;
mod full_queue;
// The rules of the test wire, whose tests need no lab.
mod ends;
mod firewall;
#[allow(
    dead_code,
    reason = "the reports are for the example that it is a part of"
)]
#[path = "../../examples/test_wire/judge/mod.rs"]
mod judge;
mod lab;
mod on;
mod places;
mod reach;
mod rsh;
mod strangers;
mod traces;
mod truth;
