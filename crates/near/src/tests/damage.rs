//! Files with flipped, cut, swapped, missing or forged content give an error that names the file, or the right answer.

use super::forge::{reseal_header, reseal_manifest, reseal_run};
use super::table_forge;
use super::{answers_as, near_rows, HOLDS, PLAN};
use crate::fingerprint_store::FingerprintStore;
use crate::manifest::{Manifest, RunEntry};
use crate::run::{FingerprintRow, Hold, Run};
use crate::run_file::RunFile;
use crate::table_folder::check;
use crate::verified_pages::PAGE;
use lookalike_core::hamming::solve::{solve, Limit};
use lookalike_core::hash::mix64;
use lookalike_table::disk::Bytes;
use lookalike_table::error::Error;
use lookalike_table::ram::Ram;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

fn folder() -> &'static Path {
    Path::new("/table")
}

/// A table of two runs with deletions and a tail, on a disk, and its rows.
fn table() -> (Ram, Vec<FingerprintRow>) {
    let disk = Arc::new(Ram::default());
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    store.insert(&near_rows(1, 400)).expect("inserted");
    store.compact().expect("merged");
    store.save(disk.clone(), folder()).expect("saved");
    store.insert(&near_rows(2, 100)).expect("inserted");
    store.remove(&near_rows(1, 40)).expect("removed");
    store.commit().expect("committed");
    let rows = store.rows().expect("sound");
    (disk.copy(), rows)
}

/// Asserts that a damaged table, however it is opened, gives the right answer or an error of damage. Returns whether a
/// full check reports the damage.
fn is_noticed(disk: Ram, rows: &[FingerprintRow], what: &str) -> bool {
    let disk = Arc::new(disk);
    for hold in HOLDS {
        match FingerprintStore::open(disk.clone(), folder(), hold, false) {
            Ok(store) => assert_ne!(answers_as(&store, rows), Some(false), "{what}, {hold:?}"),
            Err(error) => assert!(matches!(error, Error::Damaged { .. } | Error::Version { .. }), "{what}: {error}"),
        }
    }
    match check(disk, folder()) {
        Ok(count) => {
            assert_eq!(count, rows.len(), "{what}");
            false
        }
        Err(error) => error.to_string().contains("/table/"),
    }
}

fn damaged(disk: &Ram, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Ram {
    let mut files = disk.files();
    let mut bytes = files[path].to_vec();
    change(&mut bytes);
    files.insert(path.to_owned(), bytes);
    Ram::with(files)
}

#[test]
fn a_flipped_byte_is_noticed_wherever_it_is() {
    let (disk, rows) = table();
    for (path, bytes) in disk.files() {
        for at in 0..bytes.len() {
            let what = format!("{} at {at}", path.display());
            let hit = damaged(&disk, &path, |bytes| bytes[at] ^= 1 << (at % 8));
            assert!(is_noticed(hit, &rows, &what), "{what}");
        }
    }
}

#[test]
fn a_cut_or_longer_file_is_noticed() {
    let (disk, rows) = table();
    for (path, bytes) in disk.files() {
        for length in (0..bytes.len()).step_by(7).chain([0, 1, bytes.len() - 1]) {
            let what = format!("{} cut to {length}", path.display());
            assert!(is_noticed(damaged(&disk, &path, |bytes| bytes.truncate(length)), &rows, &what), "{what}");
        }
        for more in [1, 8, PAGE] {
            let longer = damaged(&disk, &path, |bytes| bytes.resize(bytes.len() + more, 0));
            assert!(is_noticed(longer, &rows, "longer"), "{} longer", path.display());
        }
    }
}

#[test]
fn swapped_and_missing_files_are_noticed() {
    let disk = Arc::new(Ram::default());
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    for seed in 1..3 {
        store.insert(&(0..5000).map(|i| (mix64(seed * 10_000 + i), i)).collect::<Vec<_>>()).expect("inserted");
    }
    store.save(disk.clone(), folder()).expect("saved");
    let rows = store.rows().expect("sound");
    let files = disk.files();
    let paths: Vec<PathBuf> = files.keys().cloned().collect();
    assert_eq!(paths.len(), 3, "two runs and a manifest: {paths:?}");
    for path in &paths {
        for other in paths.iter().filter(|other| *other != path) {
            let mut swapped = files.clone();
            swapped.insert(path.clone(), files[other].clone());
            swapped.insert(other.clone(), files[path].clone());
            assert!(is_noticed(Ram::with(swapped), &rows, "swapped"), "{}", path.display());
        }
        let mut fewer = files.clone();
        fewer.remove(path);
        let opened = FingerprintStore::open(Arc::new(Ram::with(fewer)), folder(), Hold::Mapped, false);
        match path.ends_with("manifest") {
            true => assert!(matches!(opened, Err(Error::Io { .. }))),
            false => assert!(matches!(opened, Err(Error::Damaged { path: named, .. }) if named == *path)),
        }
    }
}

#[test]
fn a_file_of_another_version_is_told_from_a_damaged_one() {
    let (disk, _) = table();
    let opened = |newer: Ram| FingerprintStore::open(Arc::new(newer), folder(), Hold::Mapped, false);
    for path in disk.files().keys() {
        let is_run = !path.ends_with("manifest");
        let newer = damaged(&disk, path, |bytes| {
            bytes[4] = 4;
            let sum = xxh3_64(&bytes[..8]).to_le_bytes();
            match is_run {
                true => bytes[8..16].copy_from_slice(&sum),
                false => reseal_header(bytes),
            }
        });
        let last = if is_run { 1 } else { 3 };
        assert!(matches!(opened(newer), Err(Error::Version { found: 4, known, .. }) if known == last));
    }
}

/// A run file of version 1.
const OLD: &[u8] = include_bytes!("../../../../tests/compat/hamming_v1/run-0000000000000001");

/// Puts bytes at places.
fn strike(bytes: &mut [u8], hits: &[(u16, u8)]) {
    for (at, byte) in hits {
        let at = usize::from(*at) % bytes.len();
        bytes[at] = *byte;
    }
}

/// Opens a forged run and asks it everything.
fn search_all(bytes: &[u8]) {
    for hold in HOLDS {
        let Ok(file) = RunFile::open(Path::new("run"), Bytes::Memory(bytes.to_vec())) else { continue };
        let Ok(run) = Run::open(&file, &RunEntry::default(), hold) else { continue };
        run.find(&[mix64(1)], 3, &mut |_, _, _, row| _ = run.value(row));
        // Each fingerprint has at most all ids, and reading stops at the first one too many.
        assert!(run.live().len() <= 2 * run.size());
        let _ = run.verify();
    }
}

proptest! {
    #![proptest_config(Config { cases: 1500, rng_seed: RngSeed::Fixed(2007), failure_persistence: None, ..Config::default() })]
    #[test]
    fn a_forged_file_does_no_harm(
        count in 0u64..600,
        hits in prop::collection::vec((any::<u16>(), prop_oneof![any::<u8>(), Just(0), Just(255)]), 0..6),
        tables in 1u64..12,
    ) {
        let rows = near_rows(3, count);
        let design = solve(64, 3, rows.len() as u64, Limit::Tables(tables)).expect("a plan");
        let disk = Ram::default();
        Run::build(&design, rows, Hold::Plain).expect("built").write(Arc::new(disk.clone()), Path::new("run")).expect("written");
        let mut bytes = disk.files()[Path::new("run")].clone();
        strike(&mut bytes, &hits);
        table_forge::reseal(&mut bytes);
        search_all(&bytes);
        let mut old = OLD.to_vec();
        strike(&mut old, &hits);
        reseal_run(&mut old);
        search_all(&old);
    }

    #[test]
    fn any_bytes_are_a_manifest_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300), hits in prop::collection::vec(any::<(u16, u8)>(), 0..6)) {
        prop_assert!(Manifest::from_bytes(Path::new("manifest"), &bytes).is_err());
        let (disk, _) = table_once();
        let mut forged = disk.clone();
        for (at, byte) in hits {
            let at = usize::from(at) % forged.len();
            forged[at] = byte;
        }
        reseal_manifest(&mut forged);
        if let Ok(manifest) = Manifest::from_bytes(Path::new("manifest"), &forged) {
            prop_assert!(manifest.rows() < 1 << 40);
        }
    }
}

/// The manifest of [`table`], made once.
fn table_once() -> &'static (Vec<u8>, Vec<FingerprintRow>) {
    static TABLE: std::sync::OnceLock<(Vec<u8>, Vec<FingerprintRow>)> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| {
        let (disk, rows) = table();
        (disk.files()[Path::new("/table/manifest")].to_vec(), rows)
    })
}
