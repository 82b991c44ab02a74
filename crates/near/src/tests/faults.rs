//! Each call fails once, and the power fails after each call: the table is in its old or its new state, never in
//! another.

use super::{answers_as, near_rows, HOLDS, PLAN};
use crate::fingerprint_store::{FingerprintStore, TAIL};
use crate::run::{FingerprintRow, Hold};
use crate::table_folder::check;
use lookalike_table::error::{Error, Result};
use lookalike_table::ram::Ram;
use std::path::Path;
use std::sync::Arc;

/// A change of a table.
type Chapter = Box<dyn Fn(&mut FingerprintStore) -> Result<()>>;

/// The actions of a program until a failure: the rows of the last successful commit, and of the attempted one.
struct Story {
    acknowledged: Option<Vec<FingerprintRow>>,
    attempted: Vec<FingerprintRow>,
    failure: Option<Error>,
}

fn folder() -> &'static Path {
    Path::new("/table")
}

/// Saves a table, changes it with and without merging, and commits each time.
fn tell(disk: &Arc<Ram>) -> Story {
    let mut story = Story { acknowledged: None, attempted: Vec::new(), failure: None };
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    let mut chapters: Vec<Chapter> = Vec::new();
    chapters.push(Box::new(|store| store.insert(&near_rows(1, 300)).map(drop)));
    chapters.push(Box::new(|store| store.remove(&near_rows(1, 50)).map(drop)));
    for batch in 2..7 {
        // Each batch becomes a run, so the fifth causes a merge.
        chapters.push(Box::new(move |store| {
            store.insert(&(0..TAIL as u64).map(|i| (i * batch, batch)).collect::<Vec<_>>()).map(drop)
        }));
    }
    chapters.push(Box::new(|store| store.remove(&(0..900).map(|i| (i * 3, 3)).collect::<Vec<_>>()).map(drop)));
    chapters.push(Box::new(FingerprintStore::compact));
    for chapter in chapters {
        let done = chapter(&mut store).and_then(|()| {
            story.attempted = store.rows()?;
            store.save(disk.clone(), folder())
        });
        match done {
            Ok(()) => story.acknowledged = Some(story.attempted.clone()),
            Err(failure) => {
                story.failure = Some(failure);
                break;
            }
        }
    }
    story
}

/// Whether the disk holds the acknowledged or the attempted table, and can be written to.
fn is_sound(disk: Ram, story: &Story) -> bool {
    let disk = Arc::new(disk);
    for hold in HOLDS {
        let rows = match FingerprintStore::open(disk.clone(), folder(), hold, true) {
            Ok(store) => store.rows().ok(),
            // Before the first commit there is no table.
            Err(Error::Io { .. }) if story.acknowledged.is_none() => continue,
            Err(_) => return false,
        };
        if rows.is_none() || (rows != story.acknowledged && rows.as_ref() != Some(&story.attempted)) {
            return false;
        }
        let named = disk.files().len();
        let mut store = FingerprintStore::open(disk.clone(), folder(), hold, true).expect("just opened");
        let one_more = store.insert(&[(!0, 77)]).and_then(|_| store.commit()).and_then(|()| store.remove(&[(!0, 77)]));
        if one_more.is_err() || store.commit().is_err() || check(disk.clone(), folder()).is_err() {
            return false;
        }
        // Files left by the crash are removed.
        assert_eq!(disk.files().len(), named);
    }
    true
}

#[test]
fn whichever_call_fails_the_table_is_as_before_or_after() {
    let whole = Arc::new(Ram::default());
    assert!(tell(&whole).failure.is_none());
    for at in 0..whole.calls() {
        let disk = Arc::new(Ram::full_from(at));
        let story = tell(&disk);
        match &story.failure {
            // Only calls that unlink may fail without an error.
            None => assert_eq!(story.acknowledged, tell(&Arc::default()).acknowledged),
            Some(error) => assert!(matches!(error, Error::Io { .. }), "call {at} fails as {error}"),
        }
        assert!(is_sound(disk.copy(), &story), "call {at} fails, the program ends");
        for seed in 0..6 {
            assert!(is_sound(disk.after_power_loss(seed), &story), "call {at} fails, then the power, seed {seed}");
        }
    }
}

#[test]
fn a_disk_that_lies_is_found_out() {
    // The test must detect a disk that does not sync bytes before names.
    let disk = Arc::new(Ram::forgetting());
    let story = tell(&disk);
    assert!((0..6).any(|seed| !is_sound(disk.after_power_loss(seed), &story)));
}

#[test]
fn after_a_failed_commit_nothing_is_written() {
    let calls = {
        let disk = Arc::new(Ram::default());
        let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
        store.insert(&near_rows(1, 300)).expect("inserted");
        store.save(disk.clone(), folder()).expect("saved");
        let saved = disk.calls();
        store.insert(&near_rows(2, 300)).expect("inserted");
        store.commit().expect("committed");
        // The first call of the second commit that writes.
        saved + disk.trace()[saved..].iter().position(|call| *call == "write").expect("a commit writes")
    };
    let disk = Arc::new(Ram::full_from(calls));
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    store.insert(&near_rows(1, 300)).expect("inserted");
    store.save(disk.clone(), folder()).expect("saved");
    store.insert(&near_rows(2, 300)).expect("inserted");
    assert!(matches!(store.commit(), Err(Error::Io { needed, .. }) if needed > 0));
    let calls = disk.calls();
    assert!(matches!(store.commit(), Err(Error::Refused { .. })));
    assert!(matches!(store.insert(&[(1, 1)]), Err(Error::Refused { .. })));
    assert_eq!(disk.calls(), calls);
    let reopened = FingerprintStore::open(Arc::new(disk.copy()), folder(), HOLDS[0], false).expect("opened");
    assert_eq!(answers_as(&reopened, &near_rows(1, 300)), Some(true));
}

#[test]
fn a_save_that_fails_leaves_a_table_in_memory() {
    let disk = Arc::new(Ram::full_from(2));
    let mut store = FingerprintStore::new(PLAN, Hold::Plain).expect("a plan");
    store.insert(&near_rows(1, 300)).expect("inserted");
    assert!(store.save(disk, folder()).is_err());
    assert_eq!(store.insert(&near_rows(1, 300)).expect("inserted"), 0);
    store.save(Arc::new(Ram::default()), folder()).expect("saved elsewhere");
}
