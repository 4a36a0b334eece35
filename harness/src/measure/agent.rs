//! The other end of [`Remote`](super::remote::Remote): a site of this process that is driven by messages.

use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use anyhow::Context;
use serde::Serialize;

use super::facts::Facts;
use super::local::Local;
use super::message::{self, Answer, Hello, Request};
use super::relay;
use super::site::Site;
use super::timetable::Timetable;
use crate::data::Case;
use crate::sys::files::Root;

/// Does what the messages on `input` say until that ends. Then all threads have ended, too, whatever they were doing: no
/// verb waits for longer than a moment.
///
/// # Errors
/// When the other side is no udpbench of this version, or sends what is no message.
pub fn serve(
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
    root: &Root,
) -> anyhow::Result<()> {
    let mut input = BufReader::new(input);
    let hello = message::greeting(&mut input)?;
    // Also to one of another version, which then knows this one.
    message::greet(&mut output, &Hello::here())?;
    hello.check()?;
    if hello.is_across {
        return relay::serve(input, output, root);
    }
    let (send, requests) = mpsc::channel();
    thread::Builder::new()
        .name("requests".to_owned())
        .spawn(move || message::hand_on(input, || (), &send))
        .context("cannot start a thread")?;
    let mut agent = Agent {
        site: Local::new(root),
        case: None,
        timetable: None,
        root,
    };
    loop {
        let left = agent.timetable.as_ref().and_then(Timetable::left);
        let request = match left {
            Some(left) => requests.recv_timeout(left),
            None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        if let Some(timetable) = &mut agent.timetable {
            timetable.tick(&mut agent.site);
        }
        match request {
            Ok(request) => match request? {
                Some(body) => agent.obey(message::decode(&body)?, &mut output)?,
                None => return Ok(()),
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

struct Agent<'a> {
    site: Local<'a>,
    /// What the trial is of.
    case: Option<Case>,
    /// Of a window that is opened and closed here.
    timetable: Option<Timetable>,
    root: &'a Root,
}

impl Agent<'_> {
    fn obey(&mut self, request: Request, to: &mut impl Write) -> anyhow::Result<()> {
        let site = &mut self.site;
        match request {
            // It is asked of one that is driven from another host.
            Request::Facts => answer(to, Ok(Facts::read(self.root))),
            Request::Renew => answer(to, Ok(())),
            Request::Open(brief) => {
                (self.case, self.timetable) = (Some(brief.case), None);
                answer(to, site.open(&brief))
            }
            Request::Bind => answer(to, site.bind()),
            Request::Aim(peer) => answer(to, site.aim(peer)),
            Request::CloseSender(source) => answer(to, site.close_sender(source)),
            Request::Probe(source) => answer(to, site.probe(source)),
            Request::Arrived(source) => answer(to, site.arrived(source)),
            Request::IsProven(source) => answer(to, site.is_proven(source)),
            Request::Pair(flows) => answer(to, site.pair(&flows)),
            Request::Assemble(flows) => answer(to, site.assemble(&flows)),
            Request::KeepTime(edges) => {
                let case = self.case.as_ref().context("no trial is open");
                let timetable = case.map(|case| Timetable::new(case, edges));
                answer(to, timetable.map(|it| self.timetable = Some(it)))
            }
            Request::Start => {
                let started = site.start();
                if let Some(timetable) = &mut self.timetable {
                    timetable.start();
                }
                answer(to, started)
            }
            Request::WakeStalled => answer(to, site.wake_stalled()),
            Request::Look => answer(to, site.look()),
            Request::Snapshot(edge) => {
                let reading = match &mut self.timetable {
                    Some(timetable) => timetable.taken(edge, site),
                    None => site.snapshot(edge),
                };
                answer(to, reading)
            }
            Request::Stop => answer(to, site.stop()),
            Request::Counts => answer(to, site.counts()),
            Request::Idle => answer(to, site.idle()),
            Request::Finish => {
                self.timetable = None;
                answer(to, site.finish())
            }
            Request::Abandon => {
                self.timetable = None;
                site.abandon();
                answer(to, Ok(()))
            }
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
