//! Writes, merges and asks segments of made-up documents, and prints bytes and seconds: `cargo run --release --example segments 100000`.
//!
//! Each document has 64 postings, 8 features, a sketch of 128 elements, 8 samples and a simhash. A posting in ten has a key that others have.

use lookalike_index::{merge, Document, Part, Segment, SegmentWriter, Settings, Snapshot, Which};
use lookalike_table::disk::{Disk, System};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn mix64(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

fn document(number: u64) -> Document {
    let random = |salt: u64, i: u64| mix64(mix64(number << 8 | salt) ^ i);
    let posting = |i: u64| {
        if i.is_multiple_of(10) {
            mix64(random(1, i) % 1_000_000)
        } else {
            random(2, i)
        }
    };
    Document {
        id: format!("document-{number:09}").into_bytes(),
        meta: format!(r#"{{"title":"document {number}"}}"#).into_bytes(),
        content: u128::from(random(5, 0)) << 64 | u128::from(random(5, 1)),
        postings: (0..64).map(posting).collect(),
        features: (0..8).map(|i| random(6, i)).collect(),
        sketch: (0..128).map(|i| random(7, i) as u32).collect(),
        samples: (0..8).map(|i| random(8, i)).collect(),
        simhash: Some(random(9, 0)),
        shingles: 3000,
        length: 3200,
        bytes: 3200,
        ..Document::default()
    }
}

/// Prints the bytes of each table per row of it.
fn print_sizes(segment: &Segment) -> lookalike_table::Result<()> {
    for (name, rows, bytes) in segment.sizes()? {
        println!("{name:>10}: {rows:>10} rows, {:>7.2} bytes per row", bytes as f64 / rows.max(1) as f64);
    }
    Ok(())
}

fn main() -> lookalike_table::Result<()> {
    let count: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let folder = std::env::temp_dir().join(format!("lookalike-segments-{}", std::process::id()));
    let disk: Arc<dyn Disk> = Arc::new(System);
    disk.create_folder(&folder).map_err(|error| lookalike_table::Error::io(&folder, error))?;
    let done = run(&disk, &folder, count);
    let _ = std::fs::remove_dir_all(&folder);
    done
}

fn run(disk: &Arc<dyn Disk>, folder: &Path, count: u64) -> lookalike_table::Result<()> {
    let mut parts = Vec::new();
    let began = Instant::now();
    for part in 0..4 {
        let path = folder.join(format!("seg-{part}.lat"));
        let mut writer =
            SegmentWriter::new(disk.clone(), &path, Settings { memory_bytes: 256 << 20, ..Settings::default() })?;
        (part * count / 4..(part + 1) * count / 4).try_for_each(|number| writer.push(&document(number)))?;
        writer.finish()?;
        parts.push((Arc::new(Segment::open(&**disk, &path)?), None));
    }
    println!("wrote {count} documents in {:.2} s", began.elapsed().as_secs_f64());
    let (path, began) = (folder.join("seg-all.lat"), Instant::now());
    merge(disk, &parts, &path, b"{}")?;
    println!("merged in {:.2} s", began.elapsed().as_secs_f64());
    let segment = Arc::new(Segment::open(&**disk, &path)?);
    print_sizes(&segment)?;
    let began = Instant::now();
    segment.verify()?;
    println!("verified in {:.2} s", began.elapsed().as_secs_f64());
    let snapshot = Snapshot::new(parts.iter().map(|(segment, _)| Part::of(segment.clone())).collect())?;
    let mut keys: Vec<u64> = (0..1000).flat_map(|i| document(i * 97 % count).postings).collect();
    keys.sort_unstable();
    let (began, mut holders) = (Instant::now(), 0);
    snapshot.holders(Which::Postings, &keys, |_, _| holders += 1)?;
    let each = began.elapsed().as_secs_f64() * 1e9 / keys.len() as f64;
    println!("{} keys in 4 segments have {holders} holders: {each:.0} ns per key", keys.len());
    let began = Instant::now();
    let single = (0..100).try_for_each(|number| Segment::of_documents(&[document(number)], b"{}").map(drop));
    println!("a segment of one document in {:.0} µs", began.elapsed().as_secs_f64() * 1e4);
    single
}
