//! Stores numbers of any width up to 64 bits one after the other, lowest bit first.
//!
//! [`Fields`] holds numbers of one width, with random access in two loads per number. [`Writer`] and [`Reader`] write and read
//! numbers of varying widths. Reads beyond the end return zeros.

#[cfg(target_arch = "x86_64")]
use crate::machine::BitInstructions;
use crate::memory::{prefetch, reserve};

/// Returns a mask of the lowest `width` bits. REQUIRES: `width` ≤ 64.
#[inline(always)]
pub(super) fn mask(width: u32) -> u64 {
    match width {
        0 => 0,
        width => u64::MAX >> (64 - width.min(64)),
    }
}

/// Returns the number of bits that a number needs.
#[inline(always)]
pub(super) fn width_of(number: u64) -> u32 {
    64 - number.leading_zeros()
}

/// Finds a set bit of a word: [`Portable`] on any machine, or the token `BitInstructions`.
pub trait Select: Copy {
    /// Returns the position of set bit number `j`. REQUIRES: more than `j` bits are set; otherwise the result is arbitrary.
    fn one(self, bits: u64, j: u32) -> u32;
}

/// The portable code.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Select for Portable {
    /// **Source.** Vigna 2008, *Broadword implementation of rank/select queries*, up to the byte.
    #[inline(always)]
    fn one(self, bits: u64, j: u32) -> u32 {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let pairs = bits - (bits >> 1 & 0x5555_5555_5555_5555);
        let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        // Each byte counts the bits of the bytes up to it.
        let counts = ((fours + (fours >> 4)) & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(ONES);
        let is_before = ((((u64::from(j) * ONES) | (ONES << 7)) - counts) & (ONES << 7)) >> 7;
        let byte = is_before.count_ones() * 8;
        let before = (counts << 8).checked_shr(byte).unwrap_or(0) as u32 & 0xFF;
        let mut rest = bits.checked_shr(byte).unwrap_or(0);
        for _ in before..j {
            rest &= rest.wrapping_sub(1);
        }
        byte + rest.trailing_zeros()
    }
}

#[cfg(target_arch = "x86_64")]
impl Select for BitInstructions {
    /// PDEP moves a single bit to the position of set bit number `j`.
    #[inline(always)]
    fn one(self, bits: u64, j: u32) -> u32 {
        // SAFETY: `self` proves BMI2.
        unsafe { std::arch::x86_64::_pdep_u64(1 << j, bits) }.trailing_zeros()
    }
}

/// Appends words, little-endian. Several times as fast as an iterator over bytes.
#[inline]
pub(crate) fn put_words(words: &[u64], out: &mut Vec<u8>) {
    out.reserve(words.len() * 8);
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Numbers of one width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    /// One more word than the numbers need, so that two words can always be read.
    words: Vec<u64>,
    width: u32,
}

impl Fields {
    /// Stores the lowest `width` bits of each number. REQUIRES: `width` ≤ 64.
    pub fn new(numbers: &[u64], width: u32) -> Self {
        let words = (numbers.len() * width as usize).div_ceil(64) + 1;
        let mut writer = Writer { words: reserve(words), open: 0, used: 0 };
        if width > 0 {
            numbers.iter().for_each(|number| writer.push(*number, width));
        }
        writer.words.push(writer.open);
        writer.words.resize(words, 0);
        Self { words: writer.words, width }
    }

    /// Returns number `i`; an arbitrary value if there are not so many.
    #[inline(always)]
    pub fn get(&self, i: usize) -> u64 {
        let bit = i * self.width as usize;
        let (word, shift) = (bit / 64, (bit % 64) as u32);
        let Some([low, high]) = self.words.get(word..).and_then(|rest| rest.first_chunk()) else { return 0 };
        // In two steps, because a shift by 64 is not possible.
        (low >> shift | high << 1 << (63 - shift)) & mask(self.width)
    }

    /// Prefetches number `i`.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        prefetch(&self.words, i * self.width as usize / 64);
    }

    /// Returns the bytes in memory.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}

/// Appends numbers of any width.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer {
    words: Vec<u64>,
    /// The unfinished word, and how many of its bits are used: fewer than 64.
    open: u64,
    used: u32,
}

impl Writer {
    /// Appends the lowest `width` bits. REQUIRES: `width` ≤ 64.
    pub fn push(&mut self, number: u64, width: u32) {
        let number = number & mask(width);
        self.open |= number << self.used;
        self.used += width;
        if self.used >= 64 {
            self.words.push(self.open);
            self.used -= 64;
            // The bits that did not fit; none if the word was filled exactly.
            self.open = (number >> 1) >> (width - self.used).saturating_sub(1);
            self.open &= mask(self.used);
        }
    }

    /// Returns the number of bits written.
    pub fn len(&self) -> usize {
        self.words.len() * 64 + self.used as usize
    }

    /// Returns the bits as bytes, the last one padded with zeros.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let bytes = self.len().div_ceil(8);
        self.words.push(self.open);
        let mut out = Vec::with_capacity(self.words.len() * 8);
        put_words(&self.words, &mut out);
        out.truncate(bytes);
        out
    }
}

/// Reads numbers of any width from bytes.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first bit.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bits read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns at least the next 57 bits without moving on; zeros beyond the end.
    #[inline(always)]
    pub fn peek(&self) -> u64 {
        let (byte, shift) = (self.at / 8, self.at % 8);
        let rest = self.bytes.get(byte..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        word >> shift
    }

    /// Skips `width` bits. REQUIRES: not beyond `usize::MAX` bits.
    #[inline(always)]
    pub fn skip(&mut self, width: u32) {
        self.at += width as usize;
    }

    /// Reads the next `width` bits. REQUIRES: `width` ≤ 64.
    #[inline(always)]
    pub fn take(&mut self, width: u32) -> u64 {
        let low_width = width.min(32);
        let low = self.peek() & mask(low_width);
        self.skip(low_width);
        if width <= 32 {
            return low;
        }
        let high = self.peek() & mask(width - 32);
        self.skip(width - 32);
        low | high << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// The position of set bit number `j`, by clearing those below it.
    fn naive(mut bits: u64, j: u32) -> u32 {
        (0..j).for_each(|_| bits &= bits.wrapping_sub(1));
        bits.trailing_zeros()
    }

    proptest! {
        #![proptest_config(fixed(2000))]
        #[test]
        fn a_set_bit_is_found_as_by_naive(bits in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), (0u32..64).prop_map(|at| 1 << at)]) {
            for j in 0..bits.count_ones() {
                prop_assert_eq!(Portable.one(bits, j), naive(bits, j));
                #[cfg(target_arch = "x86_64")]
                if let Some(machine) = BitInstructions::detect() {
                    prop_assert_eq!(machine.one(bits, j), naive(bits, j));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn numbers_come_back_at_every_width(numbers in prop::collection::vec(any::<u64>(), 0..200), width in 0u32..=64) {
            let fields = Fields::new(&numbers, width);
            for (i, number) in numbers.iter().enumerate() {
                prop_assert_eq!(fields.get(i), number & mask(width), "width {} at {}", width, i);
            }
        }

        #[test]
        fn numbers_of_mixed_widths_come_back(numbers in prop::collection::vec((any::<u64>(), 0u32..=64), 0..200)) {
            let mut writer = Writer::default();
            numbers.iter().for_each(|(number, width)| writer.push(*number, *width));
            let bits = writer.len();
            let bytes = writer.into_bytes();
            prop_assert_eq!(bytes.len(), bits.div_ceil(8));
            let mut reader = Reader::new(&bytes);
            for (number, width) in &numbers {
                prop_assert_eq!(reader.take(*width), number & mask(*width));
            }
            prop_assert_eq!(reader.at(), bits);
        }
    }
}
