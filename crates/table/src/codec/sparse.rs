//! Numbers that are mostly 0: the places of the others, and these.
//!
//! All numbers are little-endian; the number of rows is known from elsewhere, and at most 65,536:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | n, how many numbers are not 0 |
//! | 4 | w, bytes of the largest of them |
//! | 2 per number | its place, ascending |
//! | w per number | the number |
//!
//! A column of zeros has no bytes at all. The bytes are checked where they are used: invalid ones give [`None`], never a panic.
//!
//! **Cost.** 2 + w bytes per number that is not 0, and 8 bytes; a lookup is a binary search.

use std::ops::Range;

/// Bytes before the places.
const HEADER: usize = 8;

/// Appends the code of a column. REQUIRES: at most 65,536 numbers.
pub fn encode(numbers: &[u64], out: &mut Vec<u8>) {
    let others: Vec<(u16, u64)> = numbers
        .iter()
        .enumerate()
        .filter(|(_, number)| **number != 0)
        .map(|(at, number)| (at as u16, *number))
        .collect();
    let Some(largest) = others.iter().map(|(_, number)| *number).max() else { return };
    let width = (8 - largest.leading_zeros() / 8) as usize;
    out.extend((others.len() as u32).to_le_bytes());
    out.extend((width as u32).to_le_bytes());
    others.iter().for_each(|(place, _)| out.extend(place.to_le_bytes()));
    others.iter().for_each(|(_, number)| out.extend_from_slice(&number.to_le_bytes()[..width]));
}

/// An encoded column, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Sparse<'a> {
    places: &'a [[u8; 2]],
    numbers: &'a [u8],
    width: usize,
    rows: usize,
}

impl<'a> Sparse<'a> {
    /// Opens a column of so many rows in O(1). Returns `None` if the bytes cannot be its code.
    pub fn open(bytes: &'a [u8], rows: usize) -> Option<Self> {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
            return bytes.is_empty().then_some(Self { places: &[], numbers: &[], width: 1, rows });
        };
        let [n, width] =
            [0, 4].map(|at| header[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four) as usize));
        if !(1..=8).contains(&width) || !(1..=rows).contains(&n) {
            return None;
        }
        let (places, numbers) = rest.split_at_checked(n * 2)?;
        (numbers.len() == n * width).then_some(Self { places: places.as_chunks().0, numbers, width, rows })
    }

    #[inline]
    fn place(&self, i: usize) -> Option<usize> {
        self.places.get(i).map(|place| usize::from(u16::from_le_bytes(*place)))
    }

    /// The i-th number that is not 0.
    #[inline]
    fn other(&self, i: usize) -> Option<u64> {
        let bytes = self.numbers.get(i * self.width..(i + 1) * self.width)?;
        let mut number = [0; 8];
        number[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(number)).filter(|number| *number != 0)
    }

    /// How many of the others are before a row.
    fn below(&self, row: usize) -> usize {
        self.places.partition_point(|place| usize::from(u16::from_le_bytes(*place)) < row)
    }

    /// The number in a row; `None` if there is none, or the bytes are damaged.
    pub fn get(&self, row: usize) -> Option<u64> {
        let at = self.below(row);
        match self.place(at) {
            _ if row >= self.rows => None,
            Some(place) if place == row => self.other(at),
            _ => Some(0),
        }
    }

    /// Appends the numbers in rows; `None` if there are none, or the bytes are damaged.
    pub fn read(&self, rows: Range<usize>, out: &mut Vec<u64>) -> Option<()> {
        if rows.start > rows.end || rows.end > self.rows {
            return None;
        }
        let from = out.len();
        out.resize(from + rows.len(), 0);
        let mut next = rows.start;
        // Of all rows, all others are read, also where their places do not ascend.
        let end = if rows.end == self.rows { self.places.len() } else { self.below(rows.end) };
        let start = if rows.start == 0 { 0 } else { self.below(rows.start) };
        for at in start..end {
            // Places that do not ascend would be out of the rows, or hide a number.
            let place = self.place(at).filter(|place| *place >= next && *place < rows.end)?;
            *out.get_mut(from + place - rows.start)? = self.other(at)?;
            next = place + 1;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    fn column() -> impl Strategy<Value = Vec<u64>> {
        let number = prop_oneof![8 => Just(0u64), 1 => 1u64..5, 1 => any::<u64>(), 1 => Just(256)];
        prop_oneof![prop::collection::vec(number, 0..300), prop::collection::vec(Just(0u64), 0..5)]
    }

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn a_column_is_read_as_it_was(numbers in column(), from in 0usize..300, to in 0usize..300) {
            let mut bytes = Vec::new();
            encode(&numbers, &mut bytes);
            let others = numbers.iter().filter(|number| **number != 0).count();
            let most = if others == 0 { 0 } else { 8 + others * 10 };
            prop_assert!(bytes.len() <= most);
            let sparse = Sparse::open(&bytes, numbers.len()).expect("sound");
            for row in 0..numbers.len() + 2 {
                prop_assert_eq!(sparse.get(row), numbers.get(row).copied());
            }
            let mut out = vec![9];
            let read = sparse.read(from..to, &mut out);
            match numbers.get(from..to) {
                Some(some) => prop_assert!(read.is_some() && out[1..] == *some),
                None => prop_assert!(read.is_none()),
            }
        }

        #[test]
        fn any_bytes_are_a_column_or_none(
            places in prop::collection::vec(0u16..9, 1..6),
            rest in prop::collection::vec(0u8..3, 0..9),
            rows in 0usize..9,
        ) {
            let mut bytes = [places.len() as u32, 1].map(u32::to_le_bytes).concat();
            places.iter().for_each(|place| bytes.extend(place.to_le_bytes()));
            bytes.extend(&rest);
            let is_sound = places.is_sorted_by(|left, right| left < right)
                && places.iter().all(|place| usize::from(*place) < rows)
                && rest.len() == places.len()
                && rest.iter().all(|number| *number > 0);
            let mut out = Vec::new();
            let read = Sparse::open(&bytes, rows).and_then(|sparse| sparse.read(0..rows, &mut out));
            prop_assert_eq!(read.is_some(), is_sound, "{:?} {:?}", places, rest);
        }
    }
}
