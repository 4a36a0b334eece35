//! Cases that programs (`--engine exec:PROGRAM`) do not run: their protocol has no words for them.

use anyhow::ensure;

use crate::data::{Case, Mlock, Workload};
use crate::engines::{Engines, Entry};

/// Checks that a case can run with its programs. The error is the reason why not.
pub(super) fn can_run(case: &Case, (sender, receiver): Engines) -> anyhow::Result<()> {
    let is_program = |entry: &&Entry| entry.executable.is_some();
    let Some(program) = [sender, receiver].into_iter().find(is_program) else {
        return Ok(());
    };
    ensure!(
        case.mlock != Some(Mlock::On),
        "{program} is a program, whose memory no other process can lock: leave out --mlock, and have it call mlockall"
    );
    ensure!(
        !case.threads.is_alone(),
        "{program} is a program, which sends or receives, not both: use --threads 2"
    );
    ensure!(
        case.workload != Some(Workload::Bidir),
        "{program} is a program, which sends or receives, not both"
    );
    ensure!(
        !is_program(&sender) || !(case.is_paced() || case.is_open_loop()),
        "{sender} is a program, which sends as fast as it can: for a rate, use --sender std --receiver exec:PROGRAM"
    );
    ensure!(
        !is_program(&sender) || case.outstanding.is_none() && case.think_time.is_none(),
        "{sender} is a program, which has one request at a time: leave out --outstanding and --think-time"
    );
    ensure!(
        !is_program(&receiver) || case.service.is_none() && case.server_model.is_none(),
        "{receiver} is a program, which serves as it likes: leave out --service and --server-model"
    );
    Ok(())
}
