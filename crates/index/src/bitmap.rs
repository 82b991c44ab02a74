//! Which rows of a segment are removed: one bit per row, the lowest bit of the first byte for row 0.
//!
//! Cost: one bit per row, and 4 bytes per 512 rows to count the rows before any row in constant time.

use lookalike_table::{Error, Result};
use std::path::Path;

/// Bits whose sum is kept.
const STRIDE: usize = 512;

/// A set of rows of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    rows: u64,
    words: Vec<u64>,
    /// Number of set bits before each stride, and of all at the end.
    before: Vec<u32>,
}

impl Bitmap {
    /// Makes the bitmap of `rows` rows from these ones. Errors: a row beyond the end.
    pub fn of_rows(rows: u64, set: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut words = vec![0u64; rows.div_ceil(64) as usize];
        for row in set {
            if row >= rows {
                return Err(Error::refused(format!("row `{row}` is not in a segment of `{rows}` rows")));
            }
            words[(row / 64) as usize] |= 1 << (row % 64);
        }
        Ok(Self::of_words(rows, words))
    }

    /// Reads the bytes of a bitmap of `rows` rows. Errors: another length, or a bit beyond the end is set.
    pub fn of_bytes(rows: u64, bytes: &[u8]) -> Result<Self> {
        if bytes.len() as u64 != rows.div_ceil(8) {
            let reason = format!("it has `{}` bytes for `{rows}` rows, not `{}`", bytes.len(), rows.div_ceil(8));
            return Err(Error::damaged(Path::new("bitmap"), reason));
        }
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let words: Vec<u64> = bytes.chunks(8).map(word).collect();
        if !rows.is_multiple_of(64) && words.last().is_some_and(|last| last >> (rows % 64) != 0) {
            return Err(Error::damaged(Path::new("bitmap"), "it names rows that are not there"));
        }
        Ok(Self::of_words(rows, words))
    }

    fn of_words(rows: u64, words: Vec<u64>) -> Self {
        let (mut before, mut sum) = (vec![0], 0);
        for stride in words.chunks(STRIDE / 64) {
            sum += stride.iter().map(|word| word.count_ones()).sum::<u32>();
            before.push(sum);
        }
        Self { rows, words, before }
    }

    /// The bytes of the bitmap.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.rows.div_ceil(8) as usize);
        bytes
    }

    /// Number of rows of the segment.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of rows in the set.
    pub fn count(&self) -> u64 {
        self.before.last().copied().map_or(0, u64::from)
    }

    /// Whether a row is in the set; false beyond the end.
    #[inline]
    pub fn contains(&self, row: u64) -> bool {
        self.words.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Number of rows in the set that are before `row`.
    pub fn below(&self, row: u64) -> u64 {
        let row = row.min(self.rows) as usize;
        let (stride, word) = (row / STRIDE, row / 64);
        let whole = self.words[stride * (STRIDE / 64)..word].iter().map(|word| word.count_ones()).sum::<u32>();
        let part = self.words.get(word).map_or(0, |bits| (bits & ((1u64 << (row % 64)) - 1)).count_ones());
        u64::from(self.before[stride] + whole + part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_is_a_set_of_rows() {
        for rows in [0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1500] {
            for step in [1, 2, 3, 64, 700] {
                let set: Vec<u64> = (0..rows).filter(|row| row % step == step / 2).collect();
                let map = Bitmap::of_rows(rows, set.iter().copied()).expect("rows are there");
                assert_eq!(Bitmap::of_bytes(rows, &map.to_bytes()).expect("sound"), map);
                assert_eq!(map.count(), set.len() as u64, "{rows} {step}");
                for row in 0..rows + 70 {
                    assert_eq!(map.contains(row), set.contains(&row), "{rows} {step} {row}");
                    assert_eq!(map.below(row), set.iter().filter(|other| **other < row).count() as u64, "{rows} {row}");
                }
            }
        }
    }

    #[test]
    fn bytes_for_another_number_of_rows_are_refused() {
        assert!(Bitmap::of_bytes(9, &[0]).is_err());
        assert!(Bitmap::of_bytes(9, &[0, 0, 0]).is_err());
        assert!(Bitmap::of_bytes(9, &[0, 2]).is_err());
        assert!(Bitmap::of_bytes(9, &[255, 1]).is_ok());
        assert!(Bitmap::of_rows(9, [9]).is_err());
    }
}
