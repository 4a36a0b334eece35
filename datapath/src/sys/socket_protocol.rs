//! Protocols of the sockets of any process, in whatever network namespace they are.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_void;

/// Returns the protocols of the sockets that a process has open, as the kernel calls them: `UDP`, `UDPv6`, `TCP`,
/// `PACKET`. Empty: it has none, or its files may not be read.
pub fn of_process(pid: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter();
    let files = files.flatten().flatten();
    files.filter_map(|file| protocol(&file.path())).collect()
}

/// Returns the protocol of an open file that is a socket, by an extended attribute that all of these have
/// (`sockfs_xattr_get`, net/socket.c).
fn protocol(file: &Path) -> Option<String> {
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

    use super::*;

    #[test]
    fn a_socket_has_a_protocol_and_another_file_has_none() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let file = format!("/proc/self/fd/{}", socket.as_raw_fd());
        assert_eq!(protocol(Path::new(&file)).as_deref(), Some("UDP"));
        assert!(of_process(std::process::id()).contains(&"UDP".to_owned()));
        assert_eq!(protocol(Path::new("/proc/self/stat")), None);
    }
}
