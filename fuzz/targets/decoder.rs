//! Decodes any bytes: it never panics, and the map to original offsets ascends and covers all bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_core::frontend::decode::decode;

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoded) = decode(bytes) else { return };
    let mut before = 0;
    for (offset, _) in decoded.text.char_indices() {
        let original = decoded.original(offset);
        assert!(original >= before && original <= bytes.len(), "offset {offset} goes back to {original}");
        before = original;
    }
    assert_eq!(decoded.original(decoded.text.len()), bytes.len());
});
