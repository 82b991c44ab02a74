//! Forged files: changed bytes with right checksums, so that the code behind the checksums is reached. The fuzz target uses it too.

use lookalike_table::disk::Bytes;
use lookalike_table::TableFile;
use std::path::Path;
use xxhash_rust::xxh3::{xxh3_64, Xxh3};

fn number_at(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(usize::MAX, |number| u64::from_le_bytes(*number) as usize)
}

/// Gives a file the checksums of what it holds: header, pages as far as the footer can be followed, and seal.
pub fn reseal(bytes: &mut [u8]) {
    let length = bytes.len();
    if length < 48 {
        return;
    }
    bytes[..4].copy_from_slice(b"LATB");
    bytes[4] = 1;
    let sum = xxh3_64(&bytes[..8]).to_le_bytes();
    bytes[8..16].copy_from_slice(&sum);
    bytes[length - 16..length - 8].copy_from_slice(&(length as u64).to_le_bytes());
    let start = number_at(bytes, length - 24);
    if start < 16 || start > length - 24 {
        return;
    }
    let _ = reseal_pages(bytes, start);
    let mut hash = Xxh3::new();
    hash.update(&bytes[..16]);
    hash.update(&bytes[start..length - 8]);
    let seal = hash.digest().to_le_bytes();
    bytes[length - 8..].copy_from_slice(&seal);
}

/// Follows the footer as FORMAT.md describes it; ends where that is not possible.
fn reseal_pages(bytes: &mut [u8], start: usize) -> Option<()> {
    let skip = |bytes: &[u8], at: usize| {
        let length = number_at(bytes, at);
        (length < bytes.len()).then(|| at + 8 + length.next_multiple_of(8))
    };
    let mut at = start + 8;
    for _ in 0..number_at(bytes, start).min(100) {
        at = skip(bytes, at)?;
        at = skip(bytes, at + 8)?;
        let columns = number_at(bytes, at).min(100);
        at += 8;
        for _ in 0..columns {
            at = skip(bytes, at + 8)?;
        }
        let pages = number_at(bytes, at + 8);
        at += 16;
        if pages > bytes.len() / 32 {
            return None;
        }
        let (offsets, sums) = (at + pages * 16, at + pages * 24 + 8);
        for page in 0..pages {
            let (from, to) = (number_at(bytes, offsets + page * 8), number_at(bytes, offsets + page * 8 + 8));
            let sum = xxh3_64(bytes.get(from..to)?).to_le_bytes();
            bytes.get_mut(sums + page * 8..sums + page * 8 + 8)?.copy_from_slice(&sum);
        }
        at = sums + pages * 8;
    }
    Some(())
}

/// Opens a file and asks it everything; answers of a forged file may be wrong, but nothing panics and nothing is endless.
pub fn read_all(bytes: &[u8]) {
    let Ok(file) = TableFile::of(Path::new("file"), Bytes::Memory(bytes.to_vec())) else { return };
    let names: Vec<String> = file.schemas().map(|schema| schema.name.clone()).collect();
    for name in names {
        let Ok(table) = file.table(&name) else { continue };
        let mut scan = table.scan();
        let mut count = 0;
        while let Ok(Some(row)) = scan.next_row() {
            count += 1;
            assert!((0..table.schema().columns.len()).all(|column| row.cell(column).is_some()));
        }
        assert!(count <= table.len());
        let keys = [0, 1, 20, 1 << 20, 1 << 40, 1 << 63, u64::MAX - 3, u64::MAX];
        let _ = table.find_sorted(&keys, |_, rows| assert!(rows.end <= table.len()));
        for row in [0, 1, 77, table.len().saturating_sub(1)] {
            let _ = table.key(row);
            for column in 0..table.schema().columns.len() {
                let _ = table.number(column, row);
                let _ = table.bytes(column, row).map(|bytes| bytes.len());
            }
        }
    }
    let _ = file.verify();
}
