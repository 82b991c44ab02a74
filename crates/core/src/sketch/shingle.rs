//! Computes the ids of the shingles of a text: runs of w tokens (Broder 1997, §2 and §4.1).
//!
//! **Definition.** The id of a shingle is `mix64(R)`, where R is the Rabin fingerprint of its w token values under the
//! published polynomial. Rabin keeps different shingles apart under a proven bound but is linear. `mix64` is a
//! bijection that makes the order of ids random, so that ids serve as the image of the papers' permutation and can be
//! sampled by comparing.
//!
//! **Set or labelled.** As a set (option B) a shingle counts once, however often it occurs in a text. Labelled (option
//! A) its j-th occurrence is a shingle of its own: the first keeps the id, the j-th has `mix64(id ^ mix64(j))`. So
//! whether one label is sampled says nothing about the next.
//!
//! **Fewer bits.** With `bits` < 64 the id is `mix64` of the fingerprint's highest `bits` bits. The bound of a
//! polynomial of that degree holds: two strings agree there iff `P` divides one of the `2^(64−bits)` polynomials
//! `D·x^64 − R`, where D is their difference, of n bits, and R has a degree below 64 − bits. Each has at most (n +
//! 64)/64 factors of degree 64, of which there are `2^64/64`. So the probability is at most `(n + 64)/2^bits`, which
//! does not exceed Broder's `n/2^(bits−1)`, because n is at least 64 here.
//!
//! **Cost.** One pass over the text and 16 bytes per token; labelled, one more sort.

use crate::error::{Error, Result};
use crate::frontend::{Options, Source, Visitor};
use crate::hash::rabin::{Polynomial, Rabin, Shingles};
use crate::hash::{mix64, mix_all};

/// Version of the ids of shingles; see FORMAT.md.
pub const SHINGLE_VERSION: u32 = 1;

/// Largest width; a run of 65 536 tokens is as long as a document.
pub const MAX_WIDTH: usize = 1 << 16;

/// Fewest and most bits of an id.
pub const BITS: std::ops::RangeInclusive<u32> = 16..=64;

/// How a text becomes shingles. Only sketches with the same shingling can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// How the text becomes tokens.
    pub options: Options,
    /// Tokens in a shingle.
    pub width: usize,
    /// Whether the occurrences of one shingle count separately (option A) or once (option B).
    pub labelled: bool,
    /// Number of bits that distinguish shingles, within [`BITS`].
    pub bits: u32,
}

impl Shingling {
    /// Makes a shingling. Errors: a width outside 1…[`MAX_WIDTH`], or bits outside [`BITS`].
    pub fn new(options: Options, width: i64, labelled: bool, bits: i64) -> Result<Self> {
        if !(1..=MAX_WIDTH as i64).contains(&width) {
            let reason = format!("is not a width of shingles: it counts tokens; use 1 ≤ shingle ≤ {MAX_WIDTH}");
            return Err(Error::Parameter { name: "shingle", value: width, reason });
        }
        let (least, most) = (*BITS.start(), *BITS.end());
        if !(i64::from(least)..=i64::from(most)).contains(&bits) {
            let reason = format!("are too few or too many for an id: use {least} ≤ bits ≤ {most}");
            return Err(Error::Parameter { name: "bits", value: bits, reason });
        }
        Ok(Self { options, width: width as usize, labelled, bits: bits as u32 })
    }
}

/// Computes the ids of many texts with the same tables and memory.
pub struct Shingler {
    shingling: Shingling,
    rabin: Rabin,
    shingles: Shingles,
    /// Reused between texts.
    tokens: Vec<u64>,
    /// Ids with their places, reused between labelled texts.
    placed: Vec<(u64, usize)>,
}

impl Shingler {
    /// Fills the tables.
    pub fn new(shingling: Shingling) -> Self {
        let (rabin, shingles) =
            (Rabin::new(Polynomial::STANDARD), Shingles::new(Polynomial::STANDARD, shingling.width));
        Self { shingling, rabin, shingles, tokens: Vec::new(), placed: Vec::new() }
    }

    /// Its parameters.
    pub fn shingling(&self) -> Shingling {
        self.shingling
    }

    /// Appends the ids of a text's shingles in the order of the text; as a set they may repeat, labelled they are
    /// distinct. A text of fewer than w tokens has none. Returns the number of tokens.
    pub fn ids(&mut self, text: &str, out: &mut Vec<u64>) -> usize {
        let mut tokens = std::mem::take(&mut self.tokens);
        tokens.clear();
        self.shingling.options.open(text, Read(&mut tokens));
        self.token_ids(&tokens, out);
        self.tokens = tokens;
        self.tokens.len()
    }

    /// Appends the ids of the shingles of these tokens, as [`Shingler::ids`] does.
    pub fn token_ids(&mut self, tokens: &[u64], out: &mut Vec<u64>) {
        let from = out.len();
        self.shingles.append(tokens, out);
        let ids = &mut out[from..];
        if self.shingling.bits < 64 {
            ids.iter_mut().for_each(|id| *id >>= 64 - self.shingling.bits);
        }
        mix_all(ids);
        if self.shingling.labelled {
            self.label(&mut out[from..]);
        }
    }

    /// The id of a shingle given as bytes.
    pub fn id_of_bytes(&self, shingle: &[u8]) -> u64 {
        self.id(self.rabin.fingerprint(shingle))
    }

    #[inline]
    fn id(&self, fingerprint: u64) -> u64 {
        mix64(fingerprint >> (64 - self.shingling.bits))
    }

    /// Labels the occurrences of each shingle. Sorts, because hostile input could drive a table of counts into one
    /// bucket.
    fn label(&mut self, ids: &mut [u64]) {
        self.placed.clear();
        self.placed.extend(ids.iter().enumerate().map(|(place, id)| (*id, place)));
        self.placed.sort_unstable();
        for run in self.placed.chunk_by(|left, right| left.0 == right.0) {
            for (occurrence, (id, place)) in (1..).zip(run).skip(1) {
                ids[*place] = labelled(*id, occurrence);
            }
        }
    }
}

/// The id of the j-th occurrence of a shingle in one text, from 1 on.
pub fn labelled(id: u64, occurrence: u64) -> u64 {
    if occurrence <= 1 {
        id
    } else {
        mix64(id ^ mix64(occurrence))
    }
}

/// Sorts ids and drops repetitions; exact measures and samples need such a set.
pub fn into_set(ids: &mut Vec<u64>) {
    ids.sort_unstable();
    ids.dedup();
}

/// Reads all tokens as numbers.
struct Read<'a>(&'a mut Vec<u64>);

impl Visitor for Read<'_> {
    type Output = ();

    fn visit<S: Source>(self, mut source: S) {
        source.numbers(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{stream, Unit};
    use crate::testing::{fixed, messy_text};
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn words(width: i64, labelled: bool, bits: i64) -> Shingling {
        Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, width, labelled, bits).expect("in range")
    }

    fn ids(shingling: Shingling, text: &str) -> Vec<u64> {
        let mut out = Vec::new();
        Shingler::new(shingling).ids(text, &mut out);
        out
    }

    /// Window by window, counting the occurrences.
    fn naive(shingling: Shingling, text: &str) -> Vec<u64> {
        let tokens = stream(text, shingling.options).expect("short enough").tokens;
        let rabin = Rabin::new(Polynomial::STANDARD);
        let mut seen = HashMap::new();
        let mut one = |window: &[u64]| {
            let id = mix64(rabin.fingerprint_words(window) >> (64 - shingling.bits));
            let count = seen.entry(id).and_modify(|count| *count += 1).or_insert(1);
            if shingling.labelled && *count > 1 {
                mix64(id ^ mix64(*count))
            } else {
                id
            }
        };
        tokens.windows(shingling.width).map(&mut one).collect()
    }

    proptest! {
        #![proptest_config(fixed(200))]
        #[test]
        fn ids_match_naive(
            text in prop_oneof![messy_text(0..12), "[ab ]{0,60}"], width in 1i64..6, labelled: bool, bits in 16i64..=64,
            unit in prop::sample::select(vec![Unit::Character, Unit::Word, Unit::Line]),
        ) {
            let shingling = Shingling::new(Options { unit, homoglyphs: false }, width, labelled, bits).expect("in range");
            prop_assert_eq!(ids(shingling, &text), naive(shingling, &text));
        }
    }

    #[test]
    fn a_text_shorter_than_a_shingle_has_none() {
        assert_eq!(ids(words(5, false, 64), "only four words here"), []);
        assert_eq!(ids(words(5, true, 64), ""), []);
    }

    #[test]
    fn memory_is_reused_without_a_trace() {
        let mut shingler = Shingler::new(words(2, true, 64));
        let mut out = vec![7];
        shingler.ids("a b a b a b", &mut out);
        out.clear();
        shingler.ids("a b a", &mut out);
        assert_eq!(out, ids(words(2, true, 64), "a b a"));
    }

    #[test]
    fn parameters_say_what_is_wrong() {
        let options = Options { unit: Unit::Word, homoglyphs: false };
        let message = |width, bits| Shingling::new(options, width, false, bits).expect_err("out of range").to_string();
        assert_eq!(message(0, 64), "shingle `0` is not a width of shingles: it counts tokens; use 1 ≤ shingle ≤ 65536");
        assert_eq!(message(4, 15), "bits `15` are too few or too many for an id: use 16 ≤ bits ≤ 64");
        assert_eq!(message(4, 65), "bits `65` are too few or too many for an id: use 16 ≤ bits ≤ 64");
    }

    #[test]
    fn stored_ids_never_change() {
        assert_eq!(Shingler::new(words(1, false, 64)).id_of_bytes(b"abc"), mix64(0x5766_3422_4cfa_a524));
        assert_eq!(labelled(1, 1), 1);
        assert_eq!(labelled(1, 2), mix64(1 ^ mix64(2)));
    }
}
