//! A table belongs to one folder and one process, and a call that fails changes nothing.

use super::{near_rows, PLAN};
use crate::fingerprint_store::{FingerprintStore, TAIL};
use crate::header::HEADER;
use crate::run::{FingerprintRow, Hold};
use crate::verified_pages::PAGE;
use lookalike_core::hash::mix64;
use lookalike_table::disk::{Disk, System};
use lookalike_table::error::Error;
use lookalike_table::ram::Ram;
use std::path::Path;
use std::sync::Arc;

fn folder() -> &'static Path {
    Path::new("/table")
}

fn saved(disk: &Arc<Ram>) -> FingerprintStore {
    let mut store = FingerprintStore::build(PLAN, Hold::Plain, near_rows(1, 300)).expect("built");
    store.save(disk.clone(), folder()).expect("saved");
    store
}

fn refusal<T: std::fmt::Debug>(done: lookalike_table::Result<T>) -> String {
    match done {
        Err(Error::Refused { reason }) => reason,
        other => format!("{other:?}"),
    }
}

#[test]
fn a_folder_that_was_replaced_is_not_written() {
    let disk = Arc::new(Ram::default());
    let mut store = saved(&disk);
    store.insert(&near_rows(2, 50)).expect("inserted");
    disk.replace_folder();
    let files = disk.files();
    assert!(refusal(store.commit()).contains("was moved or replaced"));
    assert!(refusal(store.save(disk.clone(), folder())).contains("is stored in"));
    assert_eq!(disk.files(), files);
}

#[test]
fn another_process_writes_nothing() {
    let disk = Arc::new(Ram::default());
    let mut store = saved(&disk);
    disk.fork();
    let calls = disk.calls();
    assert!(refusal(store.insert(&[(1, 1)])).contains("belongs to process `0`"));
    assert!(refusal(store.remove(&[(1, 1)])).contains("belongs to process `0`"));
    assert!(refusal(store.commit()).contains("belongs to process `0`"));
    assert!(refusal(store.compact()).contains("belongs to process `0`"));
    assert_eq!(store.rows().expect("read"), near_rows(1, 300));
    assert_eq!(disk.calls(), calls);
}

/// Rows of a batch. Their ids are so long that they fill several pages.
fn batch(number: u64, count: usize) -> Vec<FingerprintRow> {
    (0..count as u64).map(|i| (mix64(number << 32 | i), mix64(i))).collect()
}

/// A mapped table of one run that is just large enough for its size, and three smaller ones, one fewer than are merged.
/// The first of those is damaged where only a merge reads it.
fn damaged(home: &Path) -> FingerprintStore {
    let mut store = FingerprintStore::new(PLAN, Hold::Mapped).expect("a plan");
    for (number, count) in [(0, 4 * TAIL), (1, TAIL), (2, TAIL), (3, TAIL)] {
        store.insert(&batch(number, count)).expect("inserted");
    }
    store.save(Arc::new(System), home).expect("saved");
    drop(store);
    let path = home.join("run-0000000000000002");
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[HEADER + PAGE + 100] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let mut store = FingerprintStore::open(Arc::new(System), home, Hold::Mapped, true).expect("opened");
    store.insert(&[(7, 7)]).expect("into the tail");
    store
}

#[test]
fn an_insert_whose_merge_fails_inserts_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let mut store = damaged(&place.path().join("table"));
    assert!(matches!(store.insert(&batch(9, TAIL)), Err(Error::Damaged { .. })));
    assert_eq!((store.len(), store.runs(), store.tail.0.len()), (7 * TAIL + 1, 4, 1));
}

#[test]
fn a_removal_whose_merge_fails_removes_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let mut store = damaged(&place.path().join("table"));
    // One row fewer, and the large run is merged with the others.
    let removed = store.remove(&[batch(0, 1)[0], (7, 7)]);
    assert!(matches!(removed, Err(Error::Damaged { .. })), "{removed:?}");
    assert_eq!((store.len(), store.runs(), store.tail.0.len()), (7 * TAIL + 1, 4, 1));
}

#[test]
fn files_of_others_are_neither_unlinked_nor_joined() {
    let place = tempfile::tempdir().expect("a folder");
    let theirs = ["run-me.sh", "run-0000000000000001x", "run-000000000000000G", "manifest.new.txt", "notes.new"];
    for name in theirs {
        std::fs::write(place.path().join(name), name).expect("written");
    }
    let mut store = FingerprintStore::build(PLAN, Hold::Plain, near_rows(1, 30)).expect("built");
    assert!(refusal(store.save(Arc::new(System), place.path())).contains("holds other files"));
    assert_eq!(System.list(place.path()).expect("listed").len(), theirs.len(), "nothing is made there");
    let home = place.path().join("table");
    store.save(Arc::new(System), &home).expect("saved");
    for name in theirs {
        std::fs::write(home.join(name), name).expect("written");
    }
    std::fs::write(home.join("run-00000000000000ff"), "left").expect("written");
    store.insert(&[(1, 1)]).expect("inserted");
    store.commit().expect("committed");
    let names = System.list(&home).expect("listed");
    assert!(theirs.iter().all(|name| names.iter().any(|other| other == name)), "{names:?}");
    assert!(!names.iter().any(|name| name == "run-00000000000000ff"), "what a crash left is swept");
}

#[test]
fn a_file_of_somebody_called_lock_is_left_alone() {
    let place = tempfile::tempdir().expect("a folder");
    std::fs::write(place.path().join("lock"), "my own").expect("written");
    let mut store = FingerprintStore::build(PLAN, Hold::Plain, near_rows(1, 30)).expect("built");
    assert!(refusal(store.save(Arc::new(System), place.path())).contains("`lock`"));
    let opened = FingerprintStore::open(Arc::new(System), place.path(), Hold::Plain, true);
    assert!(matches!(opened, Err(Error::Io { .. })));
    assert_eq!(std::fs::read(place.path().join("lock")).expect("read"), b"my own");
}

#[test]
fn a_save_that_was_cut_off_is_repeated_in_its_folder() {
    let place = tempfile::tempdir().expect("a folder");
    for (name, content) in [("lock", "process 7"), ("run-0000000000000001", "half"), ("manifest.new", "half")] {
        std::fs::write(place.path().join(name), content).expect("written");
    }
    let mut store = FingerprintStore::build(PLAN, Hold::Plain, near_rows(1, 30)).expect("built");
    store.save(Arc::new(System), place.path()).expect("saved");
    drop(store);
    let opened = FingerprintStore::open(Arc::new(System), place.path(), Hold::Mapped, true).expect("opened");
    assert_eq!(opened.rows().expect("sound"), near_rows(1, 30));
}
