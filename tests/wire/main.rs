//! Two hosts on this one: a wire between two network namespaces, and what it does to datagrams.

#[allow(
    dead_code,
    reason = "the report is for the example, which this is a part of"
)]
#[path = "../../examples/test_wire/judge/mod.rs"]
mod judge;
