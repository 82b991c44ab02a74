//! Sketches by t independent permutations: coordinate j is the smallest `aⱼ·x + bⱼ mod 2^32` over the shingles.
//!
//! **Definition.** x is the high half of the id. `aⱼ` is the low half of `mix64((2j+1)·GOLDEN)` made odd, so that the
//! map is a permutation of 32-bit numbers, and `bⱼ` is that of `mix64((2j+2)·GOLDEN)`. Linear maps are close enough to
//! min-wise here because x is scrambled already. A document without shingles has all ones in 64 bits.
//!
//! Two sketches agree in a coordinate with probability r(A, B); the number of equal coordinates is binomial. Two
//! shingles share an x with probability 2^−32, which adds about |A ∪ B|/2^32 to the resemblance.
//!
//! **Cost.** n·t multiplications, eight at a time with AVX2; a block of coordinates stays in registers during the pass
//! over the shingles.
//!
//! **Source.** Broder 2000, §2; linear transformations: Broder 1997, §4.1.

use super::fast::{check_size, EMPTY};
use crate::error::Result;
use crate::hash::{mix64, GOLDEN};

/// Coordinates that stay in registers: four vectors each of factors, terms and minima.
const BLOCK: usize = 32;

/// The maps of a block of coordinates.
#[derive(Clone)]
struct Maps {
    factors: [u32; BLOCK],
    terms: [u32; BLOCK],
}

/// Makes sketches of one size.
#[derive(Clone)]
pub struct Permutations {
    /// The maps; unused ones fill the last block.
    blocks: Vec<Maps>,
}

impl Permutations {
    /// Makes the maps. Errors: a size that no sketch can have.
    pub fn new(size: i64) -> Result<Self> {
        let size = check_size(size)?;
        let half = |i: usize| mix64((i as u64).wrapping_mul(GOLDEN)) as u32;
        let block = |first: usize| Maps {
            factors: std::array::from_fn(|j| half(2 * (first + j) + 1) | 1),
            terms: std::array::from_fn(|j| half(2 * (first + j) + 2)),
        };
        Ok(Self { blocks: (0..size).step_by(BLOCK).map(block).collect() })
    }

    /// Fills `out`, which has one element per coordinate, with the sketch of the ids; `scratch` is reused between
    /// calls.
    pub fn sketch(&self, ids: &[u64], scratch: &mut Vec<u32>, out: &mut [u64]) {
        out.fill(EMPTY);
        if ids.is_empty() {
            return;
        }
        scratch.clear();
        scratch.extend(ids.iter().map(|id| (id >> 32) as u32));
        for (maps, out) in self.blocks.iter().zip(out.chunks_mut(BLOCK)) {
            for (coordinate, least) in out.iter_mut().zip(minima_here(maps, scratch)) {
                *coordinate = u64::from(least);
            }
        }
    }
}

/// [`minima`] as this machine does it best.
fn minima_here(maps: &Maps, xs: &[u32]) -> [u32; BLOCK] {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = crate::machine::Avx2::detect() {
        // SAFETY: `avx2` proves the feature the function is compiled for.
        return unsafe { minima_avx2(avx2, maps, xs) };
    }
    minima(maps, xs)
}

/// [`minima`] compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn minima_avx2(_: crate::machine::Avx2, maps: &Maps, xs: &[u32]) -> [u32; BLOCK] {
    minima(maps, xs)
}

/// The smallest image under each map of a block.
#[inline(always)]
fn minima(maps: &Maps, xs: &[u32]) -> [u32; BLOCK] {
    let mut least = [u32::MAX; BLOCK];
    for x in xs {
        for ((least, factor), term) in least.iter_mut().zip(&maps.factors).zip(&maps.terms) {
            *least = (*least).min(factor.wrapping_mul(*x).wrapping_add(*term));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::fast::merge;
    use crate::testing::fixed;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn sketch(size: usize, ids: &[u64]) -> Vec<u64> {
        let mut out = vec![1; size];
        Permutations::new(size as i64).expect("in range").sketch(ids, &mut Vec::new(), &mut out);
        out
    }

    fn naive(size: usize, ids: &[u64]) -> Vec<u64> {
        let half = |i: u64| mix64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & 0xffff_ffff;
        let image = |j: u64, id: u64| ((half(2 * j + 1) | 1) * (id >> 32) + half(2 * j + 2)) & 0xffff_ffff;
        (0..size as u64).map(|j| ids.iter().map(|id| image(j, *id)).min().unwrap_or(u64::MAX)).collect()
    }

    proptest! {
        #![proptest_config(fixed(200))]

        #[test]
        fn permutations_match_naive(ids in vec(any::<u64>(), 0..50), size in 1usize..100) {
            prop_assert_eq!(sketch(size, &ids), naive(size, &ids));
        }

        #[test]
        fn the_minimum_is_the_sketch_of_the_union(left in vec(any::<u64>(), 0..30), right in vec(any::<u64>(), 0..30)) {
            let mut merged = sketch(40, &left);
            merge(&mut merged, &sketch(40, &right));
            prop_assert_eq!(merged, sketch(40, &[left, right].concat()));
        }
    }
}
