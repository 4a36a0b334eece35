//! Tests of `udpbench find`, the whole program. Tests of the searches' results with random data are in
//! `src/experiment/find/tests`.

mod local;
mod tuning;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Searches measure: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
