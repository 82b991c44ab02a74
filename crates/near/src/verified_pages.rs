//! The bytes of a file in pages that are verified when they are first read.
//!
//! Cost: one XXH3 of 16 KiB, about a microsecond, at the first read of a page; later a test of one bit. One bit per
//! page in memory.

use lookalike_table::codec::packed::Source;
use lookalike_table::disk::Bytes;
use lookalike_table::error::{Error, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a page: small enough to verify quickly, large enough that the sums take little space.
pub const PAGE: usize = 16 << 10;

/// A file with a body and a checksum for each page of the body.
#[derive(Debug)]
pub struct VerifiedPages {
    path: PathBuf,
    bytes: Bytes,
    body: Range<usize>,
    /// Offset of the sums; there is one per page.
    sums: usize,
    /// One bit per verified page. Two threads may set it twice.
    verified: Vec<AtomicU64>,
    is_damaged: AtomicBool,
}

impl VerifiedPages {
    /// Makes the pages of a file. Body or sums that do not lie in the bytes are reported as damage when they are read.
    pub fn new(path: &Path, bytes: Bytes, body: Range<usize>, sums: usize) -> Arc<Self> {
        let pages = body.len().div_ceil(PAGE);
        let verified = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { path: path.to_owned(), bytes, body, sums, verified, is_damaged: AtomicBool::new(false) })
    }

    /// The sums of a body, in the form of the file.
    pub fn sums(body: &[u8]) -> impl Iterator<Item = u8> + '_ {
        body.chunks(PAGE).flat_map(|page| xxh3_64(page).to_le_bytes())
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records damage, so that [`Self::checked`] reports it.
    pub fn report(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// Errors: something that was read so far is damaged.
    pub fn checked(&self) -> Result<()> {
        match self.is_damaged.load(Ordering::Relaxed) {
            true => Err(Error::damaged(&self.path, "a page fails its checksum or cannot be decoded")),
            false => Ok(()),
        }
    }

    /// Verifies all pages. Errors: a page is damaged.
    pub fn verify(&self) -> Result<()> {
        match (0..self.body.len().div_ceil(PAGE)).find(|page| !self.is_sound(*page)) {
            Some(page) => Err(Error::damaged(&self.path, format!("page `{page}` fails its checksum"))),
            None => Ok(()),
        }
    }

    /// Whether a page has its checksum.
    #[inline]
    fn is_sound(&self, page: usize) -> bool {
        let bit = 1 << (page % 64);
        match self.verified.get(page / 64) {
            Some(word) if word.load(Ordering::Relaxed) & bit != 0 => true,
            Some(word) if self.sum_is_right(page) => {
                word.fetch_or(bit, Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }

    fn sum_is_right(&self, page: usize) -> bool {
        let start = self.body.start + page * PAGE;
        let bytes = self.bytes.get(start..(start + PAGE).min(self.body.end));
        let sum = self.bytes.get(self.sums + page * 8..).and_then(|rest| rest.first_chunk());
        matches!((bytes, sum), (Some(bytes), Some(sum)) if xxh3_64(bytes) == u64::from_le_bytes(*sum))
    }
}

/// The body of a file as a source of columns; ranges count from the beginning of the file.
#[derive(Clone, Debug)]
pub struct PagedBody(pub Arc<VerifiedPages>);

impl Source for PagedBody {
    #[inline]
    fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        let pages = &*self.0;
        if range.start < pages.body.start || range.end > pages.body.end || range.is_empty() {
            return None;
        }
        let (first, last) = ((range.start - pages.body.start) / PAGE, (range.end - 1 - pages.body.start) / PAGE);
        match (first..=last).all(|page| pages.is_sound(page)) {
            true => pages.bytes.get(range),
            false => {
                pages.report();
                None
            }
        }
    }
}
