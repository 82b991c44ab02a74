//! Sketches and shingles of archived documents, in the form in which a judge compares them.
//!
//! Sketches are stored. Shingles are made again from the stored text, because only a pair that the sketches do not
//! reject needs them. The last sketch of each thread is kept: a leader is compared with many documents in a row.
//!
//! Cost: one read per leader; no memory beyond one sketch per thread.

use crate::archive::Archive;
use lookalike_core::sketch::shingle::{Shingler, Shingling};
use lookalike_table::{Error, Result};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

thread_local! {
    /// The place of a document in its [`Recalled`], which of those it is, and its sketch.
    static LAST: RefCell<(u64, u32, Vec<u32>)> = const { RefCell::new((0, 0, Vec::new())) };
}

/// Archived documents, numbered from 0 in order of rank.
pub struct Recalled<'a> {
    archive: &'a dyn Archive,
    numbers: Vec<u64>,
    shingling: Shingling,
    /// Shingles have tables, so that shinglers are used again.
    shinglers: Mutex<Vec<Shingler>>,
    /// Tells values of this type apart, so that a thread does not mistake the sketch of another one for its own.
    own: u64,
}

impl<'a> Recalled<'a> {
    /// Takes the documents of an archive with these numbers, ascending.
    pub fn new(archive: &'a dyn Archive, numbers: Vec<u64>, shingling: Shingling) -> Self {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let own = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self { archive, numbers, shingling, shinglers: Mutex::default(), own }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.numbers.len() as u32
    }

    fn number(&self, document: u32) -> Result<u64> {
        let missing = || Error::refused(format!("document `{document}` is not archived"));
        self.numbers.get(document as usize).copied().ok_or_else(missing)
    }

    /// The elements of a document's sketch. Errors: they cannot be read.
    pub fn elements(&self, document: u32) -> Result<Vec<u32>> {
        LAST.with_borrow_mut(|last| {
            if (last.0, last.1) != (self.own, document) {
                *last = (self.own, document, self.archive.sketch(self.number(document)?)?);
            }
            Ok(last.2.clone())
        })
    }

    /// The ids of a document's shingles. Errors: its text cannot be read.
    pub fn ids(&self, document: u32) -> Result<Vec<u64>> {
        let text = self.archive.text(self.number(document)?)?;
        let known = self.shinglers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut shingler = known.unwrap_or_else(|| Shingler::new(self.shingling));
        let mut ids = Vec::new();
        shingler.ids(&String::from_utf8_lossy(&text), &mut ids);
        self.shinglers.lock().unwrap_or_else(PoisonError::into_inner).push(shingler);
        Ok(ids)
    }
}
