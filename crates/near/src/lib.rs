//! Tables of fingerprints that are updated and stored, and searched for all fingerprints within k bits of a query.
//!
//! ```text
//! rows ─▶ tail ──────────────▶ Run ──────▶ merged Runs ────────▶ folder: manifest and run files
//!         fingerprint_store.rs  run.rs      fingerprint_store.rs  table_folder.rs, manifest.rs,
//!                                                                 run_file.rs, packed_run.rs
//! ```
//!
//! A [`fingerprint_store::FingerprintStore`] behaves alike in memory and in a folder. Queries search each [`run::Run`]:
//! fingerprints sorted once per table of a design; plain, compressed, or mapped from a file. FORMAT.md describes the
//! files; [`names::Names`] are ids that are strings; only [`lookalike_table::disk::Disk`] accesses them.

pub mod cells;
mod csv_record;
pub mod fingerprint_store;
pub mod footer;
pub mod header;
pub mod manifest;
pub mod name_file;
pub mod named;
pub mod names;
pub mod packed_run;
pub mod pairs;
pub mod print_reader;
pub mod print_text;
pub mod row_limits;
pub mod run;
pub mod run_file;
pub mod table_folder;
pub mod verified_pages;

#[cfg(test)]
mod tests;
