//! The other end of [`Remote`](super::remote::Remote): a site of this process that is driven by messages.

use std::io::{BufReader, Read, Write};

use serde::Serialize;

use super::caps::Caps;
use super::facts::Facts;
use super::local::Local;
use super::message::{self, Answer, Hello, Request};
use super::relay;
use super::site::Site;
use crate::sys::files::Root;

/// Does what the messages on `input` say until that ends, within `caps` if they come from another host. Then all threads
/// have ended, too, whatever they were doing: no verb waits for longer than a moment.
///
/// # Errors
/// When the other side is no udpbench of this version, or sends what is no message.
pub fn serve(
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
    root: &Root,
    caps: Caps,
) -> anyhow::Result<()> {
    let mut input = BufReader::new(input);
    let hello = message::greeting(&mut input)?;
    // Also to one of another version, which then knows this one.
    message::greet(&mut output, &Hello::here())?;
    hello.check()?;
    if hello.is_across {
        return relay::serve(input, output, root, caps);
    }
    let mut site = Local::new(root);
    while let Some(request) = message::read(&mut input)? {
        obey(&mut site, request, root, &mut output)?;
    }
    Ok(())
}

fn obey(
    site: &mut Local,
    request: Request,
    root: &Root,
    to: &mut impl Write,
) -> anyhow::Result<()> {
    match request {
        // It is asked of one that is driven from another host.
        Request::Facts => answer(to, Ok(Facts::read(root))),
        Request::Renew => answer(to, Ok(())),
        Request::Open(brief) => answer(to, site.open(&brief)),
        Request::Bind => answer(to, site.bind()),
        Request::Aim(peer) => answer(to, site.aim(peer)),
        Request::CloseSender(source) => answer(to, site.close_sender(source)),
        Request::Probe(source) => answer(to, site.probe(source)),
        Request::Arrived(source) => answer(to, site.arrived(source)),
        Request::IsProven(source) => answer(to, site.is_proven(source)),
        Request::Pair(flows) => answer(to, site.pair(&flows)),
        Request::Assemble(flows) => answer(to, site.assemble(&flows)),
        Request::Start => answer(to, site.start()),
        Request::WakeStalled => answer(to, site.wake_stalled()),
        Request::Look => answer(to, site.look()),
        Request::Snapshot(edge) => answer(to, site.snapshot(edge)),
        Request::Stop => answer(to, site.stop()),
        Request::Counts => answer(to, site.counts()),
        Request::Idle => answer(to, site.idle()),
        Request::Finish => answer(to, site.finish()),
        Request::Abandon => {
            site.abandon();
            answer(to, Ok(()))
        }
    }
}

fn answer<T: Serialize>(output: &mut impl Write, done: anyhow::Result<T>) -> anyhow::Result<()> {
    let answer = match done {
        Ok(value) => Answer::Done(value),
        Err(error) => Answer::Failed(format!("{error:#}")),
    };
    message::write(output, &answer)
}
