//! Snapshots of any segments, removals and merges against a plain list of documents.

use super::documents::{any_document, many, normal};
use super::naive::{assert_matches, Naive};
use super::{fixed, on_disk, path, removed, shared};
use crate::{merge, Document, Error, Part, Segment, Snapshot, Which};
use lookalike_table::ram::Ram;
use proptest::prelude::*;
use std::sync::Arc;

/// The documents of a segment, and whether each is live.
type Rows = Vec<(Document, bool)>;

/// A segment and its documents.
#[derive(Clone, Debug)]
struct Known {
    segment: Arc<Segment>,
    rows: Rows,
}

fn known(rows: &Rows, memory: Option<usize>) -> Known {
    let documents: Vec<Document> = rows.iter().map(|(document, _)| document.clone()).collect();
    let segment = match memory {
        Some(memory) => on_disk(&documents, memory),
        None => Arc::new(Segment::of_documents(&documents, b"parameters").expect("made")),
    };
    Known { segment, rows: rows.clone() }
}

fn assert_sound(parts: &[Known]) {
    let part = |known: &Known| Part::without(known.segment.clone(), removed(&known.rows)).expect("as many rows");
    let snapshot = Snapshot::new(parts.iter().map(part).collect()).expect("few documents");
    let naive = Naive(parts.iter().flat_map(|known| known.rows.clone()).collect());
    assert_matches(&snapshot, &naive);
    for known in parts {
        known.segment.verify().expect("sound");
        let documents: Vec<Document> = known.rows.iter().map(|(document, _)| normal(document)).collect();
        assert_eq!(known.segment.documents(0..documents.len() as u64).expect("read"), documents);
        for place in [None, Some((shared(&Ram::default()), 100, path().to_owned()))] {
            let mut records = known.segment.read_all(place).expect("read");
            let mut read = Vec::new();
            while let Some(document) = records.next_document().expect("read") {
                read.push(document);
            }
            assert_eq!(read, documents);
        }
    }
}

/// Merges neighbours; what is left is those that are live.
fn merged(parts: &[Known]) -> Known {
    let disk = Ram::default();
    let maps: Vec<_> = parts.iter().map(|known| removed(&known.rows)).collect();
    let given: Vec<_> = parts.iter().zip(&maps).map(|(known, map)| (known.segment.clone(), Some(map))).collect();
    let written = merge(&shared(&disk), &given, path(), b"parameters").expect("merged");
    let segment = Arc::new(Segment::open(&disk, path()).expect("sound"));
    let rows: Rows = parts.iter().flat_map(|known| known.rows.clone()).filter(|(_, is_live)| *is_live).collect();
    assert_eq!((written.rows, written.length, written.seal), (rows.len() as u64, segment.length(), segment.seal()));
    assert_eq!(segment.seal(), known(&rows, Some(1 << 20)).segment.seal(), "the same as if it was written at once");
    assert_eq!(disk.files().len(), 1, "temporary files are removed");
    Known { segment, rows }
}

fn segments() -> impl Strategy<Value = Vec<(Rows, Option<usize>)>> {
    let rows = prop::collection::vec((any_document(), prop::bool::weighted(0.7)), 0..7);
    let memory = prop::option::of(prop_oneof![Just(0usize), Just(2000), Just(1 << 20)]);
    prop::collection::vec((rows, memory), 0..6)
}

proptest! {
    #![proptest_config(fixed(150))]
    #[test]
    fn answers_are_those_of_a_list_at_any_time(
        segments in segments(),
        merges in prop::collection::vec((0usize..6, 1usize..4), 0..4),
        more in prop::collection::vec((0usize..6, 0usize..7), 0..4),
    ) {
        let mut parts: Vec<Known> = segments.iter().map(|(rows, memory)| known(rows, *memory)).collect();
        assert_sound(&parts);
        for ((first, count), (part, row)) in merges.into_iter().zip(more.into_iter().chain([(0, 0); 4])) {
            let (first, end) = (first.min(parts.len()), (first + count).min(parts.len()));
            let new = merged(&parts[first..end]);
            parts.splice(first..end, [new]);
            if let Some(row) = parts.get_mut(part).and_then(|known| known.rows.get_mut(row)) {
                row.1 = false;
            }
            assert_sound(&parts);
        }
    }
}

#[test]
fn many_holders_of_one_key_span_pages() {
    let document = |i: u64| Document { features: vec![5, i], samples: vec![9], ..Document::default() };
    let documents: Vec<Document> = (0..9000).map(document).collect();
    let rows = |step: usize| documents.iter().cloned().enumerate().map(move |(i, one)| (one, i % step != 1)).collect();
    let parts: Vec<Known> = [1, 3, 10_000].map(|step| known(&rows(step), None)).to_vec();
    let part = |known: &Known| Part::without(known.segment.clone(), removed(&known.rows)).expect("as many rows");
    let snapshot = Snapshot::new(parts.iter().map(part).collect()).expect("few documents");
    let live: Vec<u64> = parts
        .iter()
        .flat_map(|known| known.rows.iter().map(|row| row.1))
        .enumerate()
        .filter(|(_, is_live)| *is_live)
        .map(|(number, _)| number as u64)
        .collect();
    let mut found = Vec::new();
    snapshot.holders(Which::Samples, &[9], |_, number| found.push(number)).expect("found");
    assert!(found == live);
    for (first, last) in [(32, 32), (20_000, 9_100), (9_001, 9_001), (0, 1)] {
        let mut out = Vec::new();
        assert_eq!(
            snapshot.first_and_last(Which::Samples, 9, first, last, &mut out).expect("found"),
            live.len() as u64
        );
        let after = live.len().saturating_sub(last).max(first.min(live.len()));
        let expected = [&live[..first.min(live.len())], &live[after..]].concat();
        assert!(out == expected, "{first} {last}");
    }
}

#[test]
fn questions_that_cannot_be_answered_are_refused() {
    let segment = Arc::new(Segment::of_documents(&many(9, 1), b"").expect("made"));
    let snapshot = Snapshot::new(vec![Part::of(segment.clone())]).expect("made");
    let refused = |found: Result<(), Error>| matches!(found, Err(Error::Refused { .. }));
    assert!(refused(snapshot.holders(Which::Features, &[2, 1], |_, _| {})));
    assert!(refused(snapshot.row(9).map(drop)) && refused(snapshot.text(9).map(drop)));
    assert!(refused(segment.row(9).map(drop)) && refused(segment.documents(3..10).map(drop)));
    let map = crate::Bitmap::of_rows(8, []).expect("empty");
    assert!(Part::without(segment, map).is_err());
}
