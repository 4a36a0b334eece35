//! Servers whose loop only receives: threads beside it do the work, and answer.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::{fmt, io};

use nix::poll::{PollFd, PollFlags, poll};

use super::asked::{Asked, spend};
use crate::data::{ServerModel, ServiceTime};
use crate::engine::{Job, Meter, Spawner, is_to_be_made_again};
use crate::sys::clock;

/// How long an answer waits for room in the send buffer: as long as its client waits for it.
const LONGEST_WAIT_MS: u16 = 250;

/// The threads that answer for one server.
pub(super) struct Answering {
    /// Requests that they may have at a time.
    most: usize,
    spawner: Spawner,
    answers: Arc<Answers>,
    // Last: whoever ends them has let go of the spawner.
    _pool: Option<Pool>,
}

/// What all of them share.
struct Answers {
    sockets: Vec<UdpSocket>,
    payload_bytes: usize,
    service: Option<ServiceTime>,
    meter: Arc<Meter>,
}

impl Answering {
    /// For requests over these sockets. `theirs`: what the engine itself offers.
    ///
    /// # Errors
    /// When the system has no more threads, or the engine none for what blocks.
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
                let pool = Pool::start(model.at_a_time())?;
                (pool.spawner(), Some(pool))
            }
        };
        let answers = Answers {
            sockets,
            payload_bytes,
            service,
            meter: Arc::clone(meter),
        };
        Ok(Some(Self {
            // One for each thread, and one to go on with.
            most: 2 * model.at_a_time(),
            spawner,
            answers: Arc::new(answers),
            _pool: pool,
        }))
    }

    /// Has a request answered, when its work is done if it `works`. Waits while they have enough to do.
    pub(super) fn answer(&self, asked: Asked, works: bool) {
        let answers = Arc::clone(&self.answers);
        answers.meter.beside.begin(self.most);
        (self.spawner)(Box::new(move || answers.answer(&asked, works)));
    }
}

impl Answers {
    fn answer(&self, asked: &Asked, works: bool) {
        if let Some(service) = self.service.filter(|_| works) {
            // Of one CPU, threads that compute have a part each.
            spend(service, || {
                clock::own_cpu_ns().unwrap_or_else(clock::monotonic_ns)
            });
        }
        let mut answer = vec![0xA5; self.payload_bytes];
        asked.repeat(&mut answer);
        let socket = &self.sockets[asked.origin.link];
        let send = || match asked.origin.source {
            Some(source) => socket.send_to(&answer, source),
            None => socket.send(&answer),
        };
        let mut sent = send();
        if sent.as_ref().is_err_and(is_to_be_made_again) {
            // Who asked waits no longer.
            let mut room = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
            let _ = poll(&mut room, LONGEST_WAIT_MS);
            sent = send();
        }
        self.meter.beside.end(|| {
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

/// Threads that take what there is to do from one queue. Dropping it does all of that, and joins them.
struct Pool {
    /// `None` while it ends.
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    fn start(count: usize) -> io::Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let mut pool = Self {
            jobs: Some(jobs),
            threads: Vec::with_capacity(count),
        };
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new().name("server pool".to_owned());
            pool.threads.push(thread.spawn(move || work(&queue))?);
        }
        Ok(pool)
    }

    fn spawner(&self) -> Spawner {
        let jobs = self.jobs.clone().map(Mutex::new);
        Arc::new(move |job| {
            if let Some(jobs) = &jobs {
                // It can only fail where all threads have panicked.
                let _ = jobs
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .send(job);
            }
        })
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    clock::minimise_timer_slack();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
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
        let pool = Pool::start(COUNT).expect("threads");
        let spawner = pool.spawner();
        for _ in 0..3 * COUNT {
            let meet = Arc::clone(&meet);
            // Each waits for the others: one after the other, they would wait for ever.
            spawner(Box::new(move || _ = meet.wait()));
        }
        drop(spawner);
        drop(pool);
        assert_eq!(Arc::strong_count(&meet), 1);
    }
}
