//! Features: k fingerprints of s elements each; near-duplicates share features, so equality alone finds them (Broder
//! 2000, §3).
//!
//! **Definition.** Elements are reduced to 32 bits. Group g has the elements g·s … g·s+s−1. Its feature is the Rabin
//! fingerprint of the word g, then of two elements per word, the first in the lower half, under the polynomial
//! `generate(g + 1)`. So features of different groups are never equal by construction, and their collisions are
//! independent of those of shingles.
//!
//! With r = 1 the features are the keys that documents share. With r > 1 the keys are the *super-features*, one for
//! each choice of r groups; for two groups i < j it is `mix64(f_i ^ mix64(f_j + i·k + j))`. Two documents share a
//! super-feature iff they share r features, so clustering need not count shared keys.
//!
//! Cost: about 5 ns per element, and r mixes per super-feature.

use crate::error::{Error, Result};
use crate::hash::mix64;
use crate::hash::rabin::{Polynomial, Shingles};

/// Most keys of a document.
pub const MAX_KEYS: usize = 1 << 10;

/// Makes the keys of sketches.
#[derive(Clone)]
pub struct Features {
    s: usize,
    r: usize,
    groups: Vec<Shingles>,
}

impl Features {
    /// Makes k groups of s elements; documents are candidates if they share r features.
    ///
    /// Errors: a parameter outside its range, or more than [`MAX_KEYS`] keys.
    pub fn new(k: usize, s: usize, r: usize) -> Result<Self> {
        let refused = |name, value: usize, reason: String| Err(Error::Parameter { name, value: value as i64, reason });
        if s == 0 {
            return refused("s", s, "leaves the features without elements: use at least 1".to_owned());
        }
        if !(1..=k).contains(&r) {
            return refused("r", r, format!("is not a number of equal features: use 1 ≤ r ≤ {k}"));
        }
        if choices(k, r) > MAX_KEYS {
            let reason = format!(
                "features of which {r} must be equal make more than {MAX_KEYS} keys per document: use fewer, or another r"
            );
            return refused("k", k, reason);
        }
        let group = |g: usize| Shingles::new(Polynomial::generate(g as u64 + 1), 1 + s.div_ceil(2));
        Ok(Self { s, r, groups: (0..k).map(group).collect() })
    }

    /// Appends the features of a sketch. A group without elements has no feature.
    pub fn features(&self, sketch: &[u32], out: &mut Vec<u64>) {
        let mut words = Vec::with_capacity(1 + self.s.div_ceil(2));
        for ((g, group), elements) in self.groups.iter().enumerate().zip(sketch.chunks_exact(self.s)) {
            words.clear();
            words.push(g as u64);
            let pair = |pair: &[u32]| u64::from(pair[0]) | (u64::from(pair.get(1).copied().unwrap_or(0)) << 32);
            words.extend(elements.chunks(2).map(pair));
            group.append(&words, out);
        }
    }

    /// Appends the keys of a sketch.
    pub fn keys(&self, sketch: &[u32], out: &mut Vec<u64>) {
        if self.r == 1 {
            return self.features(sketch, out);
        }
        let mut features = Vec::with_capacity(self.groups.len());
        self.features(sketch, &mut features);
        self.keys_of(&features, out);
    }

    /// Appends the keys of a document with these features.
    pub fn keys_of(&self, features: &[u64], out: &mut Vec<u64>) {
        if self.r == 1 {
            return out.extend(features);
        }
        if features.len() < self.r {
            return;
        }
        let k = self.groups.len() as u64;
        let mut chosen: Vec<usize> = (0..self.r).collect();
        loop {
            let number = chosen.iter().fold(0u64, |number, group| number.wrapping_mul(k).wrapping_add(*group as u64));
            let last = features[chosen[self.r - 1]].wrapping_add(number);
            let others = chosen[..self.r - 1].iter().rev();
            out.push(mix64(others.fold(last, |key, group| features[*group] ^ mix64(key))));
            if !advance(&mut chosen, features.len()) {
                return;
            }
        }
    }

    /// Number of features that two documents share. REQUIRES: both have features of all groups, or none.
    pub fn shared(left: &[u64], right: &[u64]) -> usize {
        left.iter().zip(right).filter(|(left, right)| left == right).count()
    }
}

/// Number of choices of r out of k; the largest number if they are more than [`MAX_KEYS`].
fn choices(k: usize, r: usize) -> usize {
    let more =
        |made: usize, i: usize| made.checked_mul(k - i).map(|made| made / (i + 1)).filter(|made| *made <= MAX_KEYS);
    (0..r.min(k - r)).try_fold(1, more).unwrap_or(usize::MAX)
}

/// Moves to the next choice of numbers below `count` in lexicographic order. Returns whether there is one.
fn advance(chosen: &mut [usize], count: usize) -> bool {
    let len = chosen.len();
    let Some(at) = (0..len).rev().find(|at| chosen[*at] + len - at < count) else { return false };
    chosen[at] += 1;
    for next in at + 1..len {
        chosen[next] = chosen[next - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::rabin::Rabin;
    use crate::testing::fixed;
    use proptest::{collection::vec, prelude::*};

    fn of(features: &Features, sketch: &[u32]) -> (Vec<u64>, Vec<u64>) {
        let (mut plain, mut keys) = (Vec::new(), Vec::new());
        features.features(sketch, &mut plain);
        features.keys(sketch, &mut keys);
        (plain, keys)
    }

    proptest! {
        #![proptest_config(fixed(100))]

        #[test]
        fn features_are_fingerprints_of_their_groups(k in 1usize..8, s in 1usize..16, sketch in vec(any::<u32>(), 128)) {
            let features = Features::new(k, s, 1).expect("in range");
            let naive: Vec<u64> = (0..k)
                .map(|g| {
                    let elements = &sketch[g * s..(g + 1) * s];
                    let mut bytes = (g as u64).to_le_bytes().to_vec();
                    bytes.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
                    bytes.resize(bytes.len().next_multiple_of(8), 0);
                    Rabin::new(Polynomial::generate(g as u64 + 1)).fingerprint(&bytes)
                })
                .collect();
            prop_assert_eq!(of(&features, &sketch), (naive.clone(), naive));
        }

        #[test]
        fn a_super_feature_is_shared_iff_r_features_are(
            k in 1usize..9, r in 0usize..9, left in vec(0u32..3, 32), right in vec(0u32..3, 32),
        ) {
            let r = 1 + r % k;
            let features = Features::new(k, 3, r).expect("in range");
            let (left, right) = (of(&features, &left), of(&features, &right));
            let common = Features::shared(&left.0, &right.0);
            let shares = left.1.iter().any(|key| right.1.contains(key));
            prop_assert_eq!(shares, common >= r);
            prop_assert_eq!(left.1.len(), choices(k, r));
            let distinct: std::collections::HashSet<u64> = left.1.iter().copied().collect();
            prop_assert_eq!(distinct.len(), left.1.len());
        }

        #[test]
        fn two_groups_make_the_published_super_feature(k in 2usize..9, sketch in vec(any::<u32>(), 32)) {
            let (plain, keys) = of(&Features::new(k, 3, 2).expect("in range"), &sketch);
            let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
            let naive: Vec<u64> = pairs.map(|(i, j)| mix64(plain[i] ^ mix64(plain[j].wrapping_add((i * k + j) as u64)))).collect();
            prop_assert_eq!(keys, naive);
        }
    }

    #[test]
    fn six_features_of_fourteen_elements_take_48_bytes() {
        let features = Features::new(6, 14, 2).expect("in range");
        let (plain, keys) = of(&features, &[7; 84]);
        assert_eq!((plain.len() * 8, keys.len(), features.s * features.groups.len()), (48, 15, 84));
    }

    #[test]
    fn parameters_say_what_is_wrong() {
        let message = |k, s, r| Features::new(k, s, r).err().expect("out of range").to_string();
        assert_eq!(message(6, 0, 1), "s `0` leaves the features without elements: use at least 1");
        assert_eq!(message(6, 4, 7), "r `7` is not a number of equal features: use 1 ≤ r ≤ 6");
        assert_eq!(message(1, 4, 0), "r `0` is not a number of equal features: use 1 ≤ r ≤ 1");
        let many = "features of which 2 must be equal make more than 1024 keys per document: use fewer, or another r";
        assert_eq!(message(99, 4, 2), format!("k `99` {many}"));
        assert!(
            Features::new(12, 4, 6).is_ok() && Features::new(13, 4, 6).is_err() && Features::new(1000, 1, 999).is_ok()
        );
        assert!(Features::new(1000, 1, 500).is_err() && Features::new(1025, 1, 1).is_err());
    }
}
