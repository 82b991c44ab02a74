//! Reads any bytes as a record and as a segment, with corrected checksums so that the code behind them is reached, and asks everything.
//!
//! It never panics, answers lie within the documents, and a segment that passes its check can be asked everything.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/index/src/tests/asking.rs"]
mod asking;
#[path = "../../crates/table/src/tests/forge.rs"]
mod forge;

fuzz_target!(|bytes: &[u8]| {
    asking::read_record(bytes);
    let mut forged = bytes.to_vec();
    forge::reseal(&mut forged);
    forge::read_all(&forged);
    let _ = asking::ask(forged);
});
