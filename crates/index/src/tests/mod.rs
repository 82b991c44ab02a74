//! Tests of records, segments, merges and snapshots against plain lists of documents, on sound, damaged and failing disks.

mod asking;
mod damage;
mod documents;
mod earlier_versions;
mod faults;
mod merging;
mod naive;
mod records;
mod sizes;
mod snapshots;

use crate::segment::writer::{SegmentWriter, Settings, Written};
use crate::{Bitmap, Document, Result, Segment};
use lookalike_table::disk::Disk;
use lookalike_table::ram::Ram;
use proptest::test_runner::{Config, RngSeed};
use std::path::Path;
use std::sync::Arc;

/// A configuration of `cases` cases from one seed; a failure prints the smallest failing input.
fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2003), failure_persistence: None, ..Config::default() }
}

/// The finaliser of SplitMix64.
fn mix64(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

fn path() -> &'static Path {
    Path::new("/seg-0.lat")
}

fn shared(disk: &Ram) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// Writes a segment with a memory budget.
fn write(disk: &Ram, path: &Path, documents: &[Document], memory_bytes: usize) -> Result<Written> {
    let settings = Settings { memory_bytes, parameters: b"parameters".to_vec() };
    let mut writer = SegmentWriter::new(shared(disk), path, settings)?;
    documents.iter().try_for_each(|document| writer.push(document))?;
    writer.finish()
}

/// A segment on a disk in memory.
fn on_disk(documents: &[Document], memory_bytes: usize) -> Arc<Segment> {
    let disk = Ram::default();
    write(&disk, path(), documents, memory_bytes).expect("written");
    Arc::new(Segment::open(&disk, path()).expect("sound"))
}

/// The bitmap of the documents that are not live.
fn removed(documents: &[(Document, bool)]) -> Bitmap {
    let rows = documents.iter().enumerate().filter(|(_, (_, is_live))| !is_live).map(|(row, _)| row as u64);
    Bitmap::of_rows(documents.len() as u64, rows).expect("rows are there")
}
