//! Checks of the fixtures themselves.

use std::fs;
use std::path::{Path, PathBuf};

use udpbench::host::capture::capture;
use udpbench::sys::files::Root;

use crate::common::hosts;

use super::{package, stdout, udpbench};

#[test]
fn every_fixture_has_its_line_in_the_readme() {
    let readme = fs::read_to_string(package().join("tests/fixtures/README.md")).expect("is there");
    for name in hosts::names() {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn device_tree_strings_end_in_nul_and_all_other_files_in_a_newline() {
    for name in hosts::names() {
        for file in files_below(&hosts::root(&name)) {
            let bytes = fs::read(&file).expect("is readable");
            let is_device_tree = file.to_string_lossy().contains("device-tree");
            let end = if is_device_tree { b'\0' } else { b'\n' };
            assert_eq!(bytes.last(), Some(&end), "{}", file.display());
            assert_eq!(bytes.contains(&b'\0'), is_device_tree, "{}", file.display());
            assert!(!bytes.contains(&b'\r'), "{}", file.display());
            assert!(
                !(is_device_tree && bytes.contains(&b'\n')),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn a_capture_of_each_host_is_its_file_except_for_what_is_not_captured() {
    for name in hosts::names() {
        let root = Root::new(hosts::root(&name));
        let (captured, file) = (capture(&root), hosts::capture(&name));
        let is_captured = |line: &&str| captured.lines().any(|it| it == *line);
        let (own, others): (Vec<&str>, Vec<&str>) = file.lines().partition(is_captured);
        assert_eq!(captured, own.join("\n") + "\n", "{name}");
        for other in others {
            let beginnings = ["sys/class/net/", "sys/devices/platform/", "sys/fs/cgroup/"];
            let is_clock = other.contains("/cpufreq/");
            let is_not_captured = beginnings.iter().any(|begin| other.starts_with(begin));
            assert!(is_clock || is_not_captured, "{name}: {other}");
        }
    }
}

#[test]
fn a_capture_of_this_host_shows_its_cpus_and_no_serial_number() {
    let mut command = udpbench();
    let capture = stdout(command.args(["boards", "--capture"]));
    let cpus = fs::read_to_string("/sys/devices/system/cpu/online").expect("every Linux has it");
    let line = format!("sys/devices/system/cpu/online\t{cpus:?}\n");
    assert!(capture.contains(&line), "{capture}");
    assert!(!capture.contains("Serial"), "{capture}");
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("is readable");
    let paths = entries.map(|entry| entry.expect("is readable").path());
    let files = paths.flat_map(|path| {
        if path.is_symlink() {
            vec![]
        } else if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    });
    files.collect()
}
