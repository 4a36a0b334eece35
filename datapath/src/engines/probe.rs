//! Checks whether an engine can run on this machine.

use std::panic;
use std::sync::Mutex;

use super::{Entry, exec};
use crate::engine::panic_message;

impl Entry {
    /// Checks that the engine can run: see [`crate::engine::Engine::probe`]. A panic of its library counts as a
    /// failure.
    ///
    /// # Errors
    /// Returns the reason why the engine cannot run.
    pub fn probe(&self) -> Result<(), String> {
        // The panic hook belongs to the whole process. Without the lock, two threads that silence it at once would
        // leave it silent.
        static HOOK: Mutex<()> = Mutex::new(());
        if let Some(path) = self.executable {
            return exec::probe(path);
        }
        let silenced = HOOK.lock();
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| ()));
        let probed = panic::catch_unwind(self.try_out);
        panic::set_hook(hook);
        drop(silenced);
        probed
            .unwrap_or_else(|panic| Err(format!("its library panics: {}", panic_message(&*panic))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;

    #[test]
    fn a_probe_that_panics_is_a_reason() {
        let with = |try_out| Entry {
            try_out,
            ..*engines::reference()
        };
        let reason = "its library panics: no epoll".to_owned();
        assert_eq!(with(|| panic!("no epoll")).probe(), Err(reason));
        let reason = "its library panics: 24 files".to_owned();
        assert_eq!(with(|| panic!("{} files", 24)).probe(), Err(reason));
        assert_eq!(
            with(|| Err("old".to_owned())).probe(),
            Err("old".to_owned())
        );
        assert_eq!(with(|| Ok(())).probe(), Ok(()));
    }
}
