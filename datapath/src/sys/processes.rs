//! The processes of this machine (proc(5)).

use std::fs;

/// Returns the IDs of the processes that were started with an environment variable whose value begins like this. Those
/// that have ended, or whose environment this process may not read, are missing.
pub fn with_variable(name: &str, begins: &str) -> impl Iterator<Item = i32> {
    let wanted = format!("{name}={begins}").into_bytes();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        variables.any(|it| it.starts_with(&wanted))
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_found_by_a_variable_that_it_inherits() {
        let found = |begins: &str| with_variable("UDPBENCH_TEST", begins).collect::<Vec<i32>>();
        let value = format!("{}-of-this-test", std::process::id());
        let mut shell = Command::new("sh")
            .args(["-c", "echo; read line; true"])
            .env("UDPBENCH_TEST", format!("{value}.1"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        // It runs once it has printed something.
        let said = shell.stdout.as_mut().expect("a pipe");
        std::io::Read::read_exact(said, &mut [0]).expect("a line");
        assert_eq!(found(&value), [i32::try_from(shell.id()).expect("an ID")]);
        assert_eq!(found(&format!("{value}.2")), []);
        drop(shell.stdin.take());
        shell.wait().expect("it ends");
        assert_eq!(found(&value), []);
    }
}
