//! The processes of this machine (proc(5)): those with a variable, those that use the CPUs, and the protocols of their
//! sockets.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use libc::c_void;

use super::files::Root;
use super::run_queue::CpuTaken;

/// Returns the IDs of the processes that were started with an environment variable whose value begins like this. Those
/// that have ended, or whose environment this process may not read, are missing.
pub fn with_variable(name: &str, begins: &str) -> impl Iterator<Item = i32> {
    let wanted = format!("{name}={begins}").into_bytes();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        variables.any(|it| it.starts_with(&wanted))
    })
}

/// Time that is observed: twenty ticks of the kernel's CPU accounting.
const LOOK: Duration = Duration::from_millis(200);

/// A process that uses CPU time.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyProcess {
    /// Process id.
    pub pid: u32,
    /// Name in the kernel, of 15 characters at most.
    pub name: String,
    /// CPUs that the process keeps busy: 1.0 is all of one CPU.
    pub cpus: f64,
}

/// Returns the processes that use these CPUs within the next 200 ms, without this one, the busiest first. Returns none
/// at once if `root` is not the machine's own.
pub fn busiest(root: &Root, cpus: &[usize]) -> Vec<BusyProcess> {
    if !root.is_real() {
        return Vec::new();
    }
    let (before, begun) = (threads(root), Instant::now());
    thread::sleep(LOOK);
    let (after, elapsed) = (threads(root), begun.elapsed());
    between(&before, &after, elapsed, cpus)
}

/// CPU time of a thread, in ticks, and the CPU that it ran on last.
#[derive(Clone, Debug, PartialEq)]
struct Thread {
    name: String,
    ticks: u64,
    cpu: usize,
}

/// Threads by process id and thread id. The first one of a process has the same number and the name of the process.
type Threads = BTreeMap<(u32, u32), Thread>;

fn threads(root: &Root) -> Threads {
    let numbers = |directory: &str| -> Vec<u32> {
        let names = root.names(directory, "").into_iter();
        names.filter_map(|name| name.parse().ok()).collect()
    };
    let mut pids = numbers("proc");
    pids.retain(|&pid| pid != process::id());
    let of_process = |pid| {
        let threads = numbers(&format!("proc/{pid}/task")).into_iter();
        threads.map(move |id| (pid, id))
    };
    let of_one = |(pid, id)| {
        let stat = root.text(format!("proc/{pid}/task/{id}/stat"))?;
        Some(((pid, id), parse(&stat)?))
    };
    let all = pids.into_iter().flat_map(of_process);
    all.filter_map(of_one).collect()
}

/// Parses name, CPU time and CPU from `pid (name) state ... utime stime ... processor ...`: the 14th, the 15th and the
/// 39th field (proc_pid_stat(5)).
fn parse(stat: &str) -> Option<Thread> {
    // A name may contain any character, even parentheses.
    let (head, fields) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let mut fields = fields.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Thread {
        name: name.to_owned(),
        ticks: ticks()? + ticks()?,
        cpu: fields.nth(23)?.parse().ok()?,
    })
}

fn between(
    before: &Threads,
    after: &Threads,
    elapsed: Duration,
    cpus: &[usize],
) -> Vec<BusyProcess> {
    let mut used: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, now) in after.iter().filter(|(_, now)| cpus.contains(&now.cpu)) {
        let earlier = before.get(id).map_or(0, |thread| thread.ticks);
        *used.entry(id.0).or_default() += now.ticks.saturating_sub(earlier);
    }
    let busy = used.into_iter().filter(|(_, ticks)| *ticks > 0);
    let busy = busy.map(|(pid, ticks)| {
        let used_ns = ticks.saturating_mul(CpuTaken::TICK_NS) as f64;
        BusyProcess {
            pid,
            name: after
                .get(&(pid, pid))
                .map_or_else(String::new, |it| it.name.clone()),
            cpus: used_ns / elapsed.as_nanos() as f64,
        }
    });
    let mut busy: Vec<BusyProcess> = busy.collect();
    busy.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    busy
}

/// Returns the protocols of the sockets that a process has open, as the kernel calls them: `UDP`, `UDPv6`, `TCP`,
/// `PACKET`. Empty: it has none, or its files may not be read.
pub fn socket_protocols(pid: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter();
    let files = files.flatten().flatten();
    files
        .filter_map(|file| socket_protocol(&file.path()))
        .collect()
}

/// Returns the protocol of an open file that is a socket, by an extended attribute that all of these have
/// (`sockfs_xattr_get`, net/socket.c).
fn socket_protocol(file: &Path) -> Option<String> {
    let path = CString::new(file.as_os_str().as_bytes()).ok()?;
    // `struct proto` has 32 bytes for it.
    let mut name = [0_u8; 64];
    #[expect(unsafe_code, reason = "no wrapper reads an extended attribute")]
    // SAFETY: both strings end in a NUL, and the kernel writes at most as many bytes to `name` as it has
    // (getxattr(2)).
    let length = unsafe {
        libc::getxattr(
            path.as_ptr(),
            c"system.sockprotoname".as_ptr(),
            name.as_mut_ptr().cast::<c_void>(),
            name.len(),
        )
    };
    let name = name.get(..usize::try_from(length).ok()?)?;
    let name = name.split(|byte| *byte == 0).next()?;
    String::from_utf8(name.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_found_by_a_variable_that_it_inherits() {
        let found = |begins: &str| with_variable("UDPBENCH_TEST", begins).collect::<Vec<i32>>();
        let value = format!("{}-of-this-test", std::process::id());
        let mut shell = Command::new("sh")
            .args(["-c", "echo; read line; true"])
            .env("UDPBENCH_TEST", format!("{value}.1"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        // It runs once it has printed something.
        let said = shell.stdout.as_mut().expect("a pipe");
        std::io::Read::read_exact(said, &mut [0]).expect("a line");
        assert_eq!(found(&value), [i32::try_from(shell.id()).expect("an ID")]);
        assert_eq!(found(&format!("{value}.2")), []);
        drop(shell.stdin.take());
        shell.wait().expect("it ends");
        assert_eq!(found(&value), []);
    }

    #[test]
    fn a_name_may_have_parentheses() {
        let stat = "42 (a) (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 1 0 50 1000 10 \
                    18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0";
        let expected = Thread {
            name: "a) (b) c".to_owned(),
            ticks: 12,
            cpu: 3,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("42 (cut"), None);
    }

    #[test]
    fn the_busiest_come_first_and_the_idle_and_those_on_other_cpus_not_at_all() {
        let threads = |ticks: [u64; 4]| -> Threads {
            let of_one = |(((pid, id), name, cpu), ticks): (_, u64)| {
                let name = str::to_owned(name);
                ((pid, id), Thread { name, ticks, cpu })
            };
            let named = [
                ((1, 1), "idle", 0),
                ((2, 2), "half", 1),
                ((3, 3), "two", 1),
                ((3, 4), "second", 0),
            ];
            named.into_iter().zip(ticks).map(of_one).collect()
        };
        let (before, after) = (threads([5, 10, 100, 0]), threads([5, 20, 116, 20]));
        let found = |cpus: &[usize]| -> Vec<(String, f64)> {
            let busy = between(&before, &after, LOOK, cpus).into_iter();
            busy.map(|one| (one.name, one.cpus)).collect()
        };
        let (half, two) = ("half".to_owned(), "two".to_owned());
        assert_eq!(found(&[0, 1]), [(two.clone(), 1.8), (half.clone(), 0.5)]);
        assert_eq!(found(&[1]), [(two.clone(), 0.8), (half, 0.5)]);
        assert_eq!(found(&[0]), [(two, 1.0)]);
    }

    #[test]
    fn a_socket_has_a_protocol_and_another_file_has_none() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let file = format!("/proc/self/fd/{}", socket.as_raw_fd());
        assert_eq!(socket_protocol(Path::new(&file)).as_deref(), Some("UDP"));
        assert!(socket_protocols(std::process::id()).contains(&"UDP".to_owned()));
        assert_eq!(socket_protocol(Path::new("/proc/self/stat")), None);
    }
}
