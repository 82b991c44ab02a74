//! Asks forged segments and records everything: they may answer anything, but nothing panics and nothing is endless. The fuzz target uses
//! it too.

use lookalike_index::{Document, Part, Result, Segment, Snapshot, Which};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Documents of a forged segment that are read.
const MOST: u64 = 50;

/// Opens the bytes of a segment and asks everything. What it tells of documents lies within them.
pub fn ask(bytes: Vec<u8>) -> Result<()> {
    let segment = Arc::new(Segment::of(Path::new("segment"), bytes)?);
    let verified = segment.verify();
    let answered = answer(&segment);
    // A segment that passes its check can be asked everything.
    assert!(verified.is_err() || answered.is_ok(), "{answered:?}");
    verified.and(answered)
}

fn answer(segment: &Arc<Segment>) -> Result<()> {
    let snapshot = Snapshot::new(vec![Part::of(segment.clone())])?;
    let (rows, keys) = (segment.rows(), [0, 1, 2, 3, 40, u64::MAX]);
    for which in Which::ALL {
        snapshot.holders(which, &keys, |_, number| assert!(number < rows))?;
        let mut out = Vec::new();
        let all = snapshot.first_and_last(which, 1, 2, 2, &mut out)?;
        assert!(out.len() <= 4 && out.len() as u64 <= all);
    }
    assert!(snapshot.simhashes()?.all(|(number, _)| number < rows));
    snapshot.submitters()?;
    for number in 0..rows.min(MOST) {
        let row = snapshot.row(number)?;
        snapshot.find_id(&row.id)?;
        snapshot.find_content(row.content)?;
        snapshot.sketch(number)?;
        snapshot.tokens(number)?;
        snapshot.text(number)?;
    }
    let mut records = segment.read_all(None)?;
    while records.next_document()?.is_some() {}
    segment.documents(0..rows.min(MOST)).map(drop)
}

/// Reads the bytes of a record, with the right checksum. One that can be read is the record of its document, or of an earlier version; the
/// document can be stored.
pub fn read_record(bytes: &[u8]) {
    let _ = Document::decode(bytes);
    let body = &bytes[..bytes.len().saturating_sub(8)];
    let forged = [body, &xxh3_64(body).to_le_bytes()].concat();
    let Ok(document) = Document::decode(&forged) else { return };
    let record = document.encode();
    let again = if forged[0] == record[0] { forged } else { Document::decode(&record).expect("sound").encode() };
    assert!(record == again, "a document has one record of the version that is written");
    if let Ok(segment) = Segment::of_documents(&[document], b"") {
        segment.verify().expect("what was written is sound");
    }
}
