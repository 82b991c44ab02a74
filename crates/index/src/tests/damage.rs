//! Flipped, cut and forged segments give an error or the right answer; a segment whose tables disagree fails its check.

use super::asking::{ask, read_record};
use super::documents::{any_document, many, normal};
use super::{fixed, path, write};
use crate::record::Document;
use crate::segment::tables;
use crate::{Error, Salvaged, Segment};
use lookalike_table::ram::Ram;
use lookalike_table::{Cell, Writer};
use proptest::prelude::*;
use std::sync::Arc;

// The forger of files of tables, and the questions to forged segments, are shared with the fuzz targets.
#[path = "../../../table/src/tests/forge.rs"]
mod forge;

fn bytes_of(documents: &[Document]) -> Vec<u8> {
    let disk = Ram::default();
    write(&disk, path(), documents, 1 << 20).expect("written");
    disk.files()[path()].clone()
}

#[test]
fn every_flipped_byte_and_every_cut_is_noticed() {
    let documents: Vec<Document> = many(9, 8).iter().map(normal).collect();
    let bytes = bytes_of(&documents);
    let read = |bytes: Vec<u8>| Segment::of(path(), bytes).and_then(|one| one.documents(0..9));
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(Segment::of(path(), flipped.clone()).and_then(|one| one.verify()).is_err(), "byte {at}");
        match read(flipped) {
            Ok(found) => assert_eq!(found, documents, "byte {at}"),
            Err(error) => assert!(matches!(error, Error::Damaged { .. } | Error::Version { .. }), "byte {at}: {error}"),
        }
    }
    for length in (0..bytes.len()).step_by(7) {
        assert!(read(bytes[..length].to_vec()).is_err(), "cut to {length}");
    }
}

/// The inputs the fuzzer starts from; records and segments of all versions are among them.
#[test]
fn seeds_of_the_fuzzer_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/segment");
    let (mut records, mut segments) = (0, 0);
    for seed in std::fs::read_dir(folder).expect("the fuzzer has seeds") {
        let bytes = std::fs::read(seed.expect("listed").path()).expect("readable");
        read_record(&bytes);
        records += usize::from(Document::decode(&bytes).is_ok());
        segments += usize::from(ask(bytes).is_ok());
    }
    assert!(records >= 2 && segments >= 3, "{records} records, {segments} segments");
}

/// What is left of each document of a damaged file; nothing if it cannot be opened.
fn salvaged(bytes: Vec<u8>) -> Option<(Vec<Option<Salvaged>>, u64)> {
    let disk = Ram::with([(path().to_owned(), bytes)].into());
    let segment = Arc::new(Segment::open_damaged(&disk, path()).ok()?);
    let mut salvage = segment.salvage(None).expect("nothing is written");
    let missing = salvage.missing();
    let mut found = Vec::new();
    while let Some(one) = salvage.next_document().expect("nothing beside it is read") {
        found.push(one.ok());
    }
    Some((found, missing))
}

/// The bytes of a table in a file: tables stand in order behind the header.
fn place_of(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let segment = Segment::of(path(), bytes.to_vec()).expect("sound");
    let sizes = segment.sizes().expect("sound");
    let before: u64 = sizes.iter().take_while(|(other, ..)| other != name).map(|(.., size)| size).sum();
    let (.., size) = sizes.iter().find(|(other, ..)| other == name).expect("there is such a table");
    16 + before as usize..16 + (before + size) as usize
}

#[test]
fn a_sound_segment_is_salvaged_whole() {
    let documents: Vec<Document> = many(40, 8).iter().map(normal).collect();
    let (found, missing) = salvaged(bytes_of(&documents)).expect("opened");
    let whole = |document: &Document| Some(Salvaged { document: document.clone(), is_whole: true });
    assert_eq!((found, missing), (documents.iter().map(whole).collect(), 0));
}

#[test]
fn a_flipped_byte_costs_no_document_but_those_of_its_page() {
    let documents: Vec<Document> = many(9, 8).iter().map(normal).collect();
    let bytes = bytes_of(&documents);
    let by_row = [tables::DOCUMENTS, tables::TEXTS].map(|name| place_of(&bytes, name));
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let Some((found, missing)) = salvaged(flipped) else { continue };
        assert_eq!(found.len(), 9);
        let is_of_row = by_row.iter().any(|place| place.contains(&at));
        for (one, right) in found.iter().zip(&documents) {
            let Some(one) = one else {
                assert!(is_of_row, "byte {at} is not of documents or texts, and a document is lost");
                continue;
            };
            let Document { id, content, text, .. } = &one.document;
            assert_eq!((id, content, text), (&right.id, &right.content, &right.text), "byte {at}");
            assert!(one.document == *right || !one.is_whole, "byte {at}: something is missing and is not told");
            assert!(missing == 0 || !one.is_whole, "byte {at}");
        }
    }
}

#[test]
fn a_bad_page_of_keys_costs_its_keys_only() {
    // Enough keys for several pages.
    let key = |at: u64| super::mix64(at);
    let document = |number: u64| Document {
        id: number.to_string().into_bytes(),
        content: u128::from(key(number)) << 64,
        features: {
            let mut keys: Vec<u64> = (0..30).map(|at| key(number * 30 + at)).collect();
            keys.sort_unstable();
            keys
        },
        text: vec![number as u8; 40],
        ..Document::default()
    };
    let documents: Vec<Document> = (0..2000).map(document).collect();
    let mut bytes = bytes_of(&documents);
    let place = place_of(&bytes, tables::FEATURES);
    bytes[place.start + place.len() / 2] ^= 1;
    let (found, missing) = salvaged(bytes).expect("opened");
    let left: usize = found.iter().flatten().map(|one| one.document.features.len()).sum();
    assert_eq!(found.iter().flatten().count(), 2000);
    assert_eq!(left as u64 + missing, 60_000);
    assert!(0 < missing && missing < 20_000, "{missing} keys on one page");
    let is_part =
        |(one, right): (&Salvaged, &Document)| one.document.features.iter().all(|key| right.features.contains(key));
    assert!(found.iter().flatten().zip(&documents).all(is_part));
}

/// A row of a table: its key, and its values.
type Given<'a> = (u64, Vec<Cell<'a>>);

/// A segment of two documents, with some tables replaced; a table without rows is left out.
fn forged(changes: &[(&str, Vec<Given<'_>>)]) -> Vec<u8> {
    let document = |id: &str, content: u64| Document {
        id: id.into(),
        content: u128::from(content) << 64 | 5,
        postings: vec![3],
        features: vec![4, 5],
        sketch: vec![6],
        simhash: Some(7),
        text: vec![8],
        ..Document::default()
    };
    let whole = Segment::of_documents(&[document("a", 1), document("b", 2)], b"parameters").expect("made");
    let names = [&tables::BY_ROW[..], &tables::BY_KEY, &[tables::PARAMETERS]].concat();
    let made = Writer::in_memory(|writer| {
        for name in names {
            let given = changes.iter().find(|(changed, _)| *changed == name).map(|(_, rows)| rows);
            if given.is_some_and(Vec::is_empty) || given.is_none() && whole.table(name)?.is_none() {
                continue;
            }
            writer.begin(tables::schema(name))?;
            if let Some(rows) = given {
                rows.iter().try_for_each(|(key, cells)| writer.push(*key, cells))?;
                continue;
            }
            let mut scan = whole.file().table(name)?.scan();
            while let Some(row) = scan.next_row()? {
                writer.push_row(&row)?;
            }
        }
        Ok(())
    });
    made.expect("written")
}

#[test]
fn tables_that_disagree_are_found() {
    use tables::{CONTENTS, DOCUMENTS, FEATURES, IDS, POSTINGS, SIMHASHES, SKETCHES, TEXTS};
    Segment::of(path(), forged(&[])).and_then(|one| one.verify()).expect("nothing is changed");
    let number = |numbers: &[u64]| numbers.iter().map(|number| Cell::Number(*number)).collect::<Vec<_>>();
    let hash = |id: &[u8]| xxhash_rust::xxh3::xxh3_64(id);
    let mut ids = [(hash(b"a"), number(&[0])), (hash(b"b"), number(&[1]))];
    ids.sort_by_key(|row| row.0);
    let swapped: Vec<_> =
        ids.iter().map(|(key, row)| (*key, number(&[u64::from(row[0] == Cell::Number(0))]))).collect();
    let text = |row: u64| (row, vec![Cell::Bytes(b"x")]);
    let cases: [(&str, Vec<Given<'_>>); 16] = [
        (IDS, swapped),
        (IDS, ids[..1].to_vec()),
        (IDS, [&ids[..], &[(u64::MAX, number(&[1]))]].concat()),
        (IDS, vec![]),
        (CONTENTS, vec![(1, number(&[0, 5])), (2, number(&[1, 6]))]),
        (CONTENTS, vec![(1, number(&[1, 5])), (2, number(&[0, 5]))]),
        (CONTENTS, vec![]),
        (DOCUMENTS, vec![]),
        (TEXTS, vec![text(0), text(0)]),
        (TEXTS, vec![text(2)]),
        (SKETCHES, vec![(0, vec![Cell::Bytes(b"abc")])]),
        (SIMHASHES, vec![(u64::MAX, number(&[1]))]),
        (SIMHASHES, vec![(1 << 32, number(&[1]))]),
        (FEATURES, vec![(4, number(&[0])), (4, number(&[0]))]),
        (FEATURES, vec![(4, number(&[2]))]),
        (POSTINGS, vec![(3, number(&[0])), (3, number(&[0]))]),
    ];
    for (name, rows) in cases {
        let what = format!("{name}: {rows:?}");
        let bytes = forged(&[(name, rows)]);
        assert!(Segment::of(path(), bytes.clone()).and_then(|one| one.verify()).is_err(), "{what}");
        let _ = ask(bytes);
    }
}

#[test]
fn a_file_of_other_tables_is_no_segment() {
    let other = Writer::in_memory(|writer| writer.begin(lookalike_table::Schema::new("rows", &[])));
    assert!(matches!(Segment::of(path(), other.expect("made")), Err(Error::Damaged { .. })));
    let mut schema = tables::schema(tables::PARAMETERS);
    schema.version += 1;
    let newer = Writer::in_memory(|writer| {
        writer.begin(schema)?;
        writer.push(0, &[Cell::Bytes(b"")])
    });
    assert!(matches!(Segment::of(path(), newer.expect("made")), Err(Error::Version { .. })));
}

proptest! {
    #![proptest_config(fixed(1500))]
    #[test]
    fn a_forged_segment_does_no_harm(
        documents in prop::collection::vec(any_document(), 0..4),
        hits in prop::collection::vec((any::<u32>(), prop_oneof![any::<u8>(), Just(0), Just(255)]), 0..6),
    ) {
        let mut bytes = bytes_of(&documents);
        for (at, byte) in hits {
            let at = at as usize % bytes.len();
            bytes[at] = byte;
        }
        forge::reseal(&mut bytes);
        forge::read_all(&bytes);
        let _ = ask(bytes);
    }

    #[test]
    fn a_forged_record_does_no_harm(
        document in any_document(),
        hits in prop::collection::vec((any::<u32>(), prop_oneof![any::<u8>(), Just(0), Just(255)]), 0..6),
    ) {
        let mut bytes = document.encode();
        for (at, byte) in hits {
            let at = at as usize % bytes.len();
            bytes[at] = byte;
        }
        read_record(&bytes);
    }
}
