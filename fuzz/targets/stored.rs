//! Makes the files of a submission again from any bytes and any text, as an archive does with what it reads from disk.
//!
//! It never panics. Files that are made have the text, and what is stored of them gives files of which the same is stored.
//! The input is read twice: as the bytes on disk, and as what they hold, so that the code behind the compression is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_compare::stored::{packed, restore, short_key, store};
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, rest) = bytes.split_at(at);
    let text = String::from_utf8_lossy(text).into_owned();
    let rest = rest.get(1..).unwrap_or(&[]);
    check(rest, &text);
    if let Ok(bytes) = packed(rest) {
        check(&bytes, &text);
    }
});

fn check(bytes: &[u8], text: &str) {
    let Some(found) = restore(bytes, vec![text.to_owned()]) else { return };
    let files: Vec<Arc<_>> = found.files.into_iter().map(Arc::new).collect();
    assert!(files.iter().all(|file| file.text == text));
    let _ = short_key(&files);
    for part in files.iter().flat_map(|file| &file.parts) {
        assert!(part.spans(text).iter().all(|span| span.end as usize <= text.len()));
    }
    let stored = store(&files, &found.facts).expect("memory");
    let again = restore(&stored, vec![text.to_owned()]).expect("stored bytes are read");
    assert_eq!(again.facts, found.facts);
    let files: Vec<Arc<_>> = again.files.into_iter().map(Arc::new).collect();
    assert_eq!(store(&files, &again.facts).expect("memory"), stored);
}
