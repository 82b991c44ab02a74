//! Tables whose ids are strings: the same rows after any change, failure and opening.

use super::forge::reseal_names;
use super::{HOLDS, PLAN};
use crate::fingerprint_store::FingerprintStore;
use crate::manifest::NameEntry;
use crate::name_file::{image, NameFile};
use crate::names::{Names, Strings};
use crate::run::Hold;
use crate::table_folder::check;
use lookalike_core::hash::mix64;
use lookalike_table::disk::Bytes;
use lookalike_table::error::{Error, Result};
use lookalike_table::ram::Ram;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::path::Path;
use std::sync::Arc;

type NamedRow = (u64, String);

fn folder() -> &'static Path {
    Path::new("/table")
}

fn batch(number: u64, count: u64) -> Vec<NamedRow> {
    (0..count).map(|i| (mix64(i % 50) ^ number, format!("https://example.org/{number}/{i}"))).collect()
}

fn insert(store: &mut FingerprintStore, rows: &[NamedRow]) -> Result<usize> {
    let (values, names): (Vec<u64>, Vec<&str>) = rows.iter().map(|row| (row.0, row.1.as_str())).unzip();
    store.insert_named(&values, &names)
}

fn remove(store: &mut FingerprintStore, rows: &[NamedRow]) -> Result<usize> {
    let (values, names): (Vec<u64>, Vec<&str>) = rows.iter().map(|row| (row.0, row.1.as_str())).unzip();
    store.remove_named(&values, &names)
}

fn rows_of(store: &FingerprintStore) -> Result<Vec<NamedRow>> {
    let (rows, names) = store.named_rows()?;
    let names = names.expect("strings");
    Ok(rows.iter().zip(names.iter()).map(|(row, name)| (row.0, name.to_owned())).collect())
}

fn sorted(mut rows: Vec<NamedRow>) -> Vec<NamedRow> {
    rows.sort();
    rows
}

/// Changes a table and commits each time, until a call fails: the rows that were acknowledged, and those attempted.
fn tell(disk: &Arc<Ram>) -> (Option<Vec<NamedRow>>, Vec<NamedRow>, bool) {
    let (mut acknowledged, mut attempted) = (None, Vec::new());
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    for number in 0..7 {
        let changed = match number {
            5 => remove(&mut store, &batch(1, 40)).map(drop),
            6 => store.compact(),
            _ => insert(&mut store, &batch(number, 60)).map(drop),
        };
        let done = changed.and_then(|()| {
            attempted = rows_of(&store)?;
            store.save(disk.clone(), folder())
        });
        match done {
            Ok(()) => acknowledged = Some(attempted.clone()),
            Err(_) => return (acknowledged, attempted, false),
        }
    }
    (acknowledged, attempted, true)
}

#[test]
fn rows_with_strings_are_a_set() {
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    let rows = batch(1, 5000);
    assert_eq!(insert(&mut store, &rows).expect("inserted"), 5000);
    assert_eq!(insert(&mut store, &rows).expect("inserted"), 0);
    assert_eq!(remove(&mut store, &rows[..100]).expect("removed"), 100);
    assert_eq!(remove(&mut store, &rows[..100]).expect("removed"), 0);
    assert_eq!(remove(&mut store, &batch(2, 10)).expect("removed"), 0);
    assert_eq!(rows_of(&store).expect("sound"), sorted(rows[100..].to_vec()));
    assert!(
        matches!(store.insert_numbered(&[(1, 1)]), Err(Error::Refused { reason }) if reason.contains("are strings"))
    );
    let mut numbered = FingerprintStore::build(PLAN, Hold::Plain, vec![(1, 1)]).expect("built");
    assert!(matches!(insert(&mut numbered, &rows), Err(Error::Refused { reason }) if reason.contains("are numbers")));
}

#[test]
fn strings_survive_whatever_call_fails() {
    let whole = Arc::new(Ram::default());
    assert!(tell(&whole).2);
    for at in 0..whole.calls() {
        let disk = Arc::new(Ram::full_from(at));
        let (acknowledged, attempted, _) = tell(&disk);
        for seed in 0..4 {
            let left = Arc::new(disk.after_power_loss(seed));
            for hold in HOLDS {
                match FingerprintStore::open(left.clone(), folder(), hold, true) {
                    Ok(store) => {
                        let rows = rows_of(&store).expect("sound");
                        assert!(Some(&rows) == acknowledged.as_ref() || rows == attempted, "call {at}, seed {seed}");
                        assert_eq!(check(left.clone(), folder()).expect("sound"), rows.len());
                    }
                    Err(error) => assert!(acknowledged.is_none() && matches!(error, Error::Io { .. }), "{error}"),
                }
            }
        }
    }
}

#[test]
fn what_is_compacted_keeps_no_string_of_a_removed_row() {
    let disk = Arc::new(Ram::default());
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    insert(&mut store, &batch(1, 50)).expect("inserted");
    insert(&mut store, &[(9, "mailto:gone@example.org".to_owned())]).expect("inserted");
    store.save(disk.clone(), folder()).expect("saved");
    remove(&mut store, &[(9, "mailto:gone@example.org".to_owned())]).expect("removed");
    store.compact().expect("compacted");
    store.commit().expect("committed");
    for (path, bytes) in disk.files() {
        assert!(!bytes.windows(4).any(|bytes| bytes == b"gone"), "{}", path.display());
    }
    assert_eq!(rows_of(&store).expect("sound"), sorted(batch(1, 50)));
}

#[test]
fn a_flipped_byte_in_a_file_of_strings_is_noticed() {
    let disk = Arc::new(Ram::default());
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    insert(&mut store, &batch(1, 30)).expect("inserted");
    store.save(disk.clone(), folder()).expect("saved");
    let rows = rows_of(&store).expect("sound");
    let files = disk.files();
    let path = files.keys().find(|path| path.to_string_lossy().contains("names-")).expect("a file of strings").clone();
    for at in 0..files[&path].len() {
        let mut files = files.clone();
        let mut bytes = files[&path].to_vec();
        bytes[at] ^= 1 << (at % 8);
        files.insert(path.clone(), bytes);
        let disk = Arc::new(Ram::with(files));
        for hold in HOLDS {
            let found = FingerprintStore::open(disk.clone(), folder(), hold, false).and_then(|store| rows_of(&store));
            match found {
                Ok(found) => assert_eq!(found, rows, "at {at}"),
                Err(error) => assert!(matches!(error, Error::Damaged { .. } | Error::Version { .. }), "{error}"),
            }
        }
        assert!(check(disk, folder()).is_err(), "at {at}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 1500, rng_seed: RngSeed::Fixed(2007), failure_persistence: None, ..Config::default() })]
    #[test]
    fn a_forged_file_of_strings_does_no_harm(
        texts in prop::collection::vec("[aü]{0,3}", 0..200),
        hits in prop::collection::vec((any::<u16>(), prop_oneof![any::<u8>(), Just(0), Just(255)]), 0..6),
    ) {
        let ids: Vec<u64> = (0..texts.len() as u64).map(|i| i * i * 1_000_003).collect();
        let strings: Strings = texts.iter().map(String::as_str).collect();
        let mut bytes = image(1, &ids, &strings.starts, strings.texts.as_bytes());
        for (at, byte) in hits {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        reseal_names(&mut bytes);
        for is_mapped in [false, true] {
            let Ok(file) = NameFile::open(Path::new("names"), Bytes::Memory(bytes.clone())) else { continue };
            let mut names = Names::default();
            if names.open(file, NameEntry::default(), is_mapped).is_err() {
                continue;
            }
            let _ = names.strings(&ids);
            let _ = names.assign(&["a", "üü", "b"]);
            let _ = names.compact(&ids);
            let _ = names.verify();
        }
    }
}
