//! Computes Rabin fingerprints: a string as a polynomial over GF(2), modulo an irreducible polynomial of degree 64.
//!
//! **Definition.** Let `P` be an irreducible polynomial `x^64 + p(x)`, given by a 64-bit number `low` whose bit `i` is
//! the coefficient of `x^i` in `p`. A string `s` of `n` bytes is the polynomial `M(s)` of degree `8n` with these
//! coefficients, highest first: a one, then the bits of `s[0], s[1], … s[n-1]`, each byte from highest bit to lowest.
//!
//! ```text
//! M(s) = x^(8n) + Σ s[i](x) · x^(8(n-1-i))        fingerprint(s) = M(s) · x^64 mod P
//! ```
//!
//! Bit `i` of the 64-bit result is the coefficient of `x^i`. Because of the leading one, length and leading zero bytes count; the
//! empty string gives `low`. The factor `x^64` appends eight zero bytes: without it, a change of the last letter would change
//! only the last eight bits. A sequence of 64-bit words is the string of their little-endian bytes, on every machine.
//!
//! **Guarantee.** Two different strings of at most `n` bytes, chosen before `P` is drawn at random, have the same
//! fingerprint with probability at most `n / 2^60`: Broder's bound, the length in bits over `2^63`.
//!
//! **Cost.** Eight lookups per eight bytes; a sliding window takes sixteen per word at any width. Tables take 16 KiB per
//! polynomial and 16 KiB per sliding window, filled in less than a microsecond.
//!
//! **When to use it.** For stored values that are compared for equality under a proven bound: shingles, and features under
//! another polynomial, to avoid dependencies. It does not resist an adversary who knows `P`. It is no random permutation: the map
//! is linear, so for equal lengths `f(a) ^ f(b)` depends on `a ^ b` alone. XXH3 is faster where no bound is needed.
//!
//! **Source.** Rabin 1981, *Fingerprinting by random polynomials*. Broder 1997, *On the resemblance and containment of
//! documents*, §4.1 (bound, appended nulls), §4.3 (sliding). Broder 2000, *Identifying and filtering near-duplicate
//! documents*, §2 (64 bits), §3 (features). Rabin 1980, *Probabilistic algorithms in finite fields* (irreducibility).

use super::{mix64, GOLDEN};

/// An irreducible polynomial of degree 64 over GF(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Polynomial {
    /// The coefficients of `x^63` to `x^0`; that of `x^64` is one and not stored. Irreducible by construction.
    low: u64,
}

impl Polynomial {
    /// The polynomial of stored fingerprints: `generate(0)`.
    pub const STANDARD: Self = Self { low: 0xe255_b237_b8bb_18fb };

    /// The polynomial `x^64 + low`, or `None` when it has a proper factor.
    ///
    /// Rabin's test: `x^(2^64) = x` says that the factors are distinct and their degrees divide 64; no common divisor
    /// with `x^(2^32) - x` says that none of the degrees divides 32. All that is left is one factor of degree 64.
    pub fn new(low: u64) -> Option<Self> {
        let half = square_times(X, 32, low);
        let coprime = gcd((1 << 64) | u128::from(low), u128::from(half ^ X)) == 1;
        (coprime && square_times(half, 32, low) == X).then_some(Self { low })
    }

    /// The first irreducible polynomial among the numbers that splitmix64 draws from `seed`, lowest bit set to one.
    /// About one odd candidate in 32 is irreducible. The search ends because splitmix64 visits every 64-bit number.
    pub fn generate(seed: u64) -> Self {
        let mut state = seed;
        loop {
            if let Some(polynomial) = Self::new(splitmix64(&mut state) | 1) {
                return polynomial;
            }
        }
    }

    /// Returns the coefficients below `x^64`, as [`Polynomial::new`] takes them and manifests store them.
    pub fn low(self) -> u64 {
        self.low
    }
}

/// The polynomial `x`.
const X: u64 = 0b10;

/// The next number of the generator whose finaliser is [`mix64`]; the increment is the golden ratio's (same paper).
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GOLDEN);
    mix64(*state)
}

/// Returns `a · x` modulo `x^64 + low`, by a mask, because a branch would be mispredicted.
pub(super) fn times_x(a: u64, low: u64) -> u64 {
    (a << 1) ^ (low & (a >> 63).wrapping_neg())
}

/// Returns `a · b` modulo `x^64 + low`, by Horner's rule. It is slow, and only used to choose a polynomial.
fn times(a: u64, b: u64, low: u64) -> u64 {
    (0..64).rev().fold(0, |sum, bit| times_x(sum, low) ^ (a & ((b >> bit) & 1).wrapping_neg()))
}

/// `a^(2^count)` modulo `x^64 + low`.
fn square_times(a: u64, count: u32, low: u64) -> u64 {
    (0..count).fold(a, |power, _| times(power, power, low))
}

/// The greatest common divisor, in 128 bits because the modulus has 65.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        while a.leading_zeros() <= b.leading_zeros() {
            a ^= b << (b.leading_zeros() - a.leading_zeros());
        }
        (a, b) = (b, a);
    }
    a
}

/// A linear map on symbols of `N` bytes: entry `[j][v]` is the image of `v · x^(8j)`, and images of bytes add up.
type Tables<const N: usize> = [[u64; 256]; N];

/// The multiplication by `one`, modulo `x^64 + low`.
fn tables<const N: usize>(one: u64, low: u64) -> Box<Tables<N>> {
    let (mut tables, mut image) = (Box::new([[0; 256]; N]), one);
    for table in tables.iter_mut() {
        // Each bit doubles the known entries: those below it, and the same plus the image of the bit.
        for bit in 0..8 {
            let (known, rest) = table.split_at_mut(1 << bit);
            rest.iter_mut().zip(known).for_each(|(entry, below)| *entry = *below ^ image);
            image = times_x(image, low);
        }
    }
    tables
}

/// Returns the image of a word. It is written out and always inlined, because a loop was neither unrolled nor inlined.
#[inline(always)]
fn apply(t: &Tables<8>, word: u64) -> u64 {
    let [a, b, c, d, e, f, g, h] = word.to_le_bytes().map(usize::from);
    t[0][a] ^ t[1][b] ^ t[2][c] ^ t[3][d] ^ t[4][e] ^ t[5][f] ^ t[6][g] ^ t[7][h]
}

/// Computes the fingerprints of one polynomial.
#[derive(Clone)]
pub struct Rabin {
    /// `x^64 mod P`, which is also the fingerprint of the empty string.
    low: u64,
    /// The multiplication by `x^64`, which makes room for eight bytes and gives them their factor `x^64`.
    shift: Box<Tables<8>>,
}

impl Rabin {
    /// Fills the tables of `polynomial`.
    pub fn new(polynomial: Polynomial) -> Self {
        Self { low: polynomial.low, shift: tables(polynomial.low, polynomial.low) }
    }

    /// Returns the fingerprint of a byte string, as the head of this file defines it.
    pub fn fingerprint(&self, bytes: &[u8]) -> u64 {
        let (mut fingerprint, mut rest) = (self.low, bytes);
        while let Some((word, tail)) = rest.split_first_chunk() {
            fingerprint = self.push_word(fingerprint, u64::from_le_bytes(*word));
            rest = tail;
        }
        rest.iter().fold(fingerprint, |fingerprint, &byte| self.push_byte(fingerprint, byte))
    }

    /// Returns the fingerprint of the little-endian bytes of `words`.
    pub fn fingerprint_words(&self, words: &[u64]) -> u64 {
        words.iter().fold(self.low, |fingerprint, &word| self.push_word(fingerprint, word))
    }

    /// Appends to `out` the fingerprint of each run of `w` tokens, in order: none if `w` is 0 or exceeds their number.
    pub fn shingles(&self, tokens: &[u64], w: usize, out: &mut Vec<u64>) {
        let Some((first, entering)) = tokens.split_at_checked(w).filter(|_| w > 0) else { return };
        let mut window = Sliding::new(self, first);
        out.push(window.fingerprint);
        // The window moves into the closure, so its state stays in a register: 6.7 ns per token instead of 8.1.
        out.extend(tokens.iter().zip(entering).map(move |(&leaving, &entering)| window.roll(leaving, entering)));
    }

    /// Returns the fingerprint of `s` followed by `byte`, given that of `s`.
    fn push_byte(&self, fingerprint: u64, byte: u8) -> u64 {
        (fingerprint << 8) ^ self.shift[0][usize::from((fingerprint >> 56) as u8 ^ byte)]
    }

    /// Returns the fingerprint of `s` followed by the little-endian bytes of `word`, given that of `s`.
    fn push_word(&self, fingerprint: u64, word: u64) -> u64 {
        // The first byte is the lowest in the word, but has the highest powers of x.
        apply(&self.shift, fingerprint ^ word.swap_bytes())
    }
}

/// Computes the fingerprints of all runs of `width` tokens, in the fastest way for that width and processor.
#[derive(Clone)]
pub struct Shingles {
    rabin: Rabin,
    width: usize,
    #[cfg(target_arch = "x86_64")]
    products: Option<super::carryless::Windows>,
}

impl Shingles {
    /// Prepares runs of `width` tokens.
    pub fn new(polynomial: Polynomial, width: usize) -> Self {
        Self {
            rabin: Rabin::new(polynomial),
            width,
            #[cfg(target_arch = "x86_64")]
            products: super::carryless::Windows::new(polynomial, width),
        }
    }

    /// Appends to `out` the fingerprint of each run of `tokens`, in order; the same values as [`Rabin::shingles`].
    pub fn append(&self, tokens: &[u64], out: &mut Vec<u64>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(products) = &self.products {
            return products.append(tokens, out);
        }
        self.rabin.shingles(tokens, self.width, out);
    }
}

/// The fingerprint of a window that moves over 64-bit words, at a cost that does not depend on its width.
#[derive(Clone)]
struct Sliding<'a> {
    rabin: &'a Rabin,
    /// For each leaving word, the term that removes it from a window to which the entering word has been appended.
    leave: Box<Tables<8>>,
    /// The fingerprint of the current window.
    fingerprint: u64,
}

impl<'a> Sliding<'a> {
    /// Starts at `window`, whose length is the width from here on.
    fn new(rabin: &'a Rabin, window: &[u64]) -> Self {
        // Among zeros only the leading one counts. Once a word is appended, the leaving word stands where the leading one of a
        // full window stands, so this is its factor.
        let top = window.iter().fold(rabin.low, |zeros, _| rabin.push_word(zeros, 0));
        let mut leave = tables(top, rabin.low);
        // The leading one itself must move down by one word: the first entry of every word adds that move.
        leave.iter_mut().take(1).flatten().for_each(|entry| *entry ^= rabin.push_word(top, 0) ^ top);
        Self { rabin, leave, fingerprint: rabin.fingerprint_words(window) }
    }

    /// Moves on by one word and returns the new fingerprint.
    /// REQUIRES: `leaving` is the oldest word of the window; after another one all values are meaningless.
    #[inline]
    fn roll(&mut self, leaving: u64, entering: u64) -> u64 {
        self.fingerprint = apply(&self.leave, leaving.swap_bytes()) ^ self.rabin.push_word(self.fingerprint, entering);
        self.fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::{collection::vec, prelude::*};
    use std::iter::{once, repeat_n};

    /// The definition, bit by bit: long division of the leading one, the bits of `s` and 64 zeros.
    fn naive(polynomial: Polynomial, s: &[u8]) -> u64 {
        let bits = s.iter().flat_map(|byte| (0..8).rev().map(move |bit| u64::from((byte >> bit) & 1)));
        let divide = |remainder, bit| ((remainder << 1) | bit) ^ ((remainder >> 63) * polynomial.low);
        once(1).chain(bits).chain(repeat_n(0, 64)).fold(0, divide)
    }

    fn naive_words(words: &[u64]) -> u64 {
        naive(Polynomial::STANDARD, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
    }

    fn standard() -> Rabin {
        Rabin::new(Polynomial::STANDARD)
    }

    /// Symbols at random, or zeros and ones only.
    fn symbols<T: Arbitrary + Clone + From<u8>>(max_len: usize) -> impl Strategy<Value = Vec<T>> {
        prop_oneof![vec(any::<T>(), 0..max_len), vec((0..2u8).prop_map(T::from), 0..max_len)]
    }

    proptest! {
        #![proptest_config(fixed(256))]

        #[test]
        fn fingerprint_matches_naive(seed in 0..4u64, s in symbols(100)) {
            let polynomial = Polynomial::generate(seed);
            prop_assert_eq!(Rabin::new(polynomial).fingerprint(&s), naive(polynomial, &s));
        }

        #[test]
        fn fingerprint_words_matches_naive(words in symbols(40)) {
            prop_assert_eq!(standard().fingerprint_words(&words), naive_words(&words));
        }

        #[test]
        fn shingles_match_naive(tokens in symbols(40), w in 1..12usize) {
            let mut found = vec![7];
            standard().shingles(&tokens, w, &mut found);
            prop_assert_eq!(found, once(7).chain(tokens.windows(w).map(naive_words)).collect::<Vec<_>>());
        }

        #[test]
        fn equal_lengths_add_up(pairs in vec(any::<(u8, u8)>(), 0..60)) {
            let of = |by: fn(&(u8, u8)) -> u8| standard().fingerprint(&pairs.iter().map(by).collect::<Vec<_>>());
            prop_assert_eq!(of(|pair| pair.0 ^ pair.1) ^ of(|_| 0), of(|pair| pair.0) ^ of(|pair| pair.1));
        }
    }

    #[test]
    fn stored_values_never_change() {
        assert_eq!(standard().fingerprint(b""), 0xe255_b237_b8bb_18fb);
        assert_eq!(standard().fingerprint(b"a"), 0x5702_2eb1_26ab_3579);
        assert_eq!(standard().fingerprint(b"abc"), 0x5766_3422_4cfa_a524);
        assert_eq!(standard().fingerprint(b"The quick brown fox"), 0xc341_e896_b8c5_508d);
        assert_eq!(standard().fingerprint_words(&[1, 2, 3]), 0x7cb9_0fb5_6689_4461);
    }

    #[test]
    fn known_irreducibles_are_accepted() {
        assert_eq!(Polynomial::generate(0), Polynomial::STANDARD);
        assert_eq!(Polynomial::new(0x1b).map(Polynomial::low), Some(0x1b), "x^64 + x^4 + x^3 + x + 1");
    }

    /// The product less `x^64`, for factors whose degrees add up to 64.
    fn low_of_product(a: u64, b: u64) -> u64 {
        (0..64).filter(|bit| (b >> bit) & 1 == 1).fold(0, |sum, bit| sum ^ (a << bit))
    }

    #[test]
    fn products_are_refused() {
        let mut state = 1;
        for degree in (1..=32).cycle().take(32 * 20) {
            let mut factor = |degree: u32| (splitmix64(&mut state) >> (64 - degree)) | (1 << degree) | 1;
            let (a, b) = (factor(degree), factor(64 - degree));
            assert_eq!(Polynomial::new(low_of_product(a, b)), None, "{a:#x} times {b:#x}");
        }
    }

    #[test]
    fn products_of_irreducibles_of_degree_32_are_refused() {
        // The degrees divide 64, so x^(2^64) = x holds, and only the common divisor gives the factors away.
        let low = low_of_product(0x1_0000_008d, 0x1_0040_0007);
        assert_eq!((square_times(X, 64, low), Polynomial::new(low)), (X, None));
    }

    #[test]
    fn one_odd_candidate_in_32_is_irreducible() {
        let mut state = 2;
        let found = (0..6400).filter(|_| Polynomial::new(splitmix64(&mut state) | 1).is_some()).count();
        assert!((150..=250).contains(&found), "{found} of 6400, expected 200 with standard deviation 14");
    }

    #[test]
    fn last_letter_reaches_half_of_the_bits() {
        let differing =
            |letter| (standard().fingerprint(&[b'x', letter]) ^ standard().fingerprint(b"x\0")).count_ones();
        let total: u32 = (1..=255).map(differing).sum();
        assert!((30 * 255..=34 * 255).contains(&total), "{total} bits in 255 pairs");
    }

    #[test]
    fn leading_zeros_and_length_count() {
        let found: std::collections::HashSet<u64> =
            (0..20).map(|len| standard().fingerprint(&[0; 20][..len])).collect();
        assert_eq!(found.len(), 20, "{found:x?}");
    }

    #[test]
    fn no_shingles_without_a_full_window() {
        for (tokens, w) in [(&[][..], 0), (&[], 1), (&[1, 2, 3], 0), (&[1, 2, 3], 4), (&[1, 2, 3], usize::MAX)] {
            let mut found = Vec::new();
            standard().shingles(tokens, w, &mut found);
            assert_eq!(found, [], "{tokens:?}, w {w}");
        }
    }
}
