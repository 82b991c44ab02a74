//! Reads any bytes as lines of JSON and as a stored sketch.
//!
//! It never panics, lines do not depend on chunks, and a sketch that opens is stored as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_core::sketch::sketching::Sketch;
use lookalike_dedup::line_cutter::{JoinedLine, LineJoiner};
use lookalike_dedup::line_filter::LineFilter;
use lookalike_dedup::record::{read, RecordColumns};

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    if let Ok(sketch) = Sketch::from_bytes(bytes) {
        assert_eq!(sketch.to_bytes(), bytes);
    }
    let columns = RecordColumns { text: "text".to_owned(), number: Some("n".to_owned()), name: Some("id".to_owned()) };
    let mut buffer = String::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        read(line, &columns, &mut buffer);
    }
    let size = usize::from(cut) + 1;
    let (mut joiner, mut rows) = (LineJoiner::new(usize::MAX), 0);
    let (mut filter, mut kept, mut removed) = (LineFilter::default(), Vec::new(), Vec::new());
    let chunks = bytes.chunks(size).map(|chunk| (chunk, false)).chain([(&[][..], true)]);
    for (chunk, is_last) in chunks {
        let whole = joiner.push(chunk, is_last);
        assert!(!matches!(whole.first, Some(JoinedLine::TooLong)));
        rows += usize::from(whole.first.is_some()) + usize::from(whole.last.is_some());
        rows += whole.rest.iter().filter(|byte| **byte == b'\n').count();
        filter.push(chunk, is_last, &[1, 0, 1, 0], &mut kept, &mut removed);
    }
    assert_eq!(rows as u64, filter.rows());
    assert_eq!(kept.len() + removed.iter().map(|one| one.line.len()).sum::<usize>(), bytes.len());
});
