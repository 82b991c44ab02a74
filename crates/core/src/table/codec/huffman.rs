//! The block code of the paper, for comparison: exclusive-or with the predecessor, its highest bit by a Huffman code.
//!
//! **Definition** (Manku, Jain, Das Sarma 2007, §3.2). Of two successive fingerprints let h be the position of the highest bit in which
//! they differ. A canonical Huffman code over h is made for the column. A block of B bytes, 1024 by default, remembers its first fingerprint
//! entirely; then, for each next one, the code of h and the h bits below it, as long as they fit. The key of a block is the last
//! fingerprint in it; interpolation search on the keys finds the block to decode. The paper has no code for equal fingerprints, which
//! differ nowhere: they are a symbol of their own here, with no bits below.
//!
//! Blocks are filled to B bytes, so that they need no directory; how many values a block holds is 2 bytes, where the paper is silent.
//! Everything else that the size counts is the paper's: keys are 8 bytes a block.
//!
//! **Cost.** About 2.6 bits a value above the entropy of uniform data, 0.6 of them first values, keys and the ends of blocks; decoded bit by
//! bit, a tenth as fast as `packed.rs`, which needs no more room: so nothing but a comparison uses this.

use super::bits::{mask, Reader, Writer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The paper's block: "a typical value for B would be 1024 bytes".
pub const BLOCK_BYTES: usize = 1024;
/// The smallest block that holds a first value, the count and any second value.
const LEAST_BYTES: usize = 64;
/// Symbols: the positions 0 … 63, then "no difference".
const SYMBOLS: usize = 65;
const EQUAL: usize = 64;
/// The longest code: 65 symbols have none longer.
const LONGEST: usize = 64;
/// Bits of a block before its first value: how many values it holds.
const COUNT_BITS: u32 = 16;

/// A code: for each symbol its length in bits, and how lengths are decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Code {
    /// 0 for symbols that do not occur.
    lengths: [u8; SYMBOLS],
    /// The code of a symbol, its first bit highest.
    codes: [u64; SYMBOLS],
    /// By length: the first code of that length, how many there are, and where their symbols begin in `order`.
    first: [u64; LONGEST + 1],
    count: [usize; LONGEST + 1],
    start: [usize; LONGEST + 1],
    order: Vec<u8>,
}

impl Code {
    /// The canonical code of lengths: shorter ones first, equal ones in the order of their symbols.
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

    /// Appends a symbol, the first bit of its code first.
    fn push(&self, symbol: usize, out: &mut Writer) {
        let length = u32::from(self.lengths[symbol]);
        out.push(self.codes[symbol].reverse_bits() >> (64 - length.max(1)), length);
    }

    /// Reads a symbol. Nothing: no code begins so.
    fn take(&self, bits: &mut Reader<'_>) -> Option<usize> {
        let (mut code, mut word) = (0, bits.peek());
        for length in 1..=LONGEST {
            if length == 57 {
                // What is left of a code longer than a peek shows; only a column of wildly unlike counts has one.
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

/// Lengths of a Huffman code: two rarest put together until one is left.
fn lengths(counts: &[u64; SYMBOLS]) -> [u8; SYMBOLS] {
    let mut heap: BinaryHeap<Reverse<(u64, usize, Vec<usize>)>> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(symbol, count)| Reverse((*count, symbol, vec![symbol])))
        .collect();
    let mut lengths = [0; SYMBOLS];
    if let (1, Some(Reverse((_, symbol, _)))) = (heap.len(), heap.peek()) {
        // A single symbol still takes a bit.
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

/// The symbol of two successive values.
fn symbol(before: u64, value: u64) -> usize {
    (before ^ value).checked_ilog2().map_or(EQUAL, |position| position as usize)
}

/// How many bits stand below the position of a symbol.
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
    /// `block_bytes` each.
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

    /// Fills one block from the front of the values; how many it took.
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

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes: blocks, keys, and a length for each symbol of the code.
    pub fn bytes(&self) -> usize {
        self.blocks.len() + self.keys.len() * 8 + SYMBOLS
    }

    /// Decodes a block. Nothing: its bits are damaged, or there is none.
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
                // The bits above are those of the predecessor, the highest that differs is the other one.
                value = (value ^ 1 << width) & !mask(width) | bits.take(width);
            }
            out.push(value);
        }
        (bits.at() <= bytes.len() * 8).then_some(())
    }

    /// Appends all values. Nothing: bits are damaged.
    pub fn decode(&self, out: &mut Vec<u64>) -> Option<()> {
        (0..self.keys.len()).try_for_each(|block| self.block(block, out))
    }

    /// All values from `low` to `high`, both included, in ascending order. Nothing: bits are damaged.
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

    /// The first block whose key is ≥ `low`: interpolation search, a halving step after each, so that no column takes long.
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
