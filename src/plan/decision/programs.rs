//! Cases that programs (`--engine exec:PROGRAM`) do not run: their protocol has no words for them.

use crate::data::{Case, Mlock, Workload};
use crate::engines::{Engines, Entry};

/// Returns why a case cannot run with a program, if it cannot.
pub(super) fn refusal(case: &Case, (sender, receiver): Engines) -> Option<String> {
    let is_program = |entry: &&Entry| entry.executable.is_some();
    let program = [sender, receiver].into_iter().find(is_program)?;
    if case.mlock == Some(Mlock::On) {
        return Some(format!(
            "{program} is a program, whose memory no other process can lock: leave out --mlock, and have it call \
             mlockall"
        ));
    }
    if case.threads.is_alone() {
        return Some(format!(
            "{program} is a program, which sends or receives, not both: use --threads 2"
        ));
    }
    if case.workload == Some(Workload::Bidir) {
        return Some(format!(
            "{program} is a program, which sends or receives, not both"
        ));
    }
    if is_program(&sender) && (case.is_paced() || case.is_open_loop()) {
        return Some(format!(
            "{sender} is a program, which sends as fast as it can: for a rate, use --sender std --receiver exec:PROGRAM"
        ));
    }
    if is_program(&sender) && case.is_rr() {
        let is_plain = case.outstanding.is_none() && case.think_time.is_none();
        if !is_plain {
            return Some(format!(
                "{sender} is a program, which has one request at a time: leave out --outstanding and --think-time"
            ));
        }
    }
    if is_program(&receiver) && (case.service.is_some() || case.server_model.is_some()) {
        return Some(format!(
            "{receiver} is a program, which serves as it likes: leave out --service and --server-model"
        ));
    }
    None
}
