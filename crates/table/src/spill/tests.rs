//! The sorter against a plain sort, at budgets from one row up, and its files when they are damaged.

use super::*;
use crate::disk::System;
use crate::error::Error;
use crate::testing::{fixed, mix64};
use proptest::prelude::*;
use std::path::Path;

/// A folder of one test, removed with it.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("the system has a folder for temporary files")
}

fn drain(mut sorted: Sorted) -> Result<Vec<(u64, Vec<u32>)>> {
    let mut runs = Vec::new();
    while let Some((key, owners)) = sorted.next_run()? {
        runs.push((key, owners.to_vec()));
    }
    Ok(runs)
}

fn sorted(rows: &[(u64, u32)], budget: usize, folder: Option<&Path>) -> Result<Sorted> {
    let mut sorter = folder.map_or_else(Sorter::in_memory, |folder| Sorter::new(Arc::new(System), budget, folder));
    rows.iter().try_for_each(|(key, owner)| sorter.push(*owner, &[*key]))?;
    sorter.finish()
}

fn naive(rows: &[(u64, u32)]) -> Vec<(u64, Vec<u32>)> {
    let mut rows = rows.to_vec();
    rows.sort();
    rows.chunk_by(|a, b| a.0 == b.0).map(|run| (run[0].0, run.iter().map(|row| row.1).collect())).collect()
}

fn many(rows: u64, keys: u64) -> Vec<(u64, u32)> {
    (0..rows).map(|i| (mix64(mix64(i) % keys), (i % 1000) as u32)).collect()
}

proptest! {
    #![proptest_config(fixed(60))]
    #[test]
    fn runs_are_those_of_a_sort_at_any_budget(
        rows in prop::collection::vec((prop_oneof![0u64..20, any::<u64>()], 0u32..9), 0..400),
        budget in prop_oneof![Just(0usize), 1usize..60, 60usize..3000, Just(1 << 20)],
    ) {
        let folder = folder();
        prop_assert_eq!(drain(sorted(&rows, budget, Some(folder.path())).expect("written")).expect("read"), naive(&rows));
        prop_assert_eq!(drain(sorted(&rows, budget, None).expect("in memory")).expect("in memory"), naive(&rows));
    }
}

#[test]
fn heaps_larger_than_the_cache_are_dealt_again_at_any_number_of_threads() {
    for rows in [many(200_000, 1 << 40), many(200_000, 50), (0..40_000u64).map(|i| (7, mix64(i) as u32)).collect()] {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
            let runs = pool.install(|| drain(sorted(&rows, 0, None).expect("in memory")).expect("in memory"));
            assert!(runs == naive(&rows), "{threads} threads");
        }
    }
}

#[test]
fn merged_files_are_removed_and_the_others_are_as_many_as_can_be_open() {
    let folder = folder();
    let rows = many(5_000, 700);
    let merged = sorted(&rows, 20 * 12, Some(folder.path())).expect("written");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder is there").count(), FAN_IN);
    assert_eq!(drain(merged).expect("read"), naive(&rows));
}

#[test]
fn a_flipped_bit_anywhere_is_an_error_and_never_a_row() {
    let folder = folder();
    let rows = many(100, 30);
    let path = folder.path().join("rows-000001");
    for at in (0..1000).step_by(7) {
        let mut sorter = Sorter::new(Arc::new(System), 50 * 12, folder.path());
        rows.iter().try_for_each(|(key, owner)| sorter.push(*owner, &[*key])).expect("written");
        let mut bytes = std::fs::read(&path).expect("the first file is there");
        let at = at % bytes.len();
        bytes[at] ^= 4;
        std::fs::write(&path, bytes).expect("written");
        let found = sorter.finish().and_then(drain).expect_err("damage is found");
        assert!(matches!(found, Error::Damaged { .. } | Error::Version { .. }), "byte {at}: {found}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder is there").count(), 0, "files are removed");
    }
}

#[test]
fn a_file_cut_short_and_a_folder_that_is_not_there_are_named() {
    let folder = folder();
    let mut sorter = Sorter::new(Arc::new(System), 50 * 12, folder.path());
    many(100, 30).iter().try_for_each(|(key, owner)| sorter.push(*owner, &[*key])).expect("written");
    let path = folder.path().join("rows-000001");
    let bytes = std::fs::read(&path).expect("the first file is there");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("written");
    let found = sorter.finish().and_then(drain).expect_err("a missing byte is found");
    assert!(matches!(found, Error::Damaged { .. }), "{found}");
    let missing = folder.path().join("missing");
    let found = sorted(&many(100, 30), 12, Some(&missing)).expect_err("there is no such folder");
    assert!(matches!(found, Error::Io { .. }) && found.to_string().contains("missing"), "{found}");
}
