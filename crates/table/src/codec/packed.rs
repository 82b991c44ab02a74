//! Packs columns for files in blocks of 128 numbers; all numbers of a block have the width of its largest.
//!
//! An ascending column packs the difference of each value from its predecessor ([`Order::Ascending`]). Any other column packs the
//! difference from the smallest value of the block ([`Order::Any`]). All numbers are little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | n, the number of values |
//! | 8 per block | base: the last value of the previous block (0 for the first), or the smallest value of the block |
//! | 4 per block, and 4 | start of the block in the payload, in units of 16 bytes; its width in bits is the difference to the next |
//! | 0 or 4 | zeros up to a multiple of 8 |
//! | 16 · width per block | payload: 128 numbers of `width` bits, lowest bit first; the last block is padded with zeros |
//! | 16 | zeros, so that a whole word can be read anywhere in the payload |
//!
//! The bases are the directory. Interpolation finds a block of spread values in a few steps; doubling steps find one of any values.
//! Blocks are decoded on demand, so a column can be read from mapped bytes. The bytes are checked where they are used: invalid ones
//! give [`None`], never a panic or a read elsewhere.
//!
//! **Cost.** About 2.3 bits per value above the entropy of uniform data, of which 0.75 are the directory; written in one pass.
//!
//! **Source.** Zukowski, Héman, Nes, Boncz 2006, *Super-scalar RAM-CPU cache compression*, without exceptions; Lemire, Boytsov 2015.

use super::bits::{mask, put_words, width_of, Writer};
use std::ops::Range;

/// Numbers of a block.
pub const BLOCK: usize = 128;
/// Bytes of a block per bit of width.
const UNIT: usize = BLOCK / 8;
/// Up to so many values are read one by one: decoding a block takes longer.
const FEW: usize = 8;
/// Zeros after the payload.
const SLACK: usize = 16;
/// Bytes before the directory.
const HEADER: usize = 8;

/// The order of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The values ascend, equal ones included.
    Ascending,
    /// The values are in any order.
    Any,
}

/// The bytes that contain a column; an implementation may verify them before they are read.
pub trait Source {
    /// Returns the bytes of a range, or `None` if it is out of bounds or known to be damaged.
    fn bytes(&self, range: Range<usize>) -> Option<&[u8]>;
}

impl<T: AsRef<[u8]>> Source for T {
    #[inline(always)]
    fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        self.as_ref().get(range)
    }
}

/// Packs a column. REQUIRES: values of [`Order::Ascending`] ascend; there are fewer than 2^32.
pub fn pack(values: &[u64], order: Order) -> Vec<u8> {
    let blocks = values.len().div_ceil(BLOCK);
    let (mut bases, mut starts, mut payload) = (Vec::with_capacity(blocks), vec![0u32], Writer::default());
    let mut before = 0;
    for block in values.chunks(BLOCK) {
        let base = match order {
            Order::Ascending => before,
            Order::Any => block.iter().copied().min().unwrap_or(0),
        };
        before = block.last().copied().unwrap_or(before);
        let mut numbers = [0; BLOCK];
        lower(block, base, order, &mut numbers);
        let width = width_of(numbers.iter().fold(0, |all, number| all | number));
        // A block fills whole words: 128 numbers take 2 words per bit of width.
        numbers.iter().for_each(|number| payload.push(*number, width));
        bases.push(base);
        starts.push((payload.len() / BLOCK) as u32);
    }
    let payload = payload.into_bytes();
    let mut out = Vec::with_capacity(HEADER + blocks * 12 + 8 + payload.len() + SLACK);
    out.extend((values.len() as u64).to_le_bytes());
    put_words(&bases, &mut out);
    starts.iter().for_each(|start| out.extend_from_slice(&start.to_le_bytes()));
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend_from_slice(&payload);
    out.resize(out.len() + SLACK, 0);
    out
}

/// Computes the numbers of a block to pack.
fn lower(block: &[u64], base: u64, order: Order, numbers: &mut [u64; BLOCK]) {
    let mut before = base;
    for (number, value) in numbers.iter_mut().zip(block) {
        *number = value.wrapping_sub(before);
        before = if order == Order::Ascending { *value } else { base };
    }
}

/// A packed column, read in place.
#[derive(Clone, Debug)]
pub struct Packed<S> {
    source: S,
    order: Order,
    /// Its start in the source.
    at: usize,
    len: usize,
    /// The start of the payload in the source.
    payload: usize,
}

/// A decoded block.
pub type Block = [u64; BLOCK];

impl<S: Source> Packed<S> {
    /// Opens the column in these bytes of the source, in O(1). Returns `None` if they are not a column of that length.
    pub fn open(source: S, range: Range<usize>, order: Order) -> Option<Self> {
        let at = range.start;
        let n = u64::from_le_bytes(*source.bytes(at..at.checked_add(HEADER)?)?.first_chunk()?);
        let len = usize::try_from(n).ok().filter(|len| *len < 1 << 32)?;
        let blocks = len.div_ceil(BLOCK);
        let payload = at + (HEADER + blocks * 12 + 4).next_multiple_of(8);
        let column = Self { source, order, at, len, payload };
        let units = column.start(blocks)?;
        (payload + units * UNIT + SLACK == range.end).then_some(column)
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Returns the bytes of the column.
    pub fn bytes(&self) -> usize {
        self.payload - self.at + self.start(self.blocks()).unwrap_or(0) * UNIT + SLACK
    }

    fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }

    #[inline(always)]
    fn base(&self, block: usize) -> Option<u64> {
        let at = self.at + HEADER + block * 8;
        Some(u64::from_le_bytes(*self.source.bytes(at..at + 8)?.first_chunk()?))
    }

    #[inline(always)]
    fn start(&self, block: usize) -> Option<usize> {
        let at = self.at + HEADER + self.blocks() * 8 + block * 4;
        Some(u32::from_le_bytes(*self.source.bytes(at..at + 4)?.first_chunk()?) as usize)
    }

    /// Returns the payload of a block with the slack after it, and its width.
    #[inline(always)]
    fn packed(&self, block: usize) -> Option<(&[u8], u32)> {
        let (start, end) = (self.start(block)?, self.start(block + 1)?);
        let width = end.checked_sub(start).filter(|width| *width <= 64)?;
        let at = self.payload + start * UNIT;
        Some((self.source.bytes(at..at + width * UNIT + SLACK)?, width as u32))
    }

    /// Decodes a block and returns how many of its values belong to the column. Returns `None` if the bytes are damaged.
    #[inline]
    pub fn block(&self, block: usize, out: &mut Block) -> Option<usize> {
        if block >= self.blocks() {
            return None;
        }
        let (bytes, width) = self.packed(block)?;
        unpack(bytes, width, out);
        let mut value = self.base(block)?;
        match self.order {
            Order::Ascending => out.iter_mut().for_each(|number| {
                value = value.wrapping_add(*number);
                *number = value;
            }),
            Order::Any => out.iter_mut().for_each(|number| *number = number.wrapping_add(value)),
        }
        Some((self.len - block * BLOCK).min(BLOCK))
    }

    /// Returns value number `i`, or `None` if there is none or the bytes are damaged.
    pub fn get(&self, i: usize) -> Option<u64> {
        if i >= self.len {
            return None;
        }
        if self.order == Order::Ascending {
            let mut out = [0; BLOCK];
            self.block(i / BLOCK, &mut out)?;
            return Some(out[i % BLOCK]);
        }
        let (bytes, width) = self.packed(i / BLOCK)?;
        let number = number_at(bytes, i % BLOCK * width as usize)? & mask(width);
        Some(self.base(i / BLOCK)?.wrapping_add(number))
    }

    /// Returns the positions of all values from `low` to `high`, both included, or `None` if the bytes are damaged.
    /// REQUIRES: [`Order::Ascending`].
    pub fn rows(&self, low: u64, high: u64) -> Option<Range<usize>> {
        if self.is_empty() || low > high {
            return Some(self.len..self.len);
        }
        let mut out = [0; BLOCK];
        let block = self.locate(low)?;
        let values = self.values(block, &mut out)?;
        let start = block * BLOCK + values.partition_point(|value| *value < low);
        let to = values.partition_point(|value| *value <= high);
        if to < values.len() || block + 1 == self.blocks() {
            return Some(start..block * BLOCK + to);
        }
        let Some(next) = high.checked_add(1) else { return Some(start..self.len) };
        let block = self.locate(next)?;
        let to = self.values(block, &mut out)?.partition_point(|value| *value < next);
        Some(start..block * BLOCK + to)
    }

    /// Returns the values of a block, or `None` if the bytes are damaged.
    fn values<'a>(&self, block: usize, out: &'a mut Block) -> Option<&'a [u64]> {
        let count = self.block(block, out)?;
        out.get(..count)
    }

    /// Calls `seen` with the values at `rows`, block by block, each with the position of its first value. Positions beyond the end are
    /// skipped. Returns `None` if the bytes are damaged; the values passed before are correct.
    pub fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) -> Option<()> {
        let (mut at, end) = (rows.start, rows.end.min(self.len));
        if self.order == Order::Any && end.saturating_sub(at) <= FEW {
            return (at..end).try_for_each(|i| self.get(i).map(|value| seen(i, &[value])));
        }
        let mut out = [0; BLOCK];
        while at < end {
            let block = at / BLOCK;
            let to = (end - block * BLOCK).min(BLOCK);
            let values = self.values(block, &mut out)?;
            seen(at, values.get(at % BLOCK..to)?);
            at = (block + 1) * BLOCK;
        }
        Some(())
    }

    /// Returns the first block that may hold values ≥ `low`: the last one with a lower base, or the first.
    fn locate(&self, low: u64) -> Option<usize> {
        let blocks = self.blocks();
        let is_before = |block: usize| Some(self.base(block)? < low);
        let top = self.base(blocks - 1)?;
        // The block if values were spread evenly up to the last base.
        let guess = (u128::from(low) * blocks as u128 / (u128::from(top) + 1)).min(blocks as u128 - 1) as usize;
        let (mut from, mut to) = (guess, guess + 1);
        let mut step = 1;
        // Afterwards the wanted block is in from..to: base(from) is lower, or from is 0; base(to) is not, or to is the end.
        if from == 0 || is_before(from)? {
            while to < blocks && is_before(to)? {
                (from, to, step) = (to, (to + step).min(blocks), step * 2);
            }
        } else {
            while from > 0 && !is_before(from)? {
                (to, from, step) = (from, from.saturating_sub(step), step * 2);
            }
        }
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            match is_before(middle)? {
                true => from = middle,
                false => to = middle,
            }
        }
        Some(from)
    }

    /// Appends all values. Returns `None` if the bytes are damaged.
    pub fn decode(&self, out: &mut Vec<u64>) -> Option<()> {
        // `open` compared the length with the size of the source, so it is not too large.
        out.reserve(self.len);
        let mut values = [0; BLOCK];
        for block in 0..self.blocks() {
            let count = self.block(block, &mut values)?;
            out.extend_from_slice(&values[..count]);
        }
        Some(())
    }
}

/// Returns the 64 bits from bit `at` on.
#[inline(always)]
fn number_at(bytes: &[u8], at: usize) -> Option<u64> {
    let chunk: &[u8; 16] = bytes.get(at / 8..)?.first_chunk()?;
    Some((u128::from_le_bytes(*chunk) >> (at % 8)) as u64)
}

/// Unpacks 128 numbers. REQUIRES: 16 bytes per bit of width and the slack; with fewer, all numbers are zero.
fn unpack(bytes: &[u8], width: u32, out: &mut Block) {
    if bytes.len() < width as usize * UNIT + SLACK {
        out.fill(0);
        return;
    }
    // Up to this width, eight bytes contain a number and the bits before it in its first byte.
    const NARROW: u32 = 57;
    // Eight numbers take `width` bytes, so the positions within each group of eight are the same.
    let place = |j: usize| (j * width as usize / 8, (j * width as usize % 8) as u32);
    let places: [(usize, u32); 8] = std::array::from_fn(place);
    for (group, numbers) in out.chunks_exact_mut(8).enumerate() {
        let bytes = &bytes[group * width as usize..];
        for (number, (byte, shift)) in numbers.iter_mut().zip(places) {
            *number = match width <= NARROW {
                true => {
                    bytes.get(byte..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b)) >> shift
                }
                false => number_at(bytes, byte * 8 + shift as usize).unwrap_or(0),
            } & mask(width);
        }
    }
}
