//! Tables of fingerprints that are updated and kept: which ones differ from this one in at most k bits?
//!
//! ```text
//! rows ─▶ tail ─▶ Run ─▶ merged Runs ─▶ folder: manifest + run files
//!         store.rs  run.rs,   store.rs   kept.rs, manifest.rs, file.rs, disk.rs
//!                   owners.rs
//! ```
//!
//! A [`store::FingerprintStore`] is the same in memory and in a folder. What is searched is a [`run::Run`]: fingerprints sorted once for each table of a
//! design, plain, compressed, or mapped from the file they were written to. FORMAT.md describes the files; [`disk::Disk`] is all that
//! touches them.

pub mod disk;
pub mod error;
pub mod fingerprint_store;
pub mod header;
pub mod manifest;
pub mod owners;
pub mod run;
pub mod run_file;
pub mod table_folder;
pub mod verified_pages;

#[cfg(test)]
mod tests;
