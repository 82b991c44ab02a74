//! Elias–Fano: a compressed sorted column in memory that is decoded only where it is read.
//!
//! **Definition.** Of n values up to `max`, the lowest ⌊log₂(max/n)⌋ bits of each are stored one after the other. The remaining high
//! bits are the number of the value's *heap* and are stored in unary: value i with heap h sets bit h + i of a bit vector, so every 0
//! ends a heap. The values of a heap start where the previous heap ends, so the high bits are the prefix directory of the column.
//!
//! Bits are stored in lines of 64 bytes: one word that counts the zeros before the line, and seven words of bits. Every 128th zero
//! and every 128th one has its line listed. A probe reads the list, which mostly stays in the cache (0.04 bytes per value), one
//! line, and the low bits of the candidates: two cache misses. Where values crowd, the counts are searched, so that a large heap
//! does not slow down its neighbours.
//!
//! **Cost.** log₂(2⁶⁴/n) + about 2.9 bits per value, built in one pass. A bucket is found in O(1) for spread values, in O(log n) for
//! any values.
//!
//! **Source.** Elias 1974, *Efficient storage and retrieval by content and address*; Fano 1971; the layout is that of Vigna 2008,
//! *Broadword implementation of rank/select queries*, for both kinds of bits.

use super::bits::{Fields, Portable, Select};
use crate::column::Column;
#[cfg(target_arch = "x86_64")]
use crate::machine::BitInstructions;
use crate::memory::{prefetch, reserve};
use std::ops::Range;

/// Words of a line: one count, then bits.
const LINE: usize = 8;
/// Bits of a line.
const LINE_BITS: usize = (LINE - 1) * 64;
/// One in this many zeros and ones is listed: 0.6 bits per value of uniform data. The wanted bit is then in the listed line or the
/// next one.
const SAMPLE: usize = 128;
/// Values decoded at a time: two cache lines, more than a usual bucket has.
const CHUNK: usize = 16;

/// Ascending values, equal ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EliasFano {
    len: usize,
    /// The number of heaps, up to that of the greatest value; 0 without values.
    heaps: u64,
    low_width: u32,
    low: Fields,
    /// Lines of bits; the first word of a line counts the zeros in all lines before it.
    high: Vec<u64>,
    /// Item s is the line of zero number `SAMPLE` · s, counted from 0; the last item is the last line.
    zeros: Vec<u32>,
    /// The same for ones.
    ones: Vec<u32>,
    /// Bits of the prefix of a bucket, which is one heap or several.
    depth: u32,
    /// Proves the instructions for single bits, if the processor has them.
    #[cfg(target_arch = "x86_64")]
    bit_instructions: Option<BitInstructions>,
}

impl EliasFano {
    /// Makes a column with a bucket for each prefix of `depth` bits, or of as many bits as its heaps have.
    /// REQUIRES: the values ascend, and there are fewer than 2^40; otherwise the column holds other values, without further harm.
    pub fn new(values: &[u64], depth: u32) -> Self {
        let Some(max) = values.iter().copied().max() else { return Self::default() };
        let low_width = (max / values.len() as u64).checked_ilog2().unwrap_or(0);
        let heaps = (max >> low_width) + 1;
        let lines = (values.len() + heaps as usize).div_ceil(LINE_BITS);
        let mut high = reserve(lines * LINE);
        high.resize(lines * LINE, 0);
        for (i, value) in values.iter().enumerate() {
            let at = (value >> low_width) as usize + i;
            high[word_of(at)] |= 1 << (at % LINE_BITS % 64);
        }
        let (zeros, ones) = count(&mut high, heaps as usize, values.len());
        let low = Fields::new(values, low_width);
        let depth = depth.min(64 - low_width);
        Self {
            len: values.len(),
            heaps,
            low_width,
            low,
            high,
            zeros,
            ones,
            depth,
            #[cfg(target_arch = "x86_64")]
            bit_instructions: BitInstructions::detect(),
        }
    }

    /// Returns the bytes in memory.
    pub fn bytes(&self) -> usize {
        self.low.bytes() + self.high.len() * 8 + (self.zeros.len() + self.ones.len()) * 4
    }

    /// Appends all values.
    pub fn decode(&self, out: &mut Vec<u64>) {
        out.reserve(self.len);
        self.read(0..self.len, &mut |_, values| out.extend_from_slice(values));
    }

    #[inline(always)]
    fn bucket_as<S: Select>(&self, machine: S, prefix: u64) -> Range<usize> {
        if self.depth == 0 {
            return if prefix == 0 { 0..self.len } else { self.len..self.len };
        }
        let heaps_a_bucket = 64 - self.low_width - self.depth;
        let heap = match prefix.checked_shl(heaps_a_bucket) {
            // Otherwise the bucket is beyond the greatest value, or beyond 64 bits.
            Some(heap) if heap >> heaps_a_bucket == prefix && heap < self.heaps => heap,
            _ => return self.len..self.len,
        };
        let last = (heap | super::bits::mask(heaps_a_bucket)).min(self.heaps - 1);
        let (heap, last) = (heap as usize, last as usize);
        let start = if heap == 0 { 0 } else { self.select::<_, false>(machine, heap - 1) + 1 };
        self.low.prefetch(start - heap);
        let end = self.zero_in_word(machine, start, (last - heap) as u32);
        let end = end.unwrap_or_else(|| self.select::<_, false>(machine, last));
        start - heap..end - last
    }

    /// Returns the position of zero number `skip` from bit `at` on, if it is in the same word, where most buckets end.
    #[inline(always)]
    fn zero_in_word(&self, machine: impl Select, at: usize, skip: u32) -> Option<usize> {
        let shift = at % LINE_BITS % 64;
        let zeros = !self.high.get(word_of(at))? & (u64::MAX << shift);
        (skip < zeros.count_ones()).then(|| at - shift + machine.one(zeros, skip) as usize)
    }

    /// Returns the position of one or zero number `j`. REQUIRES: there are more than `j`.
    #[inline(always)]
    fn select<S: Select, const IS_ONE: bool>(&self, machine: S, j: usize) -> usize {
        let samples = if IS_ONE { &self.ones } else { &self.zeros };
        let (line, last) = (samples[j / SAMPLE] as usize, samples[j / SAMPLE + 1] as usize);
        // Tries the listed line first, which is nearly always right; reading the next count would be another cache miss.
        match self.select_in::<S, IS_ONE>(machine, line, j) {
            Some(at) => at,
            None => {
                let line = self.line_of::<IS_ONE>(j, line, last);
                self.select_in::<S, IS_ONE>(machine, line, j).unwrap_or(0)
            }
        }
    }

    /// Returns the number of ones or zeros before a line.
    #[inline(always)]
    fn before<const IS_ONE: bool>(&self, line: usize) -> usize {
        match (IS_ONE, self.high[line * LINE] as usize) {
            (true, zeros) => line * LINE_BITS - zeros,
            (false, zeros) => zeros,
        }
    }

    /// Returns the last line, from `first` to `last`, with at most `j` ones or zeros before it.
    #[cold]
    fn line_of<const IS_ONE: bool>(&self, j: usize, first: usize, last: usize) -> usize {
        let (mut line, mut size) = (first, last - first);
        while size > 0 {
            let half = size.div_ceil(2);
            line = if self.before::<IS_ONE>(line + half) <= j { line + half } else { line };
            size -= half;
        }
        line
    }

    /// Returns the position of one or zero number `j` if it is in this line. REQUIRES: at most `j` are before the line.
    #[inline(always)]
    fn select_in<S: Select, const IS_ONE: bool>(&self, machine: S, line: usize, j: usize) -> Option<usize> {
        let mut left = j - self.before::<IS_ONE>(line);
        for (word, bits) in self.high[line * LINE..][1..LINE].iter().enumerate() {
            let bits = if IS_ONE { *bits } else { !bits };
            let count = bits.count_ones() as usize;
            if left < count {
                return Some(line * LINE_BITS + word * 64 + machine.one(bits, left as u32) as usize);
            }
            left -= count;
        }
        None
    }

    #[inline(always)]
    fn read_as<S: Select>(&self, machine: S, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        let end = rows.end.min(self.len);
        if rows.start >= end {
            return;
        }
        let (mut i, at) = (rows.start, self.select::<_, true>(machine, rows.start));
        let (mut values, mut held) = ([0; CHUNK], 0);
        let mut word = word_of(at);
        // The heap of a value is the position of its bit minus its position in the column.
        let mut first = at - at % LINE_BITS % 64;
        let mut bits = self.high[word] & u64::MAX << (at % LINE_BITS % 64);
        loop {
            while bits != 0 && i < end {
                let heap = first + bits.trailing_zeros() as usize - i;
                values[held] = (heap as u64) << self.low_width | self.low.get(i);
                (i, held, bits) = (i + 1, held + 1, bits & (bits - 1));
                if held == CHUNK {
                    seen(i - held, &values);
                    held = 0;
                }
            }
            if i == end {
                break;
            }
            word += 1 + usize::from((word + 1).is_multiple_of(LINE));
            first += 64;
            let Some(next) = self.high.get(word) else { break };
            bits = *next;
        }
        if held > 0 {
            seen(i - held, &values[..held]);
        }
    }
}

impl Column for EliasFano {
    fn len(&self) -> usize {
        self.len
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    #[inline]
    fn hint(&self, prefix: u64) {
        let heap = prefix.checked_shl(64 - self.low_width - self.depth).unwrap_or(u64::MAX);
        let line = self.zeros.get(heap as usize / SAMPLE).map_or(0, |line| *line as usize);
        prefetch(&self.high, line * LINE);
    }

    #[inline]
    fn bucket(&self, prefix: u64) -> Range<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = self.bit_instructions {
            // SAFETY: `machine` proves the features the function is compiled for.
            return unsafe { fast::bucket(machine, self, prefix) };
        }
        self.bucket_as(Portable, prefix)
    }

    #[inline]
    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = self.bit_instructions {
            // SAFETY: `machine` proves the features the function is compiled for.
            return unsafe { fast::read(machine, self, rows, seen) };
        }
        self.read_as(Portable, rows, seen);
    }
}

/// Returns the index of the word with bit `at`.
#[inline(always)]
fn word_of(at: usize) -> usize {
    at / LINE_BITS * LINE + 1 + at % LINE_BITS / 64
}

/// Writes the counts of the lines, and returns the lines of the sampled zeros and ones; `zeros` and `ones` are their numbers.
fn count(high: &mut [u64], zeros: usize, ones: usize) -> (Vec<u32>, Vec<u32>) {
    let mut samples = [zeros, ones].map(|bits| Vec::with_capacity(bits.div_ceil(SAMPLE) + 1));
    let mut before = 0;
    for (line, words) in high.chunks_exact_mut(LINE).enumerate() {
        words[0] = before as u64;
        before += words[1..].iter().map(|bits| bits.count_zeros() as usize).sum::<usize>();
        let reached = [before.min(zeros), ((line + 1) * LINE_BITS - before).min(ones)];
        for (samples, reached) in samples.iter_mut().zip(reached) {
            samples.resize(reached.div_ceil(SAMPLE), line as u32);
        }
    }
    let last = (high.len() / LINE).saturating_sub(1) as u32;
    let [mut zeros, mut ones] = samples;
    zeros.push(last);
    ones.push(last);
    (zeros, ones)
}

/// The code for x86-64 with instructions for single bits.
#[cfg(target_arch = "x86_64")]
mod fast {
    use super::{BitInstructions, EliasFano};
    use std::ops::Range;

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn bucket(machine: BitInstructions, column: &EliasFano, prefix: u64) -> Range<usize> {
        column.bucket_as(machine, prefix)
    }

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn read(
        machine: BitInstructions,
        column: &EliasFano,
        rows: Range<usize>,
        seen: &mut dyn FnMut(usize, &[u64]),
    ) {
        column.read_as(machine, rows, seen);
    }
}
