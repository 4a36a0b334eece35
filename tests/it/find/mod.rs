//! Tests of `udpbench find`, the whole program. Tests of the searches' results with random data are in
//! `src/experiment/find/tests`.

mod knee;
mod local;
mod tuning;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests for a quiet machine, which are ignored by default, run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
