//! The processes of this machine (proc(5)).

use std::fs;

/// Returns the IDs of the processes in a process group.
pub fn group(id: i32) -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |&pid| group_of(pid) == Some(id))
}

fn group_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any character, even parentheses. After it: state, parent, group.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_its_group() {
        let (own, group_id) = (nix::unistd::getpid(), nix::unistd::getpgrp());
        assert!(group(group_id.as_raw()).any(|pid| pid == own.as_raw()));
        assert_eq!(group(i32::MAX).count(), 0);
    }
}
