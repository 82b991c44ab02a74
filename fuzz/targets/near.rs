//! Opens any bytes as the files of a table, with corrected checksums so that the code behind them is reached.
//!
//! It never panics, a manifest that opens is written with the same content, and a run that opens answers queries.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_near::manifest::{Manifest, NameEntry, RunEntry};
use lookalike_near::name_file::NameFile;
use lookalike_near::names::Names;
use lookalike_near::run::{Hold, Run};
use lookalike_near::run_file::RunFile;
use lookalike_table::codec::packed::{Order, Packed};
use lookalike_table::disk::Bytes;
use std::path::Path;

#[path = "../../crates/near/src/tests/forge.rs"]
mod forge;
#[allow(dead_code)]
#[path = "../../crates/table/src/tests/forge.rs"]
mod table_forge;

/// Opens a run file and asks it everything.
fn search(path: &Path, bytes: &[u8], query: u64) {
    for hold in [Hold::Plain, Hold::Compressed, Hold::Mapped] {
        let Ok(file) = RunFile::open(path, Bytes::Memory(bytes.to_vec())) else { continue };
        let Ok(run) = Run::open(&file, &RunEntry::default(), hold) else { continue };
        run.find(&[query], 1, &mut |_, _, _, row| _ = run.value(row));
        assert!(run.live().len() <= 2 * run.size());
        let _ = run.verify();
    }
}

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("file");
    let mut forged = bytes.to_vec();
    forge::reseal_manifest(&mut forged);
    if let Ok(manifest) = Manifest::from_bytes(path, &forged) {
        assert_eq!(Manifest::from_bytes(path, &manifest.to_bytes()).ok().as_ref(), Some(&manifest));
    }
    for reseal in [forge::reseal_run, table_forge::reseal] {
        forged.copy_from_slice(bytes);
        reseal(&mut forged);
        search(path, &forged, bytes.len() as u64);
    }
    forged.copy_from_slice(bytes);
    forge::reseal_names(&mut forged);
    for is_mapped in [false, true] {
        let Ok(file) = NameFile::open(path, Bytes::Memory(forged.clone())) else { continue };
        let mut names = Names::default();
        if names.open(file, NameEntry::default(), is_mapped).is_ok() {
            let _ = names.assign(&["a", "b"]);
            let _ = names.compact(&[0, bytes.len() as u64]);
            let _ = names.verify();
        }
    }
    if let Some(column) = Packed::open(bytes, 0..bytes.len(), Order::Ascending) {
        let rows = column.rows(1 << 20, 1 << 60).unwrap_or(0..column.len());
        let _ = column.read(rows, &mut |_, values| assert!(!values.is_empty()));
    }
});
