//! Tests of records, segments, merges and snapshots against plain lists of documents.

mod records;
