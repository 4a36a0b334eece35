//! Connections that break during a window: the row has the reason, and nothing hangs.

use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::sockopt::SockType as Kind;
use nix::sys::socket::{Shutdown, SockType, SockaddrIn, getpeername, getsockopt, shutdown};
use udpbench::results::row::Status;

use crate::common::{Place, rows, wait_until};

/// Much longer than the rest of a sweep takes.
const TIMEOUT: Duration = Duration::from_secs(240);

/// The processes that this one has started, and theirs.
fn descendants(pid: u32) -> Vec<u32> {
    let mut all = Vec::new();
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|it| it.parse().ok()) {
            all.push(child);
            all.extend(descendants(child));
        }
    }
    all
}

/// The numbers of a process's sockets.
fn sockets(pid: u32) -> Vec<RawFd> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"));
    let number = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        let is_socket = target.to_string_lossy().starts_with("socket:");
        is_socket.then(|| entry.file_name().to_str()?.parse().ok())?
    };
    entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(number)
        .collect()
}

/// A socket of another process, as one of ours (pidfd_getfd(2), Linux 5.6).
fn socket_of(pid: u32, fd: RawFd) -> nix::Result<OwnedFd> {
    let owned = |result: libc::c_long| {
        let number: RawFd = Errno::result(result)?.try_into().expect("a descriptor");
        #[expect(unsafe_code, reason = "no wrapper has these calls")]
        // SAFETY: what both calls return is a descriptor that nobody else owns.
        Ok(unsafe { OwnedFd::from_raw_fd(number) })
    };
    #[expect(unsafe_code, reason = "no wrapper has these calls")]
    // SAFETY: it takes integers.
    let process: OwnedFd = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    #[expect(unsafe_code, reason = "no wrapper has these calls")]
    // SAFETY: it takes integers.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), fd, 0) })
}

/// Ends the TCP connections of whichever process measures.
fn break_all(running: &Child, how: Shutdown) -> nix::Result<()> {
    // Where it cannot start another process, as below an emulator, it measures itself.
    let mut pids = descendants(running.id());
    pids.push(running.id());
    for pid in pids {
        for fd in sockets(pid) {
            let socket = match socket_of(pid, fd) {
                // Closed meanwhile.
                Err(Errno::EBADF | Errno::ESRCH) => continue,
                socket => socket?,
            };
            let is_stream = getsockopt(&socket, Kind) == Ok(SockType::Stream);
            let is_connected = getpeername::<SockaddrIn>(socket.as_raw_fd()).is_ok();
            if is_stream && is_connected {
                // The other end may have been first.
                let _ = shutdown(socket.as_raw_fd(), how);
            }
        }
    }
    Ok(())
}

/// Returns whether the log tells of a window that failed.
fn tells_of_failure(raw: &Path) -> bool {
    let text = fs::read_to_string(raw).unwrap_or_default();
    ["{\"repeated\":", "{\"failed\":"]
        .iter()
        .any(|event| text.contains(event))
}

/// The exit code, once it ends.
fn ended(running: &mut Child, what: &str) -> Option<i32> {
    wait_until(what, || !matches!(running.try_wait(), Ok(None)));
    running.wait().expect("it is ours").code()
}

#[test]
fn a_connection_that_breaks_is_a_failed_row_with_the_reason() {
    for (workload, how) in [
        ("flood", Shutdown::Write),
        ("flood", Shutdown::Both),
        ("rr", Shutdown::Both),
    ] {
        let place = Place::new();
        let options = format!(
            "--transport tcp --workload {workload} --engine std,tokio,mio-exhaustive --threads 2 --payload 1000 --ip v4 \
             --rounds 5 --duration 2s --heat 0s -o out.csv"
        );
        let mut running = place
            .udpbench(&options)
            .spawn()
            .expect("the program starts");
        let raw = place.path("out.jsonl");
        wait_until("the first window is measured", || {
            fs::read_to_string(&raw).is_ok_and(|text| text.contains("{\"window\":"))
        });
        // Between two windows nothing is lost: until it is seen, once more.
        let since = Instant::now();
        while !tells_of_failure(&raw) && running.try_wait().expect("it is ours").is_none() {
            assert!(since.elapsed() < TIMEOUT, "{options}: it hangs");
            if let Err(error) = break_all(&running, how) {
                eprintln!("SKIPPED: no socket of another process can be had: {error}");
                running.kill().expect("it is ours");
                running.wait().expect("it ends");
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let code = ended(&mut running, &options);
        let rows = rows(&place.path("out.csv"));
        assert_eq!(rows.len(), 3, "{workload}");
        // A window is measured again if it fails, and the row says so; that of a broken connection never hangs.
        let told = rows.iter().any(|row| {
            let is_repeated = row.repeated_windows.is_some_and(|windows| windows > 0);
            let why = row.warnings.iter().any(|it| it.code() == "measured-again");
            let is_failed = row.status == Status::Failed;
            (is_repeated && why) || is_failed
        });
        let said: Vec<_> = rows
            .iter()
            .map(|row| (&row.reason, &row.warnings))
            .collect();
        assert!(told, "{workload}, {how:?}: {said:#?}");
        assert!(code == Some(0) || code == Some(1), "{workload}: {code:?}");
    }
}
