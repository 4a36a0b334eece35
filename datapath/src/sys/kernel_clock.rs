//! State of the kernel's clock, as the daemon that disciplines it tells the kernel (adjtimex(2)).

use std::mem::MaybeUninit;

/// State of CLOCK_REALTIME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelClock {
    /// A daemon says that it disciplines the clock.
    pub is_synchronised: bool,
    /// Largest possible error in microseconds. The kernel adds 500 ppm from one report of the daemon to the next.
    pub max_error_us: u64,
    /// Estimated error in microseconds.
    pub estimated_error_us: u64,
}

/// Reads the state. `None`: the kernel does not tell.
#[expect(unsafe_code, reason = "no wrapper has adjtimex(2)")]
pub fn read() -> Option<KernelClock> {
    let mut state = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all zeros is a valid `timex`; with `modes` 0 the kernel changes nothing and fills it in.
    let (code, state) = unsafe { (libc::adjtimex(state.as_mut_ptr()), state.assume_init()) };
    if code < 0 {
        return None;
    }
    Some(KernelClock {
        is_synchronised: code != libc::TIME_ERROR && state.status & libc::STA_UNSYNC == 0,
        max_error_us: u64::try_from(state.maxerror).ok()?,
        estimated_error_us: u64::try_from(state.esterror).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_its_state_to_any_user() {
        let state = read().expect("adjtimex(2) needs no permission to read");
        // A clock that no daemon disciplines has an error that only grows.
        assert!(state.is_synchronised || state.max_error_us > 0, "{state:?}");
    }
}
