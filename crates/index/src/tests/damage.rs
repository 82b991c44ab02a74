//! Flipped, cut and forged segments give an error or the right answer; a segment whose tables disagree fails its check.

use super::asking::{ask, read_record};
use super::documents::{any_document, many, normal};
use super::{fixed, path, write};
use crate::record::Document;
use crate::segment::tables;
use crate::{Error, Segment};
use lookalike_table::ram::Ram;
use lookalike_table::{Cell, Writer};
use proptest::prelude::*;

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

/// A row of a table: its key, and its values.
type Given<'a> = (u64, Vec<Cell<'a>>);

/// A segment of two documents, with some tables replaced; a table without rows is left out.
fn forged(changes: &[(&str, Vec<Given<'_>>)]) -> Vec<u8> {
    let document = |id: &str, content: u64| Document {
        id: id.into(),
        content: u128::from(content) << 64 | 5,
        postings: vec![crate::Posting { key: 3, token: 1, last: 2 }],
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
        (POSTINGS, vec![(3, number(&[0, u64::from(u32::MAX), 1]))]),
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
