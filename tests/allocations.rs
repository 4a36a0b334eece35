//! Allocations: the hot loops allocate nothing. A bench thread that moves a hundred times more datagrams makes the same
//! number of allocations.

#[path = "it/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use udpbench::data::sequence_field::Numbered;
use udpbench::data::{Case, Connection, Workload};
use udpbench::engines::{self, Entry};
use udpbench::plan::Settings;
use udpbench::sys::interrupt::Interrupt;
use udpbench::workload::listening::{ListenOptions, WindowPipe, listen};

use common::cases::{self, case, on_workers};

/// The program under test.
const PROGRAM: &str = "udpbench";
/// The repository.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn engines_under_test() -> impl Iterator<Item = &'static Entry> {
    engines::all()
}

static IN_THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The coordinator may allocate as it likes.
    static IS_COORDINATOR: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

#[allow(unsafe_code, reason = "an allocator is unsafe by its signature")]
// SAFETY: every call goes to the system's allocator as it came; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IS_COORDINATOR.get() {
            IN_THREADS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations made in the threads of one run, and datagrams that they moved.
fn run(case: &Case, window: Duration) -> (u64, u64) {
    let settings = Settings {
        window,
        ..Settings::default()
    };
    let before = IN_THREADS.load(Ordering::Relaxed);
    let sample = cases::window(case, &settings);
    let allocations = IN_THREADS.load(Ordering::Relaxed) - before;
    (allocations, sample.accounting.at_end.sent)
}

/// A runtime may allocate once when a thread waits for the first time, which a short run need not do.
const ONCE: u64 = 4;

/// The fewest of three runs: the threads' own allocations are the same each time, and what the thread of the
/// test harness does meanwhile (it says that a test takes long) only adds to them.
fn fewest(case: &Case, window: Duration) -> (u64, u64) {
    let runs = [(); 3].map(|()| run(case, window));
    let allocations = runs.iter().map(|run| run.0).min();
    let moved = runs.iter().map(|run| run.1).min();
    allocations.zip(moved).expect("three runs")
}

/// One test in this file: a second one would allocate in a thread of its own at the same time.
#[test]
fn moving_more_datagrams_allocates_nothing_more() {
    IS_COORDINATOR.set(true);
    assert_eq!(listening(200), listening(1));
    for entry in engines_under_test().filter(|entry| entry.probe().is_ok()) {
        let (sender, receiver) = entry.pair();
        for threads in [1, 2] {
            if threads == 1 && entry.about.one_thread.is_err() {
                continue;
            }
            let case = Case {
                connection: Connection::Unconnected,
                ..case(sender, receiver, threads, 26)
            };
            check(&case);
            if let Some(case) = on_workers(&case) {
                check(&case);
            }
            if threads == 2 && entry.about.can_serve_requests.is_ok() {
                let workload = Some(Workload::Rr);
                check(&Case { workload, ..case }.normalized());
            }
        }
    }
}

/// The fewest allocations of three runs of a listening thread that reads this many datagrams.
fn listening(datagrams: u8) -> u64 {
    let run = |_| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let address = socket.local_addr().expect("bound");
        for n in 0..datagrams {
            let payload = vec![n; n.into()];
            sender
                .send_to(&payload, address)
                .expect("loopback takes it");
        }
        let (over, _windows) = mpsc::sync_channel(1);
        let (_spares, spare) = mpsc::channel();
        let options = ListenOptions {
            numbered: "0:1".parse().map(Numbered::Field).ok(),
            silence: Some(Duration::from_nanos(1)),
            window: Duration::from_millis(1),
            length: Some(Duration::from_millis(5)),
            drops_before: 0,
        };
        let interrupt = Interrupt::never().expect("a pair of sockets");
        let before = IN_THREADS.load(Ordering::Relaxed);
        let end = thread::scope(|scope| {
            let pipe = WindowPipe { over, spare };
            let thread = scope.spawn(|| listen(&socket, options, &interrupt, pipe));
            thread.join().expect("no panic").expect("a sound socket")
        });
        assert_eq!(end.last_window.datagrams, u64::from(datagrams));
        IN_THREADS.load(Ordering::Relaxed) - before
    };
    (0..3).map(run).min().expect("three runs")
}

fn check(case: &Case) {
    let (few, _) = fewest(case, Duration::from_millis(1));
    let mut window = Duration::from_millis(10);
    let (many, moved) = loop {
        window *= 2;
        let (allocations, moved) = fewest(case, window);
        if moved > 1000 {
            break (allocations, moved);
        }
    };
    assert!(
        many <= few + ONCE,
        "{}: {few} and then {many} allocations for {moved} datagrams",
        case.key()
    );
}
