//! Types that choose the calls of a case.

use std::marker::PhantomData;

use super::controls::{ControlReader, NoControls, ReadControls};

/// Connected or unconnected sockets, with or without control messages: chosen once per case as a type, outside every
/// loop.
pub trait Addressing: Send + 'static {
    /// True if the sockets are connected (`send`/`recv`), false if not (`send_to`/`recv_from`).
    const CONNECTED: bool;
    /// Reader of the control messages of each call.
    type Controls: ReadControls;
}

/// Addressing of connected sockets: after `connect(2)`, calls carry no address. See [`Addressing`].
pub enum Connected {}
/// Addressing of unconnected sockets: each call names the destination or returns the source. See [`Addressing`].
pub enum Unconnected {}
/// Addressing of `A` by calls with control messages. See [`Addressing`].
pub struct WithControls<A>(PhantomData<A>);

impl Addressing for Connected {
    const CONNECTED: bool = true;
    type Controls = NoControls;
}
impl Addressing for Unconnected {
    const CONNECTED: bool = false;
    type Controls = NoControls;
}
impl<A: Addressing> Addressing for WithControls<A> {
    const CONNECTED: bool = A::CONNECTED;
    type Controls = ControlReader;
}
