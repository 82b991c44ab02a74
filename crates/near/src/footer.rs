//! The end of a run file and of a file of strings: directory of columns, sums of the pages, seal.
//!
//! Cost: the footer has 16 bytes or more per column and 8 per page of 16 KiB; opening reads nothing else.

use crate::header::{number_at, FileHeader, HEADER};
use crate::verified_pages::VerifiedPages;
use lookalike_table::error::{Error, Result};
use std::ops::Range;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// Appends a column to the file, and its offset and length to the directory.
pub(crate) fn append(bytes: &mut Vec<u8>, directory: &mut Vec<u8>, column: Vec<u8>) {
    directory.extend((bytes.len() as u64).to_le_bytes());
    directory.extend((column.len() as u64).to_le_bytes());
    bytes.extend(column);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// Completes a file: fills in the lengths of its header, and appends directory, sums and seal.
pub(crate) fn finish(mut bytes: Vec<u8>, directory: Vec<u8>, header: FileHeader) -> Vec<u8> {
    let sums: Vec<u8> = VerifiedPages::sums(&bytes[HEADER..]).collect();
    let length = (bytes.len() + directory.len() + sums.len() + 8) as u64;
    let header = FileHeader { length, body: (bytes.len() - HEADER) as u64, ..header }.to_bytes();
    bytes[..HEADER].copy_from_slice(&header);
    bytes.extend(&directory);
    bytes.extend(&sums);
    bytes.extend(seal(&header, &[directory, sums].concat()).to_le_bytes());
    bytes
}

/// The seal, by which the manifest identifies a file: a hash of everything but the body, which the sums cover.
fn seal(header: &[u8], footer: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(header);
    hash.update(footer);
    hash.digest()
}

/// The seal at the end of a file.
pub fn seal_of(bytes: &[u8]) -> u64 {
    number_at(bytes, bytes.len().saturating_sub(8))
}

/// The footer of a file whose body ends at `end`.
pub(crate) struct Footer<'a> {
    /// Directory and sums.
    pub bytes: &'a [u8],
    /// The seal of the file, which was checked.
    pub seal: u64,
    end: usize,
}

impl<'a> Footer<'a> {
    /// Reads the footer. Errors: it does not agree with the seal.
    ///
    /// REQUIRES: the body ends at least 8 bytes before the end of the file.
    pub fn read(path: &Path, bytes: &'a [u8], end: usize) -> Result<Self> {
        let footer = &bytes[end..bytes.len() - 8];
        let seal = seal(&bytes[..HEADER], footer);
        if seal != seal_of(bytes) {
            return Err(Error::damaged(path, "its footer fails its checksum"));
        }
        Ok(Self { bytes: footer, seal, end })
    }

    /// The place of the column whose entry is at `at` in the directory; `None` if it lies outside the body.
    pub fn column(&self, at: usize) -> Option<Range<usize>> {
        let (start, length) = (number_at(self.bytes, at), number_at(self.bytes, at + 8));
        let (start, stop) = (usize::try_from(start).ok()?, usize::try_from(start.checked_add(length)?).ok()?);
        (start >= HEADER && stop <= self.end).then_some(start..stop)
    }
}
