//! Features: k fingerprints of s elements each; near-duplicates share features, so equality alone finds them (Broder
//! 2000, §3).
//!
//! **Definition.** Elements are reduced to 32 bits. Group g has the elements g·s … g·s+s−1. Its feature is the Rabin
//! fingerprint of the word g, then of two elements per word, the first in the lower half, under the polynomial
//! `generate(g + 1)`. So features of different groups are never equal by construction, and their collisions are
//! independent of those of shingles.
//!
//! With r = 1 the features are the keys that documents share. With r = 2 the keys are the *super-features*, one for
//! each pair of groups i < j: `mix64(f_i ^ mix64(f_j + i·k + j))`. Two documents share a super-feature iff they share
//! two features, so clustering need not count shared keys.
//!
//! Cost: about 5 ns per element.

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
        if !(1..=2).contains(&r) || r > k {
            return refused(
                "r",
                r,
                format!("equal features are not supported: use 1 or 2, and at most k, which is {k}"),
            );
        }
        let keys = if r == 1 { k } else { k * (k - 1) / 2 };
        if keys > MAX_KEYS {
            return refused("k", k, format!("makes {keys} keys per document: at most {MAX_KEYS} are possible"));
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
        let (mut features, k) = (Vec::with_capacity(self.groups.len()), self.groups.len() as u64);
        self.features(sketch, &mut features);
        for (i, left) in (0..).zip(&features) {
            for (j, right) in (0..).zip(&features).skip(i as usize + 1) {
                out.push(mix64(left ^ mix64(right.wrapping_add(i * k + j))));
            }
        }
    }
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
        fn a_super_feature_is_shared_iff_two_features_are(k in 2usize..8, left in vec(0u32..3, 32), right in vec(0u32..3, 32)) {
            let features = Features::new(k, 3, 2).expect("in range");
            let (left, right) = (of(&features, &left), of(&features, &right));
            let common = left.0.iter().zip(&right.0).filter(|(left, right)| left == right).count();
            let shares = left.1.iter().any(|key| right.1.contains(key));
            prop_assert_eq!(shares, common >= 2);
            prop_assert_eq!(left.1.len(), k * (k - 1) / 2);
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
        assert_eq!(message(6, 4, 3), "r `3` equal features are not supported: use 1 or 2, and at most k, which is 6");
        assert_eq!(message(1, 4, 2), "r `2` equal features are not supported: use 1 or 2, and at most k, which is 1");
        assert_eq!(message(99, 4, 2), "k `99` makes 4851 keys per document: at most 1024 are possible");
    }
}
