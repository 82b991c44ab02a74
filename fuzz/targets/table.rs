//! Opens any bytes as a file of tables, with corrected checksums so that the code behind them is reached, and asks it everything.
//!
//! It never panics, a scan has no more rows than the table says, and rows that are found lie inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/table/src/tests/forge.rs"]
mod forge;

fuzz_target!(|bytes: &[u8]| {
    forge::read_all(bytes);
    let mut forged = bytes.to_vec();
    forge::reseal(&mut forged);
    forge::read_all(&forged);
});
