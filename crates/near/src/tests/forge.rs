//! Forges files of a table: makes their checksums right after bytes were changed, so that readers get past them.
//!
//! Written from FORMAT.md and independent of the code that it tests; `fuzz/targets/near.rs` includes it too.

use xxhash_rust::xxh3::{xxh3_64, Xxh3};

/// Bytes of a header; its last eight are its checksum.
const HEADER: usize = 64;
/// Bytes of the body under one checksum.
const PAGE: usize = 16 << 10;
/// Bytes of the directory of a run file before its tables, and for each table.
const DIRECTORY: usize = 32;
/// Bytes of the directory of a file of strings.
const NAMES_DIRECTORY: usize = 48;

fn number_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Makes the length and the checksum of a header right.
pub fn reseal_header(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    if let Some(header) = bytes.first_chunk_mut::<HEADER>() {
        header[24..32].copy_from_slice(&length.to_le_bytes());
        let sum = xxh3_64(&header[..HEADER - 8]);
        header[HEADER - 8..].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Makes all checksums of a manifest right.
pub fn reseal_manifest(bytes: &mut [u8]) {
    reseal_header(bytes);
    if let Some(end) = bytes.len().checked_sub(8).filter(|end| *end >= HEADER) {
        let seal = xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&seal.to_le_bytes());
    }
}

/// Makes all checksums of a run file right, as far as its header says where they are.
pub fn reseal_run(bytes: &mut [u8]) {
    let tables = number_at(bytes, 44) as u32 as usize;
    reseal_pages(bytes, tables.saturating_add(1).saturating_mul(DIRECTORY));
}

/// Makes all checksums of a file of strings right, as far as its header says where they are.
pub fn reseal_names(bytes: &mut [u8]) {
    reseal_pages(bytes, NAMES_DIRECTORY);
}

/// Makes the checksums of header and pages and the seal right, with a directory of so many bytes.
fn reseal_pages(bytes: &mut [u8], directory: usize) {
    reseal_header(bytes);
    let Some(end) = bytes.len().checked_sub(8).filter(|end| *end >= HEADER) else { return };
    let stop = HEADER.saturating_add(number_at(bytes, 32) as usize).min(end);
    let sums: Vec<u8> = bytes[HEADER..stop].chunks(PAGE).flat_map(|page| xxh3_64(page).to_le_bytes()).collect();
    let at = stop.saturating_add(directory);
    if let Some(place) = bytes.get_mut(at..at.saturating_add(sums.len()).min(end)) {
        place.copy_from_slice(&sums[..place.len()]);
    }
    let mut seal = Xxh3::new();
    seal.update(&bytes[..HEADER]);
    seal.update(&bytes[stop..end]);
    let seal = seal.digest();
    bytes[end..].copy_from_slice(&seal.to_le_bytes());
}
