//! The ids of fingerprints, in the order of the first table, with marks on deleted ones.
//!
//! Cost: per id, the bits that the largest of 128 neighbours needs above the smallest, about 1 bit for the directory,
//! and 9 bits per fingerprint if any fingerprint has several ids.

use super::tables::FingerprintRow;
use lookalike_table::codec::packed::{pack, Order, Packed};
use lookalike_table::error::{Error, Result};
use lookalike_table::Table;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Packed numbers in memory.
type Numbers = Packed<Vec<u8>>;

/// Packs numbers; nothing if there are 2^32 or more.
fn packed(numbers: &[u64]) -> Option<Numbers> {
    let bytes = pack(numbers, Order::Any);
    let length = bytes.len();
    Packed::open(bytes, 0..length, Order::Any)
}

/// The ids; those of one fingerprint ascend.
#[derive(Debug)]
enum Ids {
    /// In memory, with the start of the ids of each fingerprint, and the number of ids; without starts each fingerprint has one id.
    Memory { ids: Numbers, starts: Option<Numbers> },
    /// In a mapped file: number of a fingerprint → id.
    Mapped(Table),
}

/// The ids of each fingerprint, by the number of the fingerprint in the first table.
#[derive(Debug)]
pub struct Owners {
    ids: Ids,
    /// The file they are from, to name it in an error; empty in memory.
    path: PathBuf,
    /// Whether something that was read is damaged; it counts as missing until [`Self::checked`] tells.
    is_damaged: AtomicBool,
    /// One bit per deleted id; empty as long as there is none.
    gone: Vec<u64>,
    gone_count: usize,
}

impl Owners {
    fn new(ids: Ids) -> Self {
        Self { ids, path: PathBuf::new(), is_damaged: AtomicBool::new(false), gone: Vec::new(), gone_count: 0 }
    }

    /// The same owners, from a file.
    pub fn from_file(self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Makes the owners of sorted rows with `distinct` different fingerprints; nothing if there are 2^32 rows or more.
    pub(super) fn of(rows: &[FingerprintRow], distinct: usize) -> Option<Self> {
        let ids: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let is_start = |i: &usize| *i == 0 || *i == rows.len() || rows[*i].0 != rows[*i - 1].0;
        let starts = || -> Vec<u64> { (0..=rows.len()).filter(is_start).map(|start| start as u64).collect() };
        Self::loaded(&ids, (distinct < rows.len()).then(starts).as_deref())
    }

    /// Makes owners of ids, and of where those of each fingerprint start; nothing if there are 2^32 or more.
    pub fn loaded(ids: &[u64], starts: Option<&[u64]>) -> Option<Self> {
        let starts = match starts {
            Some(starts) => Some(packed(starts)?),
            None => None,
        };
        Some(Self::new(Ids::Memory { ids: packed(ids)?, starts }))
    }

    /// The owners in a table of a mapped file, without deletions.
    pub fn mapped(table: Table) -> Self {
        Self::new(Ids::Mapped(table))
    }

    /// Records damage, so that [`Self::checked`] reports it.
    pub fn report(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// Errors: something that was read so far is damaged.
    pub fn checked(&self) -> Result<()> {
        match self.is_damaged.load(Ordering::Relaxed) {
            true => Err(Error::damaged(&self.path, "a page fails its checksum, or ids and tables are inconsistent")),
            false => Ok(()),
        }
    }

    /// The id at a place. If it cannot be read, returns 0 and records damage.
    #[inline]
    fn id(&self, place: usize) -> u64 {
        let found = match &self.ids {
            Ids::Memory { ids, .. } => ids.get(place),
            Ids::Mapped(table) => table.number(0, place as u64).ok(),
        };
        found.unwrap_or_else(|| {
            self.report();
            0
        })
    }

    /// Number of ids that are not deleted.
    pub fn live(&self) -> usize {
        self.size() - self.gone_count
    }

    /// Number of ids, deleted ones included.
    pub fn size(&self) -> usize {
        match &self.ids {
            Ids::Memory { ids, .. } => ids.len(),
            Ids::Mapped(table) => table.len() as usize,
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        let ids = match &self.ids {
            Ids::Memory { ids, starts } => ids.bytes() + starts.as_ref().map_or(0, Packed::bytes),
            Ids::Mapped(_) => 0,
        };
        ids + self.gone.len() * 8
    }

    /// The places of the ids of a fingerprint.
    fn range(&self, row: usize) -> Range<usize> {
        let range = match &self.ids {
            Ids::Memory { starts: None, .. } => Some(row..row + 1),
            Ids::Memory { starts: Some(starts), .. } => {
                starts.get(row).zip(starts.get(row + 1)).map(|(start, end)| start as usize..end as usize)
            }
            Ids::Mapped(table) => table.find(row as u64).ok().map(|rows| rows.start as usize..rows.end as usize),
        };
        let range = range.unwrap_or_else(|| {
            self.report();
            0..0
        });
        // The numbers of a forged file may be out of range.
        range.start.min(self.size())..range.end.min(self.size())
    }

    fn is_gone(&self, place: usize) -> bool {
        self.gone.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Calls `seen` with place and id of every id of a fingerprint that is not deleted.
    pub fn each(&self, row: usize, seen: &mut dyn FnMut(usize, u64)) {
        for place in self.range(row).filter(|place| !self.is_gone(*place)) {
            seen(place, self.id(place));
        }
    }

    /// The place of an id of a fingerprint, unless it is missing or deleted.
    pub fn place(&self, row: usize, id: u64) -> Option<usize> {
        let Range { start: mut from, end: mut to } = self.range(row);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.id(middle).cmp(&id) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return Some(middle).filter(|place| !self.is_gone(*place)),
            }
        }
        None
    }

    /// Marks the id at a place as deleted.
    pub fn delete(&mut self, place: usize) {
        if place < self.size() && !self.is_gone(place) {
            self.gone.resize(self.size().div_ceil(64), 0);
            self.gone[place / 64] |= 1 << (place % 64);
            self.gone_count += 1;
        }
    }

    /// Takes the mark of a deleted id away.
    pub fn restore(&mut self, place: usize) {
        if self.is_gone(place) {
            self.gone[place / 64] &= !(1 << (place % 64));
            self.gone_count -= 1;
        }
    }

    /// The places of deleted ids, ascending.
    pub fn deleted(&self) -> Vec<u64> {
        match self.gone_count {
            0 => Vec::new(),
            _ => (0..self.size()).filter(|place| self.is_gone(*place)).map(|place| place as u64).collect(),
        }
    }

    /// Whether each of `distinct` fingerprints has ascending ids, and each id belongs to one fingerprint.
    pub fn is_sound(&self, distinct: usize) -> bool {
        let mut end = 0;
        for row in 0..distinct {
            let range = self.range(row);
            let ids: Vec<u64> = range.clone().map(|place| self.id(place)).collect();
            if range.start != end || range.is_empty() || !ids.windows(2).all(|pair| pair[0] < pair[1]) {
                return false;
            }
            end = range.end;
        }
        end == self.size()
    }

    /// Calls `seen` with the number of each fingerprint and each of its ids, deleted ones included.
    pub fn each_of(&self, distinct: usize, seen: &mut dyn FnMut(u64, u64)) {
        for row in 0..distinct {
            self.range(row).for_each(|place| seen(row as u64, self.id(place)));
        }
    }
}
