//! The first 64 bytes of every file of a table: its kind, its length and the sizes of its parts.
//!
//! The magic, the version and the checksum have the same places in all versions. A file of another version is therefore
//! distinguished from a damaged one.

use lookalike_table::error::{Error, Result};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a header.
pub const HEADER: usize = 64;
/// The newest version of these files. Version 2 has strings as ids; in version 3, runs are files of tables.
pub const VERSION: u8 = 3;
/// The version of a file of strings.
pub const NAMES_VERSION: u8 = 2;
const MAGIC: [u8; 4] = *b"LAHT";
/// Offset of the header's checksum.
const SUM: usize = HEADER - 8;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A run: sorted tables and ids.
    Run = 1,
    /// The list of runs.
    Manifest = 2,
    /// Strings that are ids.
    Names = 3,
}

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Its kind.
    pub kind: FileKind,
    /// Its version.
    pub version: u8,
    /// The number of a run, or the generation of a manifest.
    pub number: u64,
    /// Number of rows or strings in it; for a manifest, of rows that are not deleted.
    pub rows: u64,
    /// Length of the file in bytes.
    pub length: u64,
    /// Length of the body in bytes; it follows the header.
    pub body: u64,
    /// The largest distance of queries.
    pub distance: u32,
    /// Number of tables of a run, or of runs of a manifest.
    pub count: u32,
    /// Number of distinct fingerprints of a run, bytes of all strings, or the number of a manifest's next run.
    pub more: u64,
}

/// The number at offset `at`; 0 beyond the end.
pub fn number_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl FileHeader {
    /// The bytes of the header.
    pub fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        (bytes[4], bytes[5]) = (self.version, self.kind as u8);
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.rows.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.body.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.distance.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.count.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.more.to_le_bytes());
        let sum = xxh3_64(&bytes[..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the header of a file of this kind. Errors: it is damaged, of another kind or version, or the file is cut.
    pub fn read(path: &Path, bytes: &[u8], kind: FileKind) -> Result<Self> {
        let damaged = |reason: String| Err(Error::damaged(path, reason));
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return damaged(format!("it has `{}` bytes, a header has {HEADER}", bytes.len()));
        };
        if header[..4] != MAGIC {
            return damaged("it is not a table file".to_owned());
        }
        if number_at(header, SUM) != xxh3_64(&header[..SUM]) {
            return damaged("its header fails its checksum".to_owned());
        }
        if !(1..=VERSION).contains(&header[4]) {
            return Err(Error::Version { path: path.to_owned(), found: header[4], known: VERSION });
        }
        if header[5] != kind as u8 {
            return damaged(format!("it is a file of kind `{}`, expected {}", header[5], kind as u8));
        }
        let half = |at: usize| (number_at(header, at) & u64::from(u32::MAX)) as u32;
        let header = Self {
            kind,
            version: header[4],
            number: number_at(header, 8),
            rows: number_at(header, 16),
            length: number_at(header, 24),
            body: number_at(header, 32),
            distance: half(40),
            count: half(44),
            more: number_at(header, 48),
        };
        if header.length != bytes.len() as u64 {
            return damaged(format!("it has `{}` bytes, its header says `{}`", bytes.len(), header.length));
        }
        Ok(header)
    }
}
