//! The ids of a run, in the order of its first table, with marks on deleted ones.
//!
//! Cost: per id, the bits that the largest of 128 neighbours needs above the smallest, about 1 bit for the directory,
//! and 9 bits per fingerprint if any fingerprint has several ids.

use crate::run::FingerprintRow;
use crate::run_file::RunFile;
use crate::verified_pages::PagedBody;
use lookalike_table::codec::packed::{pack, Order, Packed};
use lookalike_table::error::{Error, Result};
use std::ops::Range;

/// Packed numbers, in memory or in a file.
#[derive(Debug)]
enum PackedNumbers {
    Memory(Packed<Vec<u8>>),
    Mapped(Packed<PagedBody>),
}

impl PackedNumbers {
    /// Packs numbers. Errors: 2^32 or more.
    fn pack(numbers: &[u64]) -> Result<Self> {
        let bytes = pack(numbers, Order::Any);
        let length = bytes.len();
        let refused = || Error::Refused { reason: "a run has `2^32` rows or more: use several tables".to_owned() };
        Packed::open(bytes, 0..length, Order::Any).map(Self::Memory).ok_or_else(refused)
    }

    /// Opens a column of a file. Errors: it is damaged, if it is read into memory.
    fn open(file: &RunFile, column: Packed<PagedBody>, is_mapped: bool) -> Result<Self> {
        match is_mapped {
            true => Ok(Self::Mapped(column)),
            false => Self::pack(&file.decode(&column)?),
        }
    }

    /// Number `i`. If it cannot be read, returns 0 and marks the file as damaged.
    #[inline]
    fn get(&self, i: usize) -> u64 {
        match self {
            Self::Memory(column) => column.get(i).unwrap_or(0),
            Self::Mapped(column) => column.get(i).unwrap_or_else(|| {
                column.source().0.report();
                0
            }),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Memory(column) => column.len(),
            Self::Mapped(column) => column.len(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Memory(column) => column.bytes(),
            Self::Mapped(_) => 0,
        }
    }

    fn to_vec(&self) -> Vec<u64> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }
}

/// The ids of each fingerprint, by the number of the fingerprint in the first table.
#[derive(Debug)]
pub struct RunOwners {
    /// The ids; those of one fingerprint ascend.
    ids: PackedNumbers,
    /// The start of the ids of each fingerprint, and the number of ids; `None` if each fingerprint has one id.
    starts: Option<PackedNumbers>,
    /// One bit per deleted id; empty as long as there is none.
    gone: Vec<u64>,
    gone_count: usize,
}

impl RunOwners {
    /// Makes the owners of sorted rows with `distinct` different fingerprints. Errors: too many rows.
    pub fn of(rows: &[FingerprintRow], distinct: usize) -> Result<Self> {
        let ids: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let is_start = |i: &usize| *i == 0 || *i == rows.len() || rows[*i].0 != rows[*i - 1].0;
        let starts = || -> Vec<u64> { (0..=rows.len()).filter(is_start).map(|start| start as u64).collect() };
        let starts = if distinct < rows.len() { Some(PackedNumbers::pack(&starts())?) } else { None };
        Ok(Self { ids: PackedNumbers::pack(&ids)?, starts, gone: Vec::new(), gone_count: 0 })
    }

    /// Opens the owners in a file, without deletions. Errors: damaged.
    pub fn open(file: &RunFile, is_mapped: bool) -> Result<Self> {
        let ids = PackedNumbers::open(file, file.ids()?, is_mapped)?;
        let starts = file.starts()?.map(|starts| PackedNumbers::open(file, starts, is_mapped)).transpose()?;
        Ok(Self { ids, starts, gone: Vec::new(), gone_count: 0 })
    }

    /// Number of ids that are not deleted.
    pub fn live(&self) -> usize {
        self.size() - self.gone_count
    }

    /// Number of ids, deleted ones included.
    pub fn size(&self) -> usize {
        self.ids.len()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.ids.bytes() + self.starts.as_ref().map_or(0, PackedNumbers::bytes) + self.gone.len() * 8
    }

    /// The places of the ids of a fingerprint.
    fn range(&self, row: usize) -> Range<usize> {
        let range = match &self.starts {
            Some(starts) => starts.get(row) as usize..starts.get(row + 1) as usize,
            None => row..row + 1,
        };
        // The numbers of a forged file may be out of range.
        range.start.min(self.size())..range.end.min(self.size())
    }

    fn is_gone(&self, place: usize) -> bool {
        self.gone.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Calls `seen` with place and id of every id of a fingerprint that is not deleted.
    pub fn each(&self, row: usize, seen: &mut dyn FnMut(usize, u64)) {
        for place in self.range(row).filter(|place| !self.is_gone(*place)) {
            seen(place, self.ids.get(place));
        }
    }

    /// The place of an id of a fingerprint, unless it is missing or deleted.
    pub fn place(&self, row: usize, id: u64) -> Option<usize> {
        let Range { start: mut from, end: mut to } = self.range(row);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.ids.get(middle).cmp(&id) {
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
            let ids: Vec<u64> = range.clone().map(|place| self.ids.get(place)).collect();
            if range.start != end || range.is_empty() || !ids.windows(2).all(|pair| pair[0] < pair[1]) {
                return false;
            }
            end = range.end;
        }
        end == self.size()
    }

    /// All ids, deleted ones included, and the starts.
    pub fn columns(&self) -> (Vec<u64>, Option<Vec<u64>>) {
        (self.ids.to_vec(), self.starts.as_ref().map(PackedNumbers::to_vec))
    }
}
