//! The barrier at which the bench threads of a run wait until all are ready.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::engine::lock;

/// Error of a bench thread that was cancelled at the start barrier because another thread could not be set up.
pub const CALLED_OFF: io::ErrorKind = io::ErrorKind::ConnectionAborted;

/// Barrier at which bench threads wait until all are ready. If one cannot be set up, all of them leave.
#[derive(Debug, Default)]
pub struct StartBarrier {
    state: Mutex<BarrierState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BarrierState {
    arrived: usize,
    failed: bool,
    open: bool,
}

impl StartBarrier {
    /// Waits until `is_over`. Returns false if a thread failed before.
    fn wait(&self, is_over: impl Fn(&BarrierState) -> bool) -> bool {
        let state = lock(&self.state);
        let goes_on = |state: &mut BarrierState| !is_over(state) && !state.failed;
        let waited = self.changed.wait_while(state, goes_on);
        !waited.unwrap_or_else(PoisonError::into_inner).failed
    }

    fn change(&self, change: impl FnOnce(&mut BarrierState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    pub(super) fn arrive_and_wait(&self) -> io::Result<()> {
        self.change(|state| state.arrived += 1);
        if self.wait(|state| state.open) {
            Ok(())
        } else {
            Err(CALLED_OFF.into())
        }
    }

    /// Waits until `threads` bench threads have arrived. Returns false if one of them failed.
    pub fn wait_for(&self, threads: usize) -> bool {
        self.wait(|state| state.arrived >= threads)
    }

    /// Opens the barrier.
    pub fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Cancels the run.
    pub fn fail(&self) {
        self.change(|state| state.failed = true);
    }
}
