//! Segments on a disk that fails at every call, and after power failures: an error or a complete segment, and nothing in between.

use super::documents::{many, normal};
use super::{on_disk, path, shared, write};
use crate::{merge, Bitmap, Document, Error, Result, Segment, Written};
use lookalike_table::disk::Disk;
use lookalike_table::ram::{Fault, Ram};
use std::io::ErrorKind;
use std::sync::Arc;

/// Whether what a disk holds under the name of the segment is complete, or there is nothing where that is possible.
fn is_sound(disk: &Ram, documents: &[Document], must_exist: bool) -> bool {
    if !disk.files().contains_key(path()) {
        return !must_exist;
    }
    let read = |segment: Segment| segment.verify().and_then(|()| segment.documents(0..segment.rows()));
    Segment::open(disk, path()).and_then(read).is_ok_and(|found| found == documents)
}

/// Lets every call of some work fail, once and for good.
fn sweep(documents: &[Document], work: impl Fn(&Ram) -> Result<Written>) {
    let documents: Vec<Document> = documents.iter().map(normal).collect();
    let whole = Ram::default();
    work(&whole).expect("sound disk");
    assert!(is_sound(&whole.copy(), &documents, true) && whole.files().len() == 1);
    assert!((0..8).all(|seed| is_sound(&whole.after_power_loss(seed), &documents, true)), "what was finished stays");
    for (at, call) in whole.trace().into_iter().enumerate() {
        for (kind, is_lasting) in [(ErrorKind::StorageFull, true), (ErrorKind::Other, false)] {
            let disk = Ram::failing(Fault { at, kind, is_lasting });
            match work(&disk) {
                // Only the removal of a temporary file may fail unnoticed.
                Ok(_) => assert!(call == "remove" && is_sound(&disk.copy(), &documents, true), "call {at}"),
                Err(error) => {
                    assert!(matches!(&error, Error::Io { error, .. } if error.kind() == kind), "call {at}: {error}");
                }
            }
            assert!(is_sound(&disk.copy(), &documents, false), "call {at} fails");
            let left = disk.files().into_keys().filter(|left| left != path()).collect::<Vec<_>>();
            assert!(is_lasting || call == "remove" || left.is_empty(), "call {at} leaves {left:?}");
            for seed in 0..6 {
                assert!(is_sound(&disk.after_power_loss(seed), &documents, false), "call {at}, then the power, {seed}");
            }
        }
    }
}

#[test]
fn a_segment_on_a_failing_disk_is_complete_or_an_error() {
    for (memory, count) in [(0, 2), (4000, 12), (1 << 20, 24)] {
        let documents = many(count, 4);
        sweep(&documents, |disk| write(disk, path(), &documents, memory));
    }
}

#[test]
fn a_merge_on_a_failing_disk_is_complete_or_an_error() {
    let documents = many(30, 5);
    let segments: Vec<_> = documents.chunks(10).map(|some| on_disk(some, 0)).collect();
    let gone = Bitmap::of_rows(10, [0, 4, 9]).expect("ten rows");
    let parts: Vec<_> = segments.iter().map(|segment| (segment.clone(), Some(&gone))).collect();
    let left: Vec<Document> =
        documents.into_iter().enumerate().filter(|(i, _)| ![0, 4, 9].contains(&(i % 10))).map(|(_, one)| one).collect();
    sweep(&left, |disk| merge(&shared(disk), &parts, path(), b"parameters"));
}

#[test]
fn a_merge_in_groups_on_a_failing_disk_is_complete_or_an_error() {
    let documents = many(70, 6);
    let parts: Vec<_> = documents.chunks(1).map(|one| (on_disk(one, 0), None)).collect();
    sweep(&documents, |disk| merge(&shared(disk), &parts, path(), b"parameters"));
}

#[test]
fn reading_on_a_failing_disk_is_an_error() {
    let disk = Ram::default();
    write(&disk, path(), &many(5, 7), 0).expect("written");
    let calls = disk.calls();
    Segment::open(&disk, path()).expect("sound");
    for at in 0..disk.calls() - calls {
        let failing = disk.copy().that_fails(Fault { at, kind: ErrorKind::Other, is_lasting: false });
        assert!(matches!(Segment::open(&failing, path()), Err(Error::Io { .. })), "call {at}");
    }
    let missing: Arc<dyn Disk> = Arc::new(Ram::default());
    assert!(matches!(Segment::open(&*missing, path()), Err(Error::Io { .. })));
}
