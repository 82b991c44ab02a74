//! Segments of earlier versions of a table: asked, merged with newer ones, read again and repaired like these.

use super::documents::{many, normal};
use super::naive::{assert_matches, Naive};
use super::{mix64, on_disk, path, shared, write};
use crate::segment::tables;
use crate::{merge, Document, Part, Segment, Snapshot};
use lookalike_table::ram::Ram;
use lookalike_table::{Cell, Writer};
use std::sync::Arc;

/// The segment of some documents with the postings of version 1: each key once for each place where it stands.
fn with_places(documents: &[Document]) -> Arc<Segment> {
    let newest = Segment::of_documents(documents, b"parameters").expect("made");
    let bytes = Writer::in_memory(|writer| {
        let names = [&tables::BY_ROW[..], &tables::BY_KEY, &[tables::PARAMETERS]].concat();
        for name in names {
            let Some(table) = newest.table(name)? else { continue };
            let earlier = tables::earlier(name);
            writer.begin(earlier.clone().unwrap_or_else(|| tables::schema(name)))?;
            let mut scan = table.scan();
            while let Some(row) = scan.next_row()? {
                if earlier.is_none() {
                    writer.push_row(&row)?;
                    continue;
                }
                let holder = row.number(0).expect("a document");
                for place in 0..1 + mix64(row.key() ^ holder << 32) % 3 {
                    writer.push(row.key(), &[holder, place * 7, place % 2].map(Cell::Number))?;
                }
            }
        }
        Ok(())
    });
    Arc::new(Segment::of(path(), bytes.expect("written")).expect("sound"))
}

#[test]
fn postings_with_places_are_asked_like_those_without() {
    let documents = many(60, 5);
    let segment = with_places(&documents);
    assert!(segment.keys(crate::Which::Postings) > on_disk(&documents, 0).keys(crate::Which::Postings));
    segment.verify().expect("sound");
    let live = documents.iter().map(|one| (one.clone(), true)).collect();
    assert_matches(&Snapshot::new(vec![Part::of(segment)]).expect("made"), &Naive(live));
}

#[test]
fn postings_with_places_are_merged_into_those_without() {
    let documents = many(90, 6);
    let (old, new) = documents.split_at(50);
    for parts in [[with_places(old), on_disk(new, 0)], [with_places(old), with_places(new)]] {
        let disk = Ram::default();
        let parts: Vec<_> = parts.into_iter().map(|segment| (segment, None)).collect();
        let written = merge(&shared(&disk), &parts, path(), b"parameters").expect("merged");
        assert_eq!(written, write(&Ram::default(), path(), &documents, 1 << 20).expect("written"));
    }
}

#[test]
fn documents_with_places_are_read_again_without_them() {
    let documents = many(40, 7);
    let segment = with_places(&documents);
    let expected: Vec<Document> = documents.iter().map(normal).collect();
    assert_eq!(segment.documents(0..40).expect("sound"), expected);
    let (mut records, mut salvage) = (segment.read_all(None).expect("sound"), segment.salvage(None).expect("sound"));
    for one in &expected {
        assert_eq!(records.next_document().expect("sound").as_ref(), Some(one));
        assert_eq!(&salvage.next_document().expect("sound").expect("one").expect("whole").document, one);
    }
}
