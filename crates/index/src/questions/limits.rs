//! Limits below which a sketch or a sample rules a threshold out, each computed once.
//!
//! A limit depends on sizes alone, and takes some microseconds; a question needs few different ones.

use super::{Score, CONFIDENCE, DOUBT};
use lookalike_core::sketch::estimate::rejected;
use lookalike_core::sketch::law::Law;
use std::collections::HashMap;

/// Most limits that are remembered.
const REMEMBERED: usize = 1 << 16;

/// Limits of one index.
pub(super) struct Limits {
    modulus: u64,
    /// By size of the sample and bits of the threshold.
    coordinates: HashMap<(u64, u64), u64>,
    /// By number of common shingles.
    samples: HashMap<u64, u64>,
}

impl Limits {
    /// Limits for samples of one shingle in `modulus`.
    pub(super) fn new(modulus: u64) -> Self {
        Self { modulus: modulus.max(1), coordinates: HashMap::new(), samples: HashMap::new() }
    }

    /// Whether `common` equal elements of `size` rule out that the resemblance reaches the threshold.
    pub(super) fn rejects(&mut self, common: usize, size: usize, threshold: f64) -> bool {
        let known = room(&mut self.coordinates);
        let limit = known.entry((size as u64, threshold.to_bits()));
        common < *limit.or_insert_with(|| rejected(size as u64, threshold, DOUBT)) as usize
    }

    /// Whether `common` sampled shingles rule out that two documents share at least `least` shingles: each is sampled
    /// with probability 1/m.
    pub(super) fn are_too_few(&mut self, common: u64, least: u64) -> bool {
        let law = Law::Binomial { n: least, p: 1.0 / self.modulus as f64 };
        let limit = || {
            let (mut low, mut high) = (0, least + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                match law.at_most(middle) <= DOUBT {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        common < *room(&mut self.samples).entry(least).or_insert_with(limit)
    }
}

/// A table with room for one more; a full one starts anew.
fn room<K, V>(known: &mut HashMap<K, V>) -> &mut HashMap<K, V> {
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known
}

/// Estimates the share that two documents' common shingles are of `whole`, from `common` sampled ones, each sampled with
/// probability 1/m. At most `most` are common. The interval holds every number under which the observation is not too
/// improbable in either direction.
pub(super) fn estimated_share(common: u64, modulus: u64, most: u64, whole: u64) -> Score {
    let (p, tail) = (1.0 / modulus.max(1) as f64, (1.0 - CONFIDENCE) / 2.0);
    let law = |n: u64| Law::Binomial { n, p };
    // Both probabilities are monotonous in the number of common shingles.
    let low = search(common, most, |n| law(n).at_least(common) >= tail);
    let high = search(common, most + 1, |n| law(n).at_most(common) < tail).saturating_sub(1);
    let share = |number: u64| number.min(most) as f64 / whole.max(1) as f64;
    let value = share(common.saturating_mul(modulus));
    Score { value, low: share(low).min(value), high: share(high).max(value), is_exact: false }
}

/// The least number from `from` to below `to` that is accepted, or `to`.
fn search(from: u64, to: u64, accepts: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (from.min(to), to);
    while low < high {
        let middle = low + (high - low) / 2;
        match accepts(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_rejects_only_what_is_improbable() {
        let mut limits = Limits::new(8);
        for least in [0u64, 1, 5, 40, 400, 10_000] {
            let law = Law::Binomial { n: least, p: 0.125 };
            let limit = (0..=least + 1).find(|common| !limits.are_too_few(*common, least)).expect("a limit");
            assert!(limit == 0 || law.at_most(limit - 1) <= DOUBT, "{least}: {limit}");
            assert!(law.at_most(limit) > DOUBT, "{least}: {limit}");
        }
        let mut all = Limits::new(1);
        assert!(all.are_too_few(9, 10) && !all.are_too_few(10, 10), "a sample of everything is exact");
    }

    #[test]
    fn a_coordinate_limit_is_that_of_dedup() {
        let mut limits = Limits::new(8);
        let limit = (0..=128).find(|common| !limits.rejects(*common, 128, 0.8)).expect("a limit");
        assert_eq!(limit as u64, rejected(128, 0.8, DOUBT));
        assert!(!limits.rejects(0, 0, 0.8), "an empty sketch rejects nothing");
    }

    #[test]
    fn estimates_lie_in_their_intervals() {
        for (common, modulus, most, whole) in
            [(0, 8, 40, 50), (5, 8, 40, 50), (40, 8, 40, 40), (7, 1, 9, 10), (3, 8, 3, 9)]
        {
            let score = estimated_share(common, modulus, most, whole);
            assert!(score.low <= score.value && score.value <= score.high && score.high <= 1.0, "{score:?}");
            assert!(!score.is_exact);
        }
        assert_eq!(estimated_share(7, 1, 9, 10), Score { value: 0.7, low: 0.7, high: 0.7, is_exact: false });
    }
}
