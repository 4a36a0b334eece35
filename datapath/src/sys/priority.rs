//! Priority of threads that must not wait for other programs.

/// Nice value: about ten times the CPU share of a usual thread (sched(7)).
const NICE: libc::c_int = -10;

/// Gives the calling thread a higher priority than usual threads have. Without the permission (CAP_SYS_NICE, or
/// `RLIMIT_NICE`), it stays as it is.
pub fn raise() {
    #[expect(unsafe_code, reason = "no wrapper has setpriority")]
    // SAFETY: setpriority(2) takes three integers and touches no memory. 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE)
    };
}
