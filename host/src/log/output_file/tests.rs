use std::ffi::OsString;

use super::*;

fn names(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).expect("it is there");
    entries.flatten().map(|entry| entry.file_name()).collect()
}

fn create(path: &Path) -> OutputFile {
    OutputFile::create("--output", path).expect("the name is free")
}

#[test]
fn what_was_written_since_a_file_was_read_is_not_cut_off() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("run.jsonl");
    fs::write(&path, "read\ntorn, and then went on\n").expect("there is space");
    let read = "read\ntorn".len() as u64;
    let refused = OutputFile::resume(&path, read, 5).expect_err("it has grown");
    assert!(refused.to_string().contains("meanwhile"), "{refused}");
    let length = fs::metadata(&path).expect("it is there").len();
    OutputFile::resume(&path, length, 5).expect("nobody else has it");
    assert_eq!(fs::read(&path).expect("it is there"), b"read\n");
}

#[test]
fn the_last_bytes_are_all_that_is_left() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("a.json");
    let mut file = create(&path);
    let mode = || fs::metadata(&path).expect("it is there").permissions();
    let created = mode();
    file.replace(b"a long first text").expect("there is space");
    file.replace(b"short").expect("there is space");
    assert_eq!(fs::read(&path).expect("it is there"), b"short");
    assert_eq!(names(place.path()), ["a.json"]);
    assert_eq!(mode(), created);
}

#[test]
fn what_was_replaced_goes_on() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("a.csv");
    let mut file = create(&path);
    file.append(b"old\n").expect("there is space");
    file.replace(b"new\n").expect("there is space");
    file.append(b"more\n").expect("there is space");
    file.sync().expect("it is there");
    assert_eq!(fs::read(&path).expect("it is there"), b"new\nmore\n");
    let length = fs::metadata(&path).expect("it is there").len();
    let refused = OutputFile::resume(&path, length, length).expect_err("it is locked");
    assert!(refused.to_string().contains("is writing"), "{refused}");
}

#[test]
fn a_file_that_was_replaced_and_then_cut_off_is_noticed() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("a.csv");
    let mut file = create(&path);
    file.replace(b"new\n").expect("there is space");
    fs::write(&path, "").expect("there is space");
    file.append(b"more\n").expect("there is space");
    file.sync().expect_err("its first line is gone");
}

#[test]
fn what_cannot_be_replaced_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("a.json");
    let part = place.path().join("a.json.part");
    let mut file = create(&path);
    file.replace(b"before").expect("there is space");
    fs::write(&part, "somebody's").expect("there is space");
    let refused = file.replace(b"after").expect_err("something is in the way");
    assert!(format!("{refused:#}").contains("remove it"), "{refused:#}");
    assert_eq!(fs::read(&path).expect("it is there"), b"before");
    assert_eq!(fs::read(&part).expect("it is there"), b"somebody's");
}

#[test]
fn a_document_that_another_program_changed_is_not_replaced() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("a.json");
    let mut file = create(&path);
    file.replace(b"before").expect("there is space");
    fs::write(&path, "edited by somebody").expect("there is space");
    file.replace(b"after").expect_err("it is somebody's");
    assert_eq!(fs::read(&path).expect("it is there"), b"edited by somebody");
}

#[test]
fn a_file_that_is_there_is_not_touched() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("a.json");
    fs::write(&path, "mine").expect("there is space");
    let refused = OutputFile::create("--output", &path).expect_err("it is there");
    assert!(refused.to_string().contains("is not overwritten"));
    assert_eq!(fs::read(&path).expect("it is there"), b"mine");
}
