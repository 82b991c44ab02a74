//! Bytes of segments on disk.

use super::{mix64, on_disk};
use crate::record::Document;

/// Bytes of a segment of documents made by a function, with and without what the function is told to add; per document.
fn added(count: u64, make: impl Fn(u64, bool) -> Document) -> f64 {
    let length = |has: bool| {
        let documents: Vec<Document> = (0..count).map(|number| make(number, has)).collect();
        on_disk(&documents, 1 << 30).length() as f64
    };
    (length(true) - length(false)) / count as f64
}

#[test]
fn a_posting_costs_little_more_than_the_bits_that_tell_it_apart() {
    let make = |number: u64, has: bool| {
        let postings = (0..10).map(|i| mix64(number << 8 | i)).collect();
        Document { postings: if has { postings } else { vec![] }, ..Document::default() }
    };
    // Of 200,000 random keys in order, each needs 64 - 17.6 + 1.5 bits, and the document 14.3.
    let per_posting = added(20_000, make) / 10.0;
    assert!((7.7..8.5).contains(&per_posting), "{per_posting} bytes");
}

#[test]
fn sketches_and_simhashes_cost_little_more_than_themselves() {
    let sketch = |number: u64| (0..128).map(|i| mix64(number << 8 | i) as u32).collect();
    let make = |number, has| Document { sketch: if has { sketch(number) } else { vec![] }, ..Document::default() };
    let bytes = added(4_000, make);
    assert!((512.0..520.0).contains(&bytes), "{bytes}");
    let make = |number, has: bool| Document { simhash: has.then(|| mix64(number)), ..Document::default() };
    let bytes = added(20_000, make);
    assert!((8.0..15.0).contains(&bytes), "{bytes}");
}
