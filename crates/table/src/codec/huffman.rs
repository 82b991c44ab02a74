//! The block code of the paper: XOR with the predecessor, and a Huffman code for the position of its highest bit.
//!
//! **Definition** (Manku, Jain, Das Sarma 2007, §3.2). For two successive fingerprints, let h be the position of the highest bit in
//! which they differ. The column has one canonical Huffman code over h. A block of B bytes, 1024 by default, stores its first
//! fingerprint in full, then for each next one the code of h and the h bits below it, while they fit. The key of a block is its last
//! fingerprint; interpolation search on the keys finds the block to decode. The paper has no code for equal fingerprints; here they
//! are a separate symbol with no bits below.
//!
//! Blocks are padded to B bytes, so they need no directory. The number of values of a block takes 2 bytes, which the paper does not
//! mention. Keys take 8 bytes per block, as in the paper.
//!
//! **Cost.** About 2.6 bits per value above the entropy of uniform data; 0.6 of them are first values, keys and padding. It is decoded
//! bit by bit, at less than a tenth of the speed of `packed.rs`, which is no larger. So only `lookalike lab compression` uses it.

use super::bits::{mask, Reader, Writer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The paper's block: "a typical value for B would be 1024 bytes".
pub const BLOCK_BYTES: usize = 1024;
/// The smallest block, which holds the count, a first value and any second value.
const LEAST_BYTES: usize = 64;
/// The number of symbols: the positions 0 … 63, and "no difference".
const SYMBOLS: usize = 65;
const EQUAL: usize = 64;
/// The longest possible code of 65 symbols.
const LONGEST: usize = 64;
/// Bits of a block before its first value: the number of its values.
const COUNT_BITS: u32 = 16;

/// A canonical Huffman code with its decoding tables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Code {
    /// The length of each code in bits; 0 for symbols that do not occur.
    lengths: [u8; SYMBOLS],
    /// The code of each symbol, its first bit highest.
    codes: [u64; SYMBOLS],
    /// For each length: its first code, the number of its codes, and the start of their symbols in `order`.
    first: [u64; LONGEST + 1],
    count: [usize; LONGEST + 1],
    start: [usize; LONGEST + 1],
    order: Vec<u8>,
}

impl Code {
    /// Makes the canonical code of these lengths: shorter codes first, equal lengths in the order of their symbols.
    fn new(lengths: [u8; SYMBOLS]) -> Self {
        let mut order: Vec<u8> = (0..SYMBOLS as u8).filter(|symbol| lengths[usize::from(*symbol)] > 0).collect();
        order.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        let mut count = [0; LONGEST + 1];
        lengths.iter().filter(|length| **length > 0).for_each(|length| count[usize::from(*length)] += 1);
        let (mut first, mut start) = ([0u64; LONGEST + 1], [0; LONGEST + 1]);
        for length in 1..=LONGEST {
            first[length] = (first[length - 1].wrapping_add(count[length - 1] as u64)) << 1;
            start[length] = start[length - 1] + count[length - 1];
        }
        let mut codes = [0; SYMBOLS];
        for (i, symbol) in order.iter().enumerate() {
            let length = usize::from(lengths[usize::from(*symbol)]);
            codes[usize::from(*symbol)] = first[length].wrapping_add((i - start[length]) as u64);
        }
        Self { lengths, codes, first, count, start, order }
    }

    /// Appends the code of a symbol, its first bit first.
    fn push(&self, symbol: usize, out: &mut Writer) {
        let length = u32::from(self.lengths[symbol]);
        out.push(self.codes[symbol].reverse_bits() >> (64 - length.max(1)), length);
    }

    /// Reads a symbol. Returns `None` if the bits are no code.
    fn take(&self, bits: &mut Reader<'_>) -> Option<usize> {
        let (mut code, mut word) = (0, bits.peek());
        for length in 1..=LONGEST {
            if length == 57 {
                // The rest of a code that is longer than one peek; only very uneven counts give such codes.
                bits.skip(56);
                word = bits.peek();
            }
            code = code << 1 | (word & 1);
            word >>= 1;
            let place = code.wrapping_sub(self.first[length]);
            if code >= self.first[length] && place < self.count[length] as u64 {
                bits.skip(if length > 56 { length - 56 } else { length } as u32);
                return self.order.get(self.start[length] + place as usize).map(|symbol| usize::from(*symbol));
            }
        }
        None
    }
}

/// Returns the lengths of a Huffman code: joins the two rarest groups until one is left.
fn lengths(counts: &[u64; SYMBOLS]) -> [u8; SYMBOLS] {
    let mut heap: BinaryHeap<Reverse<(u64, usize, Vec<usize>)>> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(symbol, count)| Reverse((*count, symbol, vec![symbol])))
        .collect();
    let mut lengths = [0; SYMBOLS];
    if let (1, Some(Reverse((_, symbol, _)))) = (heap.len(), heap.peek()) {
        // A single symbol still takes one bit.
        lengths[*symbol] = 1;
    }
    while let (Some(Reverse(one)), Some(Reverse(other))) = (heap.pop(), heap.pop()) {
        let symbols = [one.2, other.2].concat();
        symbols.iter().for_each(|symbol| lengths[*symbol] += 1);
        heap.push(Reverse((one.0.saturating_add(other.0), one.1.min(other.1), symbols)));
        if heap.len() == 1 {
            break;
        }
    }
    lengths
}

/// Returns the symbol of two successive values.
fn symbol(before: u64, value: u64) -> usize {
    (before ^ value).checked_ilog2().map_or(EQUAL, |position| position as usize)
}

/// Returns how many bits are stored after a symbol.
fn bits_below(symbol: usize) -> u32 {
    if symbol == EQUAL {
        0
    } else {
        symbol as u32
    }
}

/// A column in the paper's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Huffman {
    code: Code,
    block_bytes: usize,
    len: usize,
    /// All blocks, each of `block_bytes`.
    blocks: Vec<u8>,
    /// The last value of each block.
    keys: Vec<u64>,
}

impl Huffman {
    /// Encodes a column in blocks of `block_bytes`, at least 64 and at most 8 KiB. REQUIRES: the values ascend.
    pub fn new(values: &[u64], block_bytes: usize) -> Self {
        let block_bytes = block_bytes.clamp(LEAST_BYTES, 8 << 10);
        let mut counts = [0; SYMBOLS];
        values.windows(2).for_each(|pair| counts[symbol(pair[0], pair[1])] += 1);
        let code = Code::new(lengths(&counts));
        let mut column = Self { code, block_bytes, len: values.len(), blocks: Vec::new(), keys: Vec::new() };
        let mut rest = values;
        while !rest.is_empty() {
            let taken = column.fill(rest);
            rest = &rest[taken..];
        }
        column
    }

    /// Fills one block from the front of the values and returns how many it took.
    fn fill(&mut self, values: &[u64]) -> usize {
        let mut bits = Writer::default();
        let mut before = values[0];
        bits.push(before, 64);
        let (mut taken, room) = (1, self.block_bytes * 8 - COUNT_BITS as usize);
        for value in &values[1..] {
            let symbol = symbol(before, *value);
            let width = bits_below(symbol);
            if bits.len() + usize::from(self.code.lengths[symbol]) + width as usize > room
                || taken == mask(COUNT_BITS) as usize
            {
                break;
            }
            self.code.push(symbol, &mut bits);
            bits.push(*value, width);
            (taken, before) = (taken + 1, *value);
        }
        let end = self.blocks.len() + self.block_bytes;
        self.blocks.extend((taken as u16).to_le_bytes());
        self.blocks.extend(bits.into_bytes());
        self.blocks.resize(end, 0);
        self.keys.push(before);
        taken
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the size in bytes: blocks, keys, and one length per symbol of the code.
    pub fn bytes(&self) -> usize {
        self.blocks.len() + self.keys.len() * 8 + SYMBOLS
    }

    /// Decodes a block. Returns `None` if its bits are damaged or there is no such block.
    fn block(&self, block: usize, out: &mut Vec<u64>) -> Option<()> {
        let bytes = self.blocks.get(block * self.block_bytes..)?.get(..self.block_bytes)?;
        let mut bits = Reader::new(bytes);
        let count = bits.take(COUNT_BITS);
        let mut value = bits.take(64);
        out.push(value);
        for _ in 1..count {
            let symbol = self.code.take(&mut bits)?;
            if symbol != EQUAL {
                let width = bits_below(symbol);
                // The bits above are those of the predecessor, and the highest differing bit is flipped.
                value = (value ^ 1 << width) & !mask(width) | bits.take(width);
            }
            out.push(value);
        }
        (bits.at() <= bytes.len() * 8).then_some(())
    }

    /// Appends all values. Returns `None` if bits are damaged.
    pub fn decode(&self, out: &mut Vec<u64>) -> Option<()> {
        (0..self.keys.len()).try_for_each(|block| self.block(block, out))
    }

    /// Calls `found` with all values from `low` to `high`, both included, in ascending order. Returns `None` if bits are damaged.
    pub fn visit(&self, low: u64, high: u64, mut found: impl FnMut(u64)) -> Option<()> {
        let mut values = Vec::new();
        for block in self.locate(low)..self.keys.len() {
            values.clear();
            self.block(block, &mut values)?;
            values.iter().filter(|value| (low..=high).contains(*value)).for_each(|value| found(*value));
            if self.keys[block] > high {
                break;
            }
        }
        Some(())
    }

    /// Returns the first block whose key is ≥ `low`, by interpolation search. A halving step after each bounds the cost.
    fn locate(&self, low: u64) -> usize {
        // Keys before `from` are lower, keys from `to` on are not.
        let (mut from, mut to) = (0, self.keys.len());
        while from < to {
            let (first, last) = (self.keys[from], self.keys[to - 1]);
            if low <= first {
                return from;
            }
            if low > last {
                return to;
            }
            let share = u128::from(low - first) * (to - 1 - from) as u128 / u128::from((last - first).max(1));
            for at in [from + share as usize, from + (to - from) / 2] {
                match self.keys.get(at) {
                    Some(key) if (from..to).contains(&at) && *key < low => from = at + 1,
                    Some(_) if (from..to).contains(&at) => to = at,
                    _ => {}
                }
            }
        }
        from
    }
}
