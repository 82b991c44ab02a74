//! The tables of a segment: their names, columns and the numbers of the columns. FORMAT.md describes them.
//!
//! A table without rows is left out. Every table that is searched by a key has the row of the document as its first column, so that
//! segments merge by key and by order of arrival (`compaction.rs`).

use lookalike_table::{ColumnType, Schema};

/// The version of the tables.
const VERSION: u32 = 1;
/// The version of `postings`.
const VERSION_OF_POSTINGS: u32 = 2;

/// Row → compressed text.
pub const TEXTS: &str = "texts";
/// Row → what is known of the document.
pub const DOCUMENTS: &str = "documents";
/// Row → tokens of code.
pub const TOKENS: &str = "tokens";
/// Row → elements of the sketch.
pub const SKETCHES: &str = "sketches";
/// Row → simhash.
pub const SIMHASHES: &str = "simhashes";
/// XXH3-64 of the id → row.
pub const IDS: &str = "ids";
/// Upper half of the content hash → row, lower half.
pub const CONTENTS: &str = "contents";
/// Identity of a k-gram → row.
pub const POSTINGS: &str = "postings";
/// Hash of a string literal → row.
pub const LITERALS: &str = "literals";
/// Key of the filter → row.
pub const FEATURES: &str = "features";
/// Id of a shingle → row.
pub const SAMPLES: &str = "samples";
/// 0 → parameters of the index.
pub const PARAMETERS: &str = "parameters";

/// Tables with one row per document or none, in order of rows.
pub const BY_ROW: [&str; 5] = [TEXTS, DOCUMENTS, TOKENS, SKETCHES, SIMHASHES];
/// Tables that are searched by a key.
pub const BY_KEY: [&str; 6] = [IDS, CONTENTS, POSTINGS, LITERALS, FEATURES, SAMPLES];

/// The most columns of a table.
pub const MOST_COLUMNS: usize = 11;

/// Columns of `documents`.
pub mod document {
    #![allow(missing_docs)]
    pub const ID: usize = 0;
    pub const META: usize = 1;
    pub const SUBMITTER: usize = 2;
    pub const KNOWN_AS: usize = 3;
    pub const TIME: usize = 4;
    pub const FLAGS: usize = 5;
    pub const CONTENT: usize = 6;
    pub const SHINGLES: usize = 7;
    pub const LENGTH: usize = 8;
    pub const BYTES: usize = 9;
    pub const LEADER: usize = 10;
}

/// The schema of a table.
pub fn schema(name: &str) -> Schema {
    use ColumnType::{Bytes, Fixed, U32, U64};
    let columns: &[(&str, ColumnType)] = match name {
        DOCUMENTS => &[
            ("id", Bytes),
            ("meta", Bytes),
            ("submitter", U64),
            ("known_as", U64),
            ("time", U64),
            ("flags", U32),
            ("content", Fixed(16)),
            ("shingles", U32),
            ("length", U32),
            ("bytes", U64),
            ("leader", Bytes),
        ],
        SIMHASHES => &[("simhash", U64)],
        CONTENTS => &[("row", U32), ("lower", U64)],
        IDS | POSTINGS | LITERALS | FEATURES | SAMPLES => &[("row", U32)],
        _ => &[("bytes", Bytes)],
    };
    let version = if name == POSTINGS { VERSION_OF_POSTINGS } else { VERSION };
    Schema { version, ..Schema::new(name, columns) }
}

/// Whether a table may have a key of a document several times, as postings had in version 1: once for each place.
pub fn may_repeat(found: &Schema) -> bool {
    found.name == POSTINGS && found.version == VERSION
}

/// The schema of a table in the version before, if there was one.
pub fn earlier(name: &str) -> Option<Schema> {
    let columns = [("row", ColumnType::U32), ("token", ColumnType::U32), ("run", ColumnType::Sparse)];
    (name == POSTINGS).then(|| Schema { version: VERSION, ..Schema::new(name, &columns) })
}
