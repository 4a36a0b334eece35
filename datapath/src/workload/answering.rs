//! Requests as their server sees them, and the worker threads of servers whose loop only receives: they process the
//! requests and send the responses.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, hint, io};

use nix::poll::{PollFd, PollFlags, poll};

use crate::data::{ServerModel, ServiceTime};
use crate::engine::payload::Origin;
use crate::engine::verify::HEAD_BYTES;
use crate::engine::{Job, Meter, Spawner, is_to_be_made_again, lock};
use crate::sys::clock;

/// Maximum time that a response waits for room in the send buffer, in milliseconds: equal to the timeout of a request.
const LONGEST_WAIT_MS: u16 = 250;

/// A received request.
#[derive(Debug)]
pub(super) struct ReceivedRequest {
    pub(super) head: [u8; HEAD_BYTES],
    pub(super) origin: Origin,
    /// The whole request during verification, else empty.
    pub(super) whole: Vec<u8>,
}

impl ReceivedRequest {
    /// Copies the head of the request, or the whole request during verification, to the start of the response.
    #[inline]
    pub(super) fn repeat(&self, answer: &mut [u8]) {
        let repeated = if self.whole.is_empty() {
            &self.head[..]
        } else {
            &self.whole
        };
        let bytes = repeated.len().min(answer.len());
        answer[..bytes].copy_from_slice(&repeated[..bytes]);
    }
}

/// Performs a service time: sleeps, or computes until the clock `now_ns` has advanced by it.
pub(super) fn spend(service: ServiceTime, now_ns: impl Fn() -> u64) {
    if service.sleeps {
        thread::sleep(Duration::from_nanos(service.ns));
        return;
    }
    let end = now_ns() + service.ns;
    while now_ns() < end {
        hint::spin_loop();
    }
}

/// The worker threads of one server.
pub(super) struct Answering {
    /// Maximum number of requests that the workers have at a time.
    most: usize,
    spawner: Spawner,
    answers: Arc<Answers>,
    // Last field, so that the spawner is dropped before the pool, which waits for its threads to end.
    _pool: Option<Pool>,
}

/// State that the worker threads share.
struct Answers {
    sockets: Vec<UdpSocket>,
    payload_bytes: usize,
    service: Option<ServiceTime>,
    meter: Arc<Meter>,
}

impl Answering {
    /// Starts the workers for requests over these sockets. `theirs`: the engine's own way to run a job on another
    /// thread.
    ///
    /// # Errors
    /// Fails if the system cannot start more threads, or if the engine has none for blocking work.
    pub(super) fn new(
        model: ServerModel,
        theirs: Option<Spawner>,
        (sockets, payload_bytes): (Vec<UdpSocket>, usize),
        service: Option<ServiceTime>,
        meter: &Arc<Meter>,
    ) -> io::Result<Option<Self>> {
        let (spawner, pool) = match model {
            ServerModel::Inline => return Ok(None),
            ServerModel::SpawnBlocking => (theirs.ok_or(io::ErrorKind::Unsupported)?, None),
            ServerModel::Pool => {
                let (spawner, pool) = Pool::start(model.at_a_time())?;
                (spawner, Some(pool))
            }
        };
        let answers = Answers {
            sockets,
            payload_bytes,
            service,
            meter: Arc::clone(meter),
        };
        Ok(Some(Self {
            // One for each thread to work on, and one for each to continue with.
            most: 2 * model.at_a_time(),
            spawner,
            answers: Arc::new(answers),
            _pool: pool,
        }))
    }

    /// Passes a request to a worker thread. The worker performs its service time only if `works` is true. Waits while
    /// the workers have the maximum number of requests.
    pub(super) fn answer(&self, received_request: ReceivedRequest, works: bool) {
        let answers = Arc::clone(&self.answers);
        answers.meter.offloaded.begin(self.most);
        (self.spawner)(Box::new(move || answers.answer(&received_request, works)));
    }
}

impl Answers {
    fn answer(&self, received_request: &ReceivedRequest, works: bool) {
        if let Some(service) = self.service.filter(|_| works) {
            // Threads that compute on one CPU share its time, so each measures its own CPU time.
            spend(service, || {
                clock::own_cpu_ns().unwrap_or_else(clock::monotonic_ns)
            });
        }
        let mut answer = vec![0xA5; self.payload_bytes];
        received_request.repeat(&mut answer);
        let socket = &self.sockets[received_request.origin.endpoint];
        let send = || match received_request.origin.source {
            Some(source) => socket.send_to(&answer, source),
            None => socket.send(&answer),
        };
        let mut sent = send();
        if sent.as_ref().is_err_and(is_to_be_made_again) {
            // The client waits no longer than this.
            let mut room = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
            let _ = poll(&mut room, LONGEST_WAIT_MS);
            sent = send();
        }
        self.meter.offloaded.end(|| {
            if let Err(error) = sent {
                let errno = error.raw_os_error().unwrap_or(0);
                self.meter.refusals.add(1, errno);
            }
            self.meter.sent.add(1);
        });
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}

/// A pool of threads that take jobs from one queue, until its spawner is dropped and the queue is empty. Dropping the
/// pool waits for that.
struct Pool(Vec<JoinHandle<()>>);

impl Pool {
    fn start(count: usize) -> io::Result<(Spawner, Self)> {
        // Dropped last if a thread cannot be started.
        let mut pool = Self(Vec::with_capacity(count));
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new().name("server pool".to_owned());
            pool.0.push(thread.spawn(move || work(&queue))?);
        }
        // Fails only if all threads have panicked.
        let spawner = Arc::new(move |job| drop(jobs.send(job)));
        Ok((spawner, pool))
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    clock::minimise_timer_slack();
    loop {
        let next = lock(queue).recv();
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn jobs_run_side_by_side_and_all_of_them_are_done_in_the_end() {
        const COUNT: usize = 4;
        let meet = Arc::new(Barrier::new(COUNT));
        let (spawner, pool) = Pool::start(COUNT).expect("threads");
        for _ in 0..3 * COUNT {
            let meet = Arc::clone(&meet);
            // Each job waits for the others, so a pool that ran them one by one would never finish.
            spawner(Box::new(move || _ = meet.wait()));
        }
        drop(spawner);
        drop(pool);
        assert_eq!(Arc::strong_count(&meet), 1);
    }
}
