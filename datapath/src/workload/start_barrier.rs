//! The barrier at which the bench threads of a run wait until all are ready.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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
    fn lock(&self) -> MutexGuard<'_, BarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut BarrierState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    pub(super) fn arrive_and_wait(&self) -> io::Result<()> {
        self.change(|state| state.arrived += 1);
        let state = self
            .changed
            .wait_while(self.lock(), |state| !state.open && !state.failed)
            .unwrap_or_else(PoisonError::into_inner);
        if state.failed {
            Err(CALLED_OFF.into())
        } else {
            Ok(())
        }
    }

    /// Waits until `threads` bench threads have arrived. Returns false if one of them failed.
    pub fn wait_for(&self, threads: usize) -> bool {
        let state = self
            .changed
            .wait_while(self.lock(), |state| {
                state.arrived < threads && !state.failed
            })
            .unwrap_or_else(PoisonError::into_inner);
        !state.failed
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
