//! Fast Similarity Sketching: t coordinates from little more than one pass over the shingles.
//!
//! **Definition.** The hash of an id is the id itself in round 0, because ids are scrambled already, and `mix64(id + i
//! · GOLDEN)` in round i > 0. In rounds 0 … t−1 every id goes to the bin given by the high 16 bits of its hash (`· t >>
//! 16`), with the low 48 bits as its order. In rounds t … 2t−1 every id goes to bin i − t. A coordinate is the smallest
//! `i << 48 | order` in its bin, so earlier rounds win. A document without shingles has all ones.
//!
//! Two sketches agree in a coordinate with probability r(A, B). The coordinates are drawn almost without replacement:
//! the share of equal ones is unbiased with a variance *below* r(1−r)/t. The coordinatewise minimum of two sketches is
//! exactly the sketch of the union.
//!
//! **Cost.** Once no bin is empty, later rounds change nothing: n ids and O(t log t) more. The first round takes about
//! a nanosecond per id and suffices for most documents. Ids that keep repeating are sorted once, so that no text takes
//! longer.
//!
//! **Source.** Dahlgaard, Knudsen, Thorup 2017, *Fast similarity sketching*, FOCS; arXiv:1704.04370.

use super::shingle::into_set;
use crate::error::{Error, Result};
use crate::hash::{mix64, GOLDEN};
use std::borrow::Cow;

/// Most coordinates: rounds up to 2t − 1 have 16 bits, and all ones must stay unused.
pub const MAX_SIZE: usize = 1 << 14;

/// The value of a coordinate without shingles.
pub const EMPTY: u64 = u64::MAX;

/// Bits of a coordinate that order the ids of a round.
const ORDER_BITS: u32 = 48;

/// Number of distinct ids per coordinate that fill all bins. If bins are still empty after so many, the ids may be
/// repetitions and are made a set; otherwise they would be read again in each of t rounds.
const PATIENCE: usize = 16;

/// Number of ids hashed before they go to their bins.
const STRIDE: usize = 64;

/// Makes sketches of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fast {
    size: usize,
}

/// Refuses a size that no sketch can have.
pub fn check_size(size: i64) -> Result<usize> {
    if (1..=MAX_SIZE as i64).contains(&size) {
        return Ok(size as usize);
    }
    let reason = format!("is not the size of a sketch: it counts elements; use 1 ≤ size ≤ {MAX_SIZE}");
    Err(Error::Parameter { name: "size", value: size, reason })
}

impl Fast {
    /// Makes a sketcher. Errors: a size outside 1…[`MAX_SIZE`].
    pub fn new(size: i64) -> Result<Self> {
        check_size(size).map(|size| Self { size })
    }

    /// Number of coordinates.
    pub fn size(self) -> usize {
        self.size
    }

    /// Fills `out`, of `size` elements, with the sketch of the ids; repetitions and order do not matter. REQUIRES: ids
    /// are scrambled, as those of `shingle.rs` are.
    pub fn sketch(&self, ids: &[u64], out: &mut [u64]) {
        let size = self.size.min(out.len());
        let out = &mut out[..size];
        out.fill(EMPTY);
        if ids.is_empty() {
            return;
        }
        play(0, ids, out);
        let (mut ids, mut played) = (Cow::Borrowed(ids), ids.len());
        for round in 1..size as u64 {
            if !out.contains(&EMPTY) {
                return;
            }
            if played > PATIENCE * size && matches!(ids, Cow::Borrowed(_)) {
                into_set(ids.to_mut());
            }
            played += ids.len();
            play(round, &ids, out);
        }
        // Each of the last rounds has one bin, so only rounds of empty bins are played.
        for (bin, coordinate) in out.iter_mut().enumerate().filter(|(_, coordinate)| **coordinate == EMPTY) {
            let round = (size + bin) as u64;
            *coordinate = ids.iter().map(|id| element(round, hash(round, *id))).min().unwrap_or(EMPTY);
        }
    }
}

/// One of the first rounds: every id goes to its bin.
fn play(round: u64, ids: &[u64], out: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = crate::machine::Avx512::detect() {
        // SAFETY: `avx512` proves the features the function is compiled for.
        return unsafe { play_avx512(avx512, round, ids, out) };
    }
    play_here(round, ids, out);
}

/// [`play_here`] compiled for AVX-512, which hashes eight ids at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn play_avx512(_: crate::machine::Avx512, round: u64, ids: &[u64], out: &mut [u64]) {
    play_here(round, ids, out);
}

#[inline(always)]
fn play_here(round: u64, ids: &[u64], out: &mut [u64]) {
    let (mut bins, mut elements) = ([0u32; STRIDE], [0u64; STRIDE]);
    for ids in ids.chunks(STRIDE) {
        // The iterations of this loop are independent, so the compiler can vectorise it.
        for ((into, element_of), id) in bins.iter_mut().zip(&mut elements).zip(ids) {
            let hash = if round == 0 { *id } else { hash(round, *id) };
            (*into, *element_of) = (bin(hash, out.len()) as u32, element(round, hash));
        }
        let played = bins.iter().zip(&elements).take(ids.len());
        if round == 0 {
            for (bin, element) in played {
                let coordinate = &mut out[*bin as usize];
                *coordinate = (*element).min(*coordinate);
            }
        } else {
            // After the first round few bins are open, so this branch is predicted well.
            for (bin, element) in played {
                let coordinate = &mut out[*bin as usize];
                if element < coordinate {
                    *coordinate = *element;
                }
            }
        }
    }
}

/// The bin that a hash chooses in one of the first t rounds.
#[inline(always)]
fn bin(hash: u64, size: usize) -> usize {
    (((hash >> ORDER_BITS) * size as u64) >> (64 - ORDER_BITS)) as usize
}

/// The hash of an id in a round after the first.
#[inline(always)]
fn hash(round: u64, id: u64) -> u64 {
    mix64(id.wrapping_add(round.wrapping_mul(GOLDEN)))
}

#[inline(always)]
fn element(round: u64, hash: u64) -> u64 {
    (round << ORDER_BITS) | (hash & ((1 << ORDER_BITS) - 1))
}

/// Makes `into` the sketch of the union. REQUIRES: both have the same size and were made alike.
pub fn merge(into: &mut [u64], other: &[u64]) {
    into.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).min(*theirs));
}

/// Number of coordinates that agree; those of documents without shingles do not count.
#[inline]
pub fn common(left: &[u64], right: &[u64]) -> usize {
    left.iter().zip(right).filter(|(left, right)| left == right && **left != EMPTY).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn sketch(size: usize, ids: &[u64]) -> Vec<u64> {
        let mut out = vec![1; size];
        Fast::new(size as i64).expect("in range").sketch(ids, &mut out);
        out
    }

    /// All 2t rounds, straight from the definition.
    fn naive(size: usize, ids: &[u64]) -> Vec<u64> {
        let mut out = vec![u64::MAX; size];
        for round in 0..2 * size as u64 {
            for id in ids {
                let mixed = mix64(id.wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                let hash = if round == 0 { *id } else { mixed };
                let random = ((hash >> 48) as usize * size) >> 16;
                let bin = if round < size as u64 { random } else { round as usize - size };
                out[bin] = out[bin].min((round << 48) | (hash & 0xffff_ffff_ffff));
            }
        }
        out
    }

    proptest! {
        #![proptest_config(fixed(150))]

        #[test]
        fn fast_matches_naive(ids in vec(any::<u64>(), 0..40), size in 1usize..40) {
            prop_assert_eq!(sketch(size, &ids), naive(size, &ids));
        }

        #[test]
        fn many_repetitions_match_naive(ids in vec(any::<u64>(), 1..6), times in 1usize..80, size in 1usize..12) {
            prop_assert_eq!(sketch(size, &ids.repeat(times)), naive(size, &ids));
        }

        #[test]
        fn the_minimum_is_the_sketch_of_the_union(
            left in vec(any::<u64>(), 0..60), right in vec(any::<u64>(), 0..60), size in 1usize..50,
        ) {
            let mut merged = sketch(size, &left);
            merge(&mut merged, &sketch(size, &right));
            prop_assert_eq!(merged, sketch(size, &[left, right].concat()));
        }

        #[test]
        fn repetitions_and_order_do_not_matter(ids in vec(any::<u64>(), 0..60), size in 1usize..50) {
            let turned: Vec<u64> = ids.iter().rev().chain(&ids).copied().collect();
            prop_assert_eq!(sketch(size, &turned), sketch(size, &ids));
        }
    }

    #[test]
    fn without_shingles_nothing_agrees() {
        assert_eq!(sketch(4, &[]), [EMPTY; 4]);
        assert_eq!(common(&sketch(4, &[]), &sketch(4, &[])), 0);
    }

    #[test]
    fn every_coordinate_of_the_largest_sketch_is_filled_by_one_shingle() {
        assert!(!sketch(MAX_SIZE, &[1]).contains(&EMPTY));
    }

    #[test]
    fn stored_values_never_change() {
        let ids = [1, 2, 3].map(mix64);
        assert_eq!(sketch(4, &ids), naive(4, &ids));
        assert_eq!(sketch(1, &ids[..1]), [ids[0] & 0xffff_ffff_ffff]);
    }

    #[test]
    fn sizes_say_what_is_wrong() {
        let message = |size| Fast::new(size).expect_err("out of range").to_string();
        assert_eq!(message(0), "size `0` is not the size of a sketch: it counts elements; use 1 ≤ size ≤ 16384");
        assert_eq!(
            message(1 << 15),
            "size `32768` is not the size of a sketch: it counts elements; use 1 ≤ size ≤ 16384"
        );
    }
}
