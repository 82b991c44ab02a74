//! Ascending keys in blocks of 128, each an Elias–Fano code of its own: small, and searched without decoding the block.
//!
//! The keys of a block are stored as differences d from its first key. With m keys and the greatest difference r, the lowest
//! l = ⌊log₂(r/m)⌋ bits of each d (0 if r < m) are stored one after the other; the other bits, the *heap* of the key, are in unary: key i
//! with heap h sets bit h + i. All numbers are little-endian; n, the number of keys, is known from elsewhere:
//!
//! | bytes | content |
//! |---|---|
//! | 8, 8 per block | its first key; 64 · (its start in the payload, in words of 8 bytes) + l |
//! | 8 | 64 · (words of the payload) |
//! | | payload: for each block its unary bits, lowest bit first, then its low bits, each filled up to a word |
//!
//! A search finds the block by interpolation, the heap by counting bits in a few words, and compares the low bits of that heap only. The
//! bytes are checked where they are used: invalid ones give [`None`], never a panic or a read elsewhere.
//!
//! **Cost.** log₂(2⁶⁴/n) + about 3.5 bits per key of uniform data, of which 1 is the directory.
//!
//! **Source.** Ottaviano, Venturini 2014, *Partitioned Elias–Fano indexes*, with blocks of one size.

use super::bits::{mask, put_words, Portable, Select};
use crate::memory::prefetch;
use std::ops::Range;

/// Keys of a block.
pub const BLOCK: usize = 128;
/// Bytes of a block in the directory.
const ENTRY: usize = 16;
/// The most words of unary bits: fewer than 3 per key.
const MOST_HIGH: usize = BLOCK * 3 / 64;

/// The most bits of a number that is within eight bytes wherever it starts.
const NARROW: u32 = 57;
/// Bytes of the unary bits of a block of spread keys, about.
const HIGH: usize = 48;
/// The most keys that are decoded one by one before the end of a range is searched for.
const SHORT: usize = 24;

/// Appends the code of ascending keys. REQUIRES: they ascend.
pub fn encode(keys: &[u64], out: &mut Vec<u8>) {
    let mut payload: Vec<u64> = Vec::with_capacity(keys.len());
    for block in keys.chunks(BLOCK) {
        let (first, last) = (block[0], block[block.len() - 1]);
        let range = last.wrapping_sub(first);
        let width = (range / block.len() as u64).checked_ilog2().unwrap_or(0);
        out.extend(first.to_le_bytes());
        out.extend(((payload.len() as u64) << 6 | u64::from(width)).to_le_bytes());
        encode_block(block, first, width, &mut payload);
    }
    out.extend(((payload.len() as u64) << 6).to_le_bytes());
    put_words(&payload, out);
}

fn encode_block(block: &[u64], first: u64, width: u32, payload: &mut Vec<u64>) {
    let heap_of = |key: u64| (key.wrapping_sub(first) >> width) as usize;
    let bits = heap_of(block[block.len() - 1]) + block.len();
    let high = payload.len();
    payload.resize(high + bits.div_ceil(64), 0);
    for (i, key) in block.iter().enumerate() {
        let at = heap_of(*key) + i;
        payload[high + at / 64] |= 1 << (at % 64);
    }
    let (mut open, mut used) = (0u64, 0);
    for key in block.iter().filter(|_| width > 0) {
        let low = key.wrapping_sub(first) & mask(width);
        open |= low << used;
        used += width;
        if used >= 64 {
            payload.push(open);
            used -= 64;
            open = if used == 0 { 0 } else { low >> (width - used) };
        }
    }
    if used > 0 {
        payload.push(open);
    }
}

/// The word at index `i`, or `None` beyond the end.
#[inline(always)]
fn word(bytes: &[u8], i: usize) -> Option<u64> {
    bytes.get(i * 8..)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Encoded keys, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a, S = Portable> {
    bytes: &'a [u8],
    len: usize,
    /// What finds a bit.
    machine: S,
}

/// One block.
struct Block<'a, S> {
    first: u64,
    width: u32,
    len: usize,
    /// The unary bits, as words.
    high: &'a [u8],
    /// The low bits, and what follows them.
    low: &'a [u8],
    machine: S,
}

impl<'a> Keys<'a> {
    /// Opens `len` keys in O(1). Returns `None` if the bytes cannot be the code of so many keys.
    #[inline]
    pub fn open(bytes: &'a [u8], len: usize) -> Option<Self> {
        let blocks = len.div_ceil(BLOCK);
        let payload = usize::try_from(word(bytes, blocks * 2)? >> 6).ok()?;
        let length = blocks.checked_mul(ENTRY)?.checked_add(8)?.checked_add(payload.checked_mul(8)?)?;
        (length == bytes.len()).then_some(Self { bytes, len, machine: Portable })
    }
}

impl<'a, S: Select> Keys<'a, S> {
    /// Opens `len` keys at the beginning of the bytes, without looking at them. Every access stays inside the bytes.
    #[inline(always)]
    pub fn inside(bytes: &'a [u8], len: usize, machine: S) -> Self {
        Self { bytes, len, machine }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }

    #[inline(always)]
    fn first(&self, block: usize) -> Option<u64> {
        word(self.bytes, block * 2)
    }

    #[inline(always)]
    fn block(&self, block: usize) -> Option<Block<'a, S>> {
        let (first, entry) = (self.first(block)?, word(self.bytes, block * 2 + 1)?);
        // After the last block, the entry is the word that ends the directory.
        let next = if block + 1 == self.blocks() { block * 2 + 2 } else { block * 2 + 3 };
        let (start, end) = ((entry >> 6) as usize, (word(self.bytes, next)? >> 6) as usize);
        let (width, len) = ((entry & 63) as u32, (self.len - block * BLOCK).min(BLOCK));
        let low = (len * width as usize).div_ceil(64);
        let high = end.checked_sub(start)?.checked_sub(low).filter(|high| (1..=MOST_HIGH).contains(high))?;
        let at = self.blocks() * ENTRY + 8 + start * 8;
        let rest = self.bytes.get(at..)?;
        let (high, low) = rest.split_at_checked(high * 8)?;
        Some(Block { first, width, len, high, low, machine: self.machine })
    }

    /// Prefetches what a search for a key reads if keys are spread evenly from `from` to `to` and nothing follows them: the entry of
    /// its block, the unary bits, and the low bits around it.
    #[inline(always)]
    pub fn hint(&self, key: u64, from: u64, to: u64) {
        let (place, blocks) = (self.place(key, from, to), self.blocks());
        let block = (place as usize).min(blocks.saturating_sub(1));
        prefetch(self.bytes, block * ENTRY);
        let payload = blocks * ENTRY + 8;
        let size = self.bytes.len().saturating_sub(payload) / blocks.max(1);
        let start = payload + block * size;
        prefetch(self.bytes, start);
        let low = start + HIGH + ((place - block as f64) * size.saturating_sub(HIGH) as f64) as usize;
        prefetch(self.bytes, low.saturating_sub(32));
        prefetch(self.bytes, low + 32);
    }

    /// The number of a key's block, with a fraction, if keys are spread evenly. In floating-point numbers: a whole division takes several
    /// times as long, and a guess need not be exact.
    #[inline(always)]
    fn place(&self, key: u64, from: u64, to: u64) -> f64 {
        let share = key.saturating_sub(from) as f64 / (to.saturating_sub(from) as f64 + 1.0);
        share * self.blocks() as f64
    }

    #[inline(always)]
    fn guess(&self, key: u64, from: u64, to: u64) -> usize {
        (self.place(key, from, to) as usize).min(self.blocks().saturating_sub(1))
    }

    /// Returns the last block whose first key is below `key`, or 0, starting from a guess.
    #[inline(always)]
    fn locate(&self, key: u64, from: u64, to: u64) -> Option<usize> {
        let mut block = self.guess(key, from, to);
        while block > 0 && self.first(block)? >= key {
            block -= 1;
        }
        while block + 1 < self.blocks() && self.first(block + 1)? < key {
            block += 1;
        }
        Some(block)
    }

    /// Returns the number of keys below `key`. `from` and `to` are the bounds between which keys are taken to be spread, which matters
    /// for speed only. Returns `None` if the bytes are damaged.
    #[inline(always)]
    pub fn below(&self, key: u64, from: u64, to: u64) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let number = self.locate(key, from, to)?;
        Some(number * BLOCK + self.block(number)?.below(key)?)
    }

    /// Returns the positions of the keys from `low` to `high`, both included. Returns `None` if the bytes are damaged.
    #[inline(always)]
    pub fn between(&self, low: u64, high: u64, from: u64, to: u64) -> Option<Range<usize>> {
        self.between_with((low, high), (from, to), |_| {}).map(|(found, _)| found)
    }

    /// As [`Self::between`], and calls `seen` with these keys. Also returns whether `seen` got all of them; not if they are many, or in
    /// several blocks.
    #[inline(always)]
    pub fn between_with(
        &self,
        (low, high): (u64, u64),
        (from, to): (u64, u64),
        seen: impl FnMut(u64),
    ) -> Option<(Range<usize>, bool)> {
        if self.is_empty() || low > high {
            return Some((self.len..self.len, true));
        }
        let number = self.locate(low, from, to)?;
        let block = self.block(number)?;
        let (found, is_short) = block.between(low, high, seen)?;
        let start = number * BLOCK + found.start;
        // Most ranges are short and end in the same block.
        if is_short && (found.end < block.len || number + 1 == self.blocks()) {
            return Some((start..number * BLOCK + found.end, true));
        }
        let end = high.checked_add(1).map_or(Some(self.len), |next| self.below(next, from, to))?;
        Some((start..end.max(start), false))
    }

    /// Returns key number `i`, or `None` if there is none or the bytes are damaged.
    #[inline]
    pub fn get(&self, i: usize) -> Option<u64> {
        let mut found = None;
        self.read(i..i.checked_add(1)?, &mut |_, keys| found = keys.first().copied())?;
        found
    }

    /// Calls `seen` with the keys at `rows`, at most [`BLOCK`] at a time, each with the position of its first key. Positions beyond the
    /// end are skipped. Returns `None` if the bytes are damaged; the keys passed before are those that the bytes say.
    #[inline(always)]
    pub fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) -> Option<()> {
        let (mut at, end) = (rows.start, rows.end.min(self.len));
        let mut out = [0; BLOCK];
        while at < end {
            let number = at / BLOCK;
            let wanted = at % BLOCK..(end - number * BLOCK).min(BLOCK);
            let count = wanted.len();
            self.block(number)?.read(wanted, &mut out)?;
            seen(at, &out[..count]);
            at += count;
        }
        Some(())
    }
}

impl<S: Select> Block<'_, S> {
    /// Returns the position of zero number `j` among the unary bits; `None` if there are not so many.
    #[inline(always)]
    fn zero(&self, j: usize) -> Option<usize> {
        self.select(j, u64::MAX)
    }

    /// Returns the position of set bit number `j` after exclusive or with `flip`.
    #[inline(always)]
    fn select(&self, j: usize, flip: u64) -> Option<usize> {
        let mut left = j as u32;
        for (i, chunk) in self.high.chunks_exact(8).enumerate() {
            let bits = u64::from_le_bytes(*chunk.first_chunk()?) ^ flip;
            let count = bits.count_ones();
            if left < count {
                return Some(i * 64 + self.machine.one(bits, left) as usize);
            }
            left -= count;
        }
        None
    }

    #[inline(always)]
    fn low(&self, i: usize) -> Option<u64> {
        if self.width == 0 {
            return Some(0);
        }
        let bit = i * self.width as usize;
        // Up to this width, eight bytes contain a number and the bits before it in its first byte: one load and no branch.
        if self.width <= NARROW {
            if let Some(chunk) = self.low.get(bit / 8..).and_then(|rest| rest.first_chunk()) {
                return Some(u64::from_le_bytes(*chunk) >> (bit % 8) & mask(self.width));
            }
        }
        let (at, shift) = (bit / 64, (bit % 64) as u32);
        let low = word(self.low, at)? >> shift;
        // The second word is needed only if the number crosses into it.
        let high = if shift + self.width > 64 { word(self.low, at + 1)? << (64 - shift) } else { 0 };
        Some((low | high) & mask(self.width))
    }

    /// Returns whether the unary bit at a position is set; not beyond the end.
    #[inline(always)]
    fn is_one(&self, at: usize) -> bool {
        self.high.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// Returns the position of the unary bit of the first key of a heap or a later one, and how many keys are before; nothing if the
    /// block ends before.
    #[inline(always)]
    fn start(&self, heap: u64) -> Option<Option<(usize, usize)>> {
        if heap == 0 {
            return Some(Some((0, 0)));
        }
        let heap = usize::try_from(heap).ok().filter(|heap| *heap <= MOST_HIGH * 64);
        // The keys of the heap begin after the zero that ends the heap before it.
        let Some((heap, zero)) = heap.and_then(|heap| Some((heap, self.zero(heap - 1)?))) else { return Some(None) };
        let before = (zero + 1).checked_sub(heap)?;
        // Bits that a forger has set behind those of the last key belong to no key.
        Some((before <= self.len).then_some((zero + 1, before)))
    }

    /// Returns the number of keys below `key`.
    #[inline(always)]
    fn below(&self, key: u64) -> Option<usize> {
        let Some(difference) = key.checked_sub(self.first) else { return Some(0) };
        let Some((mut at, mut i)) = self.start(difference >> self.width)? else { return Some(self.len) };
        let wanted = difference & mask(self.width);
        while i < self.len && self.is_one(at) && self.low(i)? < wanted {
            (i, at) = (i + 1, at + 1);
        }
        Some(i)
    }

    /// Returns the positions of the keys from `low` to `high`, calls `seen` with these keys, and returns whether there are no more than
    /// [`SHORT`]; otherwise the positions end too early.
    #[inline(always)]
    fn between(&self, low: u64, high: u64, mut seen: impl FnMut(u64)) -> Option<(Range<usize>, bool)> {
        let Some((at, mut i)) = self.start(low.saturating_sub(self.first) >> self.width)? else {
            return Some((self.len..self.len, true));
        };
        let (mut chunk, mut start) = (at / 64, i);
        let mut bits = word(self.high, chunk).unwrap_or(0) & (u64::MAX << (at % 64));
        while i < self.len {
            while bits == 0 {
                chunk += 1;
                bits = if chunk * 8 < self.high.len() { word(self.high, chunk)? } else { return None };
            }
            let heap = (chunk * 64 + bits.trailing_zeros() as usize).checked_sub(i)? as u64;
            let key = self.first.wrapping_add(heap << self.width | self.low(i)?);
            if key > high || i - start == SHORT {
                return Some((start..i, key > high));
            }
            (i, bits) = (i + 1, bits & (bits - 1));
            match key < low {
                true => start = i,
                false => seen(key),
            }
        }
        Some((start..i, true))
    }

    /// Writes the keys at positions of the block to the front of `out`.
    #[inline(always)]
    fn read(&self, wanted: Range<usize>, out: &mut [u64; BLOCK]) -> Option<()> {
        let at = self.select(wanted.start, 0)?;
        let (mut chunk, mut i) = (at / 64, wanted.start);
        let mut bits = word(self.high, chunk)? & (u64::MAX << (at % 64));
        for key in out.iter_mut().take(wanted.len()) {
            while bits == 0 {
                chunk += 1;
                bits = if chunk * 8 < self.high.len() { word(self.high, chunk)? } else { return None };
            }
            let heap = (chunk * 64 + bits.trailing_zeros() as usize).checked_sub(i)? as u64;
            bits &= bits - 1;
            *key = self.first.wrapping_add(heap << self.width | self.low(i)?);
            i += 1;
        }
        Some(())
    }
}
