//! The file of the key: made once, read by its owner alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::common::{Place, stderr, stdout};
use crate::listening::new_key;

#[test]
fn a_new_key_is_private_and_never_replaces_a_file() {
    let place = Place::new();
    let output = place.run("agent --new-key bench.key");
    assert!(output.status.success(), "{output:?}");
    let said = stdout(&output);
    for step in [
        "scp -p bench.key USER@ADDRESS:",
        "udpbench agent --listen ADDRESS:7007 --key bench.key",
        "udpbench wire --agent-at ADDRESS:7007 --key bench.key",
    ] {
        assert!(said.contains(step), "{said}");
    }
    let path = place.path("bench.key");
    let mode = fs::metadata(&path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&path).expect("text");
    let digits = text
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("udpbench-key-1 "));
    let digits = digits.expect("the line of the key");
    assert_eq!(digits.len(), 64);
    assert!(!said.contains(digits), "it is not shown");
    let again = place.run("agent --new-key bench.key");
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("bench.key: it is there already"),
        "{again:?}"
    );
    assert_eq!(fs::read_to_string(&path).expect("text"), text);
    // Not even where it would be by a link.
    symlink(place.path("elsewhere"), place.path("link")).expect("a link");
    assert_eq!(place.run("agent --new-key link").status.code(), Some(2));
    assert!(!place.path("elsewhere").exists());
    assert_eq!(
        place.run("agent --new-key no/such/place").status.code(),
        Some(2)
    );
}

#[test]
fn each_new_key_is_another() {
    let place = Place::new();
    let (one, path) = new_key(&place, "one.key");
    let (other, _) = new_key(&place, "other.key");
    assert!(one != other);
    assert!(udpbench::channel::Key::read(&path).is_ok_and(|read| read == one));
}

#[test]
fn a_key_that_others_can_read_is_refused_with_the_fix() {
    let place = Place::new();
    let (_, path) = new_key(&place, "bench.key");
    for mode in [0o640, 0o604, 0o620, 0o601, 0o644, 0o777] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
        let output = place.run("agent --listen 127.0.0.1:0 --key bench.key");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = stderr(&output);
        let expected =
            format!("others may use this key, as its mode is {mode:03o}: chmod 600 bench.key");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn what_is_no_key_is_refused_with_its_line_and_not_shown() {
    let place = Place::new();
    let (_, path) = new_key(&place, "bench.key");
    let whole = fs::read_to_string(&path).expect("text");
    let secret = whole
        .lines()
        .last()
        .and_then(|line| line.split_once(' '))
        .expect("a key")
        .1;
    let cases = [
        (String::new(), "bench.key: it has no key"),
        ("# nothing\n".to_owned(), "bench.key: it has no key"),
        (format!("{secret}\n"), "bench.key, line 1: it is no key"),
        (
            format!("# a\n\nudpbench-key-1 {}\n", &secret[1..]),
            "bench.key, line 3: its key has not 64 digits",
        ),
        (
            format!("udpbench-key-1 g{}\n", &secret[1..]),
            "bench.key, line 1: it is no key",
        ),
        (
            format!("udpbench-key-1 ä{}\n", &secret[2..]),
            "bench.key, line 1: it is no key",
        ),
        (whole.repeat(2), "bench.key, line 4: it is a second key"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\n".to_owned(),
            "bench.key, line 1: it is no key",
        ),
        (
            "x".repeat(5000),
            "bench.key: cannot read the key: it has more than 4096 B",
        ),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).expect("it is ours");
        let output = place.run("agent --listen 127.0.0.1:0 --key bench.key");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = stderr(&output);
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains(&secret[2..40]), "{said}");
    }
    let output = place.run("agent --listen 127.0.0.1:0 --key .");
    assert!(stderr(&output).contains("it is no file"), "{output:?}");
}
