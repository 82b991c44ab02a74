//! Confidence intervals for estimates: a value, and an interval that holds the truth at the given confidence.
//!
//! **Interval.** The common elements of a sample follow the hypergeometric law (Broder 1997, §4.2; the sum printed
//! there runs to `s(r−ε)` at both ends, the upper end must be `s(r+ε)`). The interval holds every resemblance under
//! which the observation is not too improbable, by Blaker's acceptability. It never covers with less than the
//! confidence, and is narrower than that of Clopper and Pearson. If the numbers of distinct shingles of both documents
//! are known, the number of common ones is the only unknown; a sample of everything then gives an interval without
//! width.
//!
//! **Collisions.** Different shingles may get one id of ℓ bits: with Rabin's fingerprints with a probability of at
//! most p = |s| / 2^(ℓ−1) for shingles of |s| bits, whoever wrote the text (1997, §4.1). A union of n shingles has at
//! most n²p/2 collisions on average, thus at most 500 n²p but for one case in a thousand (Markov). Each moves the
//! resemblance by at most 2/n. At confidences up to 95 % `1024 · n · p` is added on both sides, and proportionally
//! more above. With 2^−ℓ for p this is at most the paper's `n / 2^(ℓ−11)`.
//!
//! Cost: tens of microseconds; microseconds for the counts that a threshold rejects (`rejected`).
//!
//! **Source.** Blaker 2000, *Confidence curves and improved exact confidence intervals for discrete distributions*.

use super::law::Law;

/// A value between 0 and 1 and the limits of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The unbiased estimate.
    pub value: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
    /// The part of the interval that collisions of ids account for, on each side.
    pub collisions: f64,
}

/// The greatest probability that two different shingles of at most `shingle_bits` bits have the same id of `bits` bits.
pub fn collision_bound(shingle_bits: u64, bits: u32) -> f64 {
    (shingle_bits as f64 * (1.0 - f64::from(bits)).exp2()).min(1.0)
}

/// The population from which the sample was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// Unknown, or drawn independently.
    Unknown,
    /// The union of two sets of these sizes; the measure is their resemblance.
    Union {
        /// Distinct shingles of the left set.
        left: u64,
        /// Distinct shingles of the right set.
        right: u64,
    },
    /// One set of `size`; the measure is the share of it that a set of `other` elements contains.
    Whole {
        /// Distinct shingles of the set.
        size: u64,
        /// Distinct shingles of the other set.
        other: u64,
    },
}

/// Steps of the probability if the population is unknown.
const STEPS: u64 = 1 << 40;

/// Places at which acceptability is tested between the limits of Clopper and Pearson and the exact limit. More would
/// narrow the interval by less than one per cent.
const PLACES: u64 = 64;

/// Largest population for which the hypergeometric law is used; beyond, its difference from the binomial is below the
/// precision of the factorials.
const MAX_POPULATION: u64 = 1 << 32;

/// Hypotheses in ascending order of the measure: numbers of common shingles, or steps of a probability.
#[derive(Clone, Copy)]
struct Family {
    sample: u64,
    population: Population,
    least: u64,
    most: u64,
}

impl Family {
    /// The hypotheses under which `common` of `sample` are possible. Sizes that contradict the sample are ignored.
    fn new(common: u64, sample: u64, population: Population) -> Self {
        let apart = sample - common;
        let (most, size) = match population {
            Population::Unknown => (None, 0),
            Population::Union { left, right } => {
                let both = left.saturating_add(right);
                (both.checked_sub(apart).map(|rest| (rest / 2).min(left).min(right)), both)
            }
            Population::Whole { size, other } => (size.checked_sub(apart).map(|rest| rest.min(other)), size),
        };
        match most.filter(|most| *most >= common && size <= MAX_POPULATION) {
            Some(most) => Self { sample, population, least: common, most },
            None => Self { sample, population: Population::Unknown, least: 0, most: STEPS },
        }
    }

    fn law(&self, hypothesis: u64) -> Law {
        let n = self.sample;
        match self.population {
            Population::Unknown => Law::Binomial { n, p: hypothesis as f64 / STEPS as f64 },
            Population::Union { left, right } => {
                Law::Hypergeometric { n, all: left + right - hypothesis, common: hypothesis }
            }
            Population::Whole { size, .. } => Law::Hypergeometric { n, all: size, common: hypothesis },
        }
    }

    fn measure(&self, hypothesis: u64) -> f64 {
        match self.population {
            Population::Unknown => hypothesis as f64 / STEPS as f64,
            Population::Union { left, right } => hypothesis as f64 / ((left + right - hypothesis).max(1)) as f64,
            Population::Whole { size, .. } => hypothesis as f64 / size.max(1) as f64,
        }
    }

    /// The least accepted hypothesis, searched outwards in steps; `upwards` mirrors the search and gives the greatest.
    fn limit(&self, common: u64, alpha: f64, upwards: bool) -> u64 {
        let span = self.most - self.least;
        let at = |step: u64| if upwards { self.most - step } else { self.least + step };
        let tail = |step: u64| {
            let law = self.law(at(step));
            if upwards {
                law.at_most(common)
            } else {
                law.at_least(common)
            }
        };
        // Tails grow with the step. Before `first` the sum of both tails is too small; from `last` on it is large
        // enough.
        let first = (0..span).partition_by(|step| tail(*step) <= alpha / 2.0);
        let last = (first..span).partition_by(|step| tail(*step) <= alpha);
        let stride = ((last - first) / PLACES).max(1);
        let mut outer = first;
        while outer < last && self.law(at((outer + stride - 1).min(span))).acceptability(common) <= alpha {
            outer += stride;
        }
        at(outer.min(last))
    }
}

/// Bisection over whole numbers.
trait Bisect {
    /// The first number of the range for which `is_before` is false, or its end. REQUIRES: `is_before` is true up to
    /// there and false afterwards.
    fn partition_by(self, is_before: impl Fn(&u64) -> bool) -> u64;
}

impl Bisect for std::ops::Range<u64> {
    fn partition_by(mut self, is_before: impl Fn(&u64) -> bool) -> u64 {
        while self.start < self.end {
            let middle = self.start + (self.end - self.start) / 2;
            if is_before(&middle) {
                self.start = middle + 1;
            } else {
                self.end = middle;
            }
        }
        self.start
    }
}

/// The estimate from `common` of `sample` elements; `None` for an empty sample.
///
/// A confidence outside 0…1 is clamped.
pub fn interval(common: u64, sample: u64, population: Population, confidence: f64) -> Option<Estimate> {
    if sample == 0 {
        return None;
    }
    let common = common.min(sample);
    let alpha = (1.0 - confidence).clamp(1e-15, 1.0);
    let value = common as f64 / sample as f64;
    let family = Family::new(common, sample, population);
    let low = family.measure(family.limit(common, alpha, false)).min(value);
    let high = family.measure(family.limit(common, alpha, true)).max(value);
    Some(Estimate { value, low, high, collisions: 0.0 })
}

impl Estimate {
    /// Widens the interval by the possible effect of collisions, each of probability `bound`, in a union of at most
    /// `shingles`.
    pub fn with_collisions(self, bound: f64, shingles: u64, confidence: f64) -> Self {
        let rarer = (0.05 / (1.0 - confidence)).max(1.0);
        let error = (1024.0 * shingles as f64 * bound * rarer).min(1.0);
        Self { low: (self.low - error).max(0.0), high: (self.high + error).min(1.0), collisions: error, ..self }
    }
}

/// How many of the counts 0…`sample` of common elements rule the threshold out: those that a measure at the threshold
/// has with a probability of at most `doubt`, together with all smaller ones.
pub fn rejected(sample: u64, threshold: f64, doubt: f64) -> u64 {
    let law = Law::Binomial { n: sample, p: threshold.clamp(0.0, 1.0) };
    (0..sample + 1).partition_by(|common| law.at_most(*common) <= doubt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(common: u64, sample: u64, population: Population) -> (f64, f64) {
        let found = interval(common, sample, population, 0.95).expect("a sample");
        (found.low, found.high)
    }

    #[test]
    fn nothing_is_said_from_an_empty_sample() {
        assert_eq!(interval(0, 0, Population::Unknown, 0.95), None);
        assert_eq!(interval(0, 0, Population::Union { left: 0, right: 0 }, 0.95), None);
    }

    #[test]
    fn a_sample_of_everything_leaves_no_doubt() {
        let all = Estimate { value: 0.25, low: 0.25, high: 0.25, collisions: 0.0 };
        assert_eq!(interval(10, 40, Population::Union { left: 20, right: 30 }, 0.95), Some(all));
        assert_eq!(interval(10, 40, Population::Whole { size: 40, other: 90 }, 0.95), Some(all));
        let one = Estimate { value: 1.0, low: 1.0, high: 1.0, collisions: 0.0 };
        assert_eq!(interval(7, 7, Population::Union { left: 7, right: 7 }, 1.0 - 1e-6), Some(one));
    }

    #[test]
    fn known_limits_of_the_binomial() {
        // Blaker's limits lie within those of Clopper and Pearson: 0.1871, 0.4677 for 10 of 32 … and one-sided at the ends.
        let (low, high) = limits(0, 20, Population::Unknown);
        assert!(low == 0.0 && (0.13..0.1685).contains(&high), "{low} {high}");
        let (low, high) = limits(10, 20, Population::Unknown);
        assert!((0.2719..0.30).contains(&low) && (high + low - 1.0).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn known_sizes_narrow_the_interval() {
        let (low, high) = limits(50, 100, Population::Unknown);
        let (nearer_low, nearer_high) = limits(50, 100, Population::Union { left: 110, right: 115 });
        assert!(low < nearer_low && nearer_high < high, "{low} {nearer_low} {nearer_high} {high}");
    }

    #[test]
    fn sizes_that_contradict_the_sample_are_not_believed() {
        let unknown = interval(3, 9, Population::Unknown, 0.95);
        assert_eq!(interval(3, 9, Population::Union { left: 2, right: 2 }, 0.95), unknown);
        assert_eq!(interval(3, 9, Population::Union { left: u64::MAX, right: u64::MAX }, 0.95), unknown);
        assert_eq!(interval(3, 9, Population::Whole { size: 5, other: 1 }, 0.95), unknown);
    }

    #[test]
    fn every_count_of_every_small_union_lies_within_its_interval() {
        for (left, right) in [(0, 3), (1, 1), (5, 9), (12, 12)] {
            for common in 0..=std::cmp::min(left, right) {
                for sample in common..=left + right - common {
                    let found = interval(common, sample, Population::Union { left, right }, 0.95);
                    let Some(found) = found else { continue };
                    assert!(0.0 <= found.low && found.low <= found.value, "{left} {right} {common} {sample}");
                    assert!(found.value <= found.high && found.high <= 1.0, "{left} {right} {common} {sample}");
                }
            }
        }
    }

    #[test]
    fn coverage_of_the_exact_law_is_never_below_the_confidence() {
        for (sample, confidence) in [(20u64, 0.95), (50, 0.9), (128, 0.95)] {
            let all: Vec<Estimate> =
                (0..=sample).filter_map(|x| interval(x, sample, Population::Unknown, confidence)).collect();
            for step in 1..200 {
                let p = f64::from(step) / 200.0;
                let law = Law::Binomial { n: sample, p };
                let mass = |x: u64| law.at_most(x) - if x == 0 { 0.0 } else { law.at_most(x - 1) };
                let covered: f64 = (0..=sample)
                    .zip(&all)
                    .filter(|(_, found)| found.low <= p && p <= found.high)
                    .map(|(x, _)| mass(x))
                    .sum();
                assert!(covered >= confidence - 1e-9, "sample {sample}, p {p}: {covered}");
            }
        }
    }

    #[test]
    fn collisions_widen_both_sides() {
        let narrow = Estimate { value: 0.5, low: 0.4, high: 0.6, collisions: 0.0 };
        // 1,000 shingles of five words, as 40 bits: 320 / 2^39 each.
        let bound = collision_bound(320, 40);
        assert_eq!(bound, 320.0 / f64::from(1 << 30) / 512.0);
        let error = 1024.0 * 1000.0 * bound;
        let wide = Estimate { value: 0.5, low: 0.4 - error, high: 0.6 + error, collisions: error };
        assert_eq!(narrow.with_collisions(bound, 1000, 0.95), wide);
        let none = Estimate { value: 0.5, low: 0.0, high: 1.0, collisions: 1.0 };
        assert_eq!(narrow.with_collisions(collision_bound(320, 16), 1 << 40, 0.95), none);
        assert_eq!((collision_bound(1 << 20, 16), collision_bound(64, 64)), (1.0, 1.0 / (1u64 << 57) as f64));
    }

    #[test]
    fn counts_far_below_the_threshold_are_rejected() {
        // 79 of 128 would be nearly five standard deviations too few.
        assert_eq!(rejected(128, 0.8, 1e-6), 79);
        // 0.2^10 is 1e-7, and one of ten is 40 times as likely.
        assert_eq!(rejected(10, 0.8, 1e-6), 1);
        assert_eq!((rejected(0, 0.8, 1e-6), rejected(9, 0.0, 1e-6), rejected(9, 1.0, 1e-6)), (0, 0, 9));
        assert_eq!((rejected(9, -1.0, 0.1), rejected(9, 2.0, 0.1)), (0, 9));
        // A chance of one half is allowed where the doubt is one half.
        assert_eq!((rejected(1, 0.5, 0.5), rejected(1, 0.5, 0.49)), (1, 0));
    }

    /// The first and the last hypothesis that is accepted, of all of them; none where the sizes are hardly believable.
    fn naive(common: u64, sample: u64, population: Population, alpha: f64) -> Option<(f64, f64)> {
        let family = Family::new(common, sample, population);
        let is_accepted = |at: &u64| family.law(*at).acceptability(common) > alpha;
        let accepted: Vec<u64> = (family.least..=family.most).filter(is_accepted).collect();
        Some((family.measure(*accepted.first()?), family.measure(*accepted.last()?)))
    }

    #[test]
    fn limits_match_naive_wherever_the_sizes_are_known() {
        let populations = [(5, 9), (12, 12), (30, 41), (1, 60)].map(|(left, right)| Population::Union { left, right });
        let wholes = [(9, 4), (20, 20), (35, 90)].map(|(size, other)| Population::Whole { size, other });
        for population in populations.into_iter().chain(wholes) {
            for (sample, confidence) in [(1, 0.95), (4, 0.9), (8, 0.95), (17, 0.99)] {
                for common in 0..=sample {
                    if Family::new(common, sample, population).population == Population::Unknown {
                        continue;
                    }
                    let found = interval(common, sample, population, confidence).expect("a sample");
                    let Some((low, high)) = naive(common, sample, population, 1.0 - confidence) else { continue };
                    let (low, high) = (low.min(found.value), high.max(found.value));
                    let expected = Estimate { value: found.value, low, high, collisions: 0.0 };
                    assert_eq!(found, expected, "{common} of {sample}, {population:?}, {confidence}");
                }
            }
        }
    }

    #[test]
    fn limits_of_the_binomial_match_a_fine_grid() {
        for (common, sample) in [(0u64, 7u64), (1, 7), (5, 20), (13, 20), (20, 20), (90, 128)] {
            let accepts =
                |step: &u64| Law::Binomial { n: sample, p: *step as f64 / 4096.0 }.acceptability(common) > 0.05;
            let accepted: Vec<u64> = (0..=4096).filter(accepts).collect();
            let (low, high) = limits(common, sample, Population::Unknown);
            let [first, last] = [accepted[0], accepted[accepted.len() - 1]].map(|step| step as f64 / 4096.0);
            assert!(low <= first && first - low < 0.004, "{common} of {sample}: {low}, {first}");
            assert!(high >= last && high - last < 0.004, "{common} of {sample}: {high}, {last}");
        }
    }

    #[test]
    fn hypotheses_are_those_under_which_the_sample_can_be() {
        let range = |common, sample, population| {
            let family = Family::new(common, sample, population);
            (family.least, family.most)
        };
        // Six of ten elements are apart, so of 40 at most 34 count twice.
        assert_eq!(range(4, 10, Population::Union { left: 20, right: 20 }), (4, 17));
        assert_eq!(range(4, 10, Population::Union { left: 5, right: 99 }), (4, 5));
        assert_eq!(range(4, 10, Population::Union { left: 99, right: 5 }), (4, 5));
        assert_eq!(range(4, 10, Population::Whole { size: 20, other: 99 }), (4, 14));
        assert_eq!(range(4, 10, Population::Whole { size: 20, other: 6 }), (4, 6));
        assert_eq!(range(4, 10, Population::Whole { size: 20, other: 4 }), (4, 4));
        assert_eq!(range(4, 10, Population::Whole { size: 20, other: 3 }), (0, STEPS));
        assert_eq!(range(4, 10, Population::Whole { size: 9, other: 9 }), (0, STEPS));
        assert_eq!(range(4, 10, Population::Unknown), (0, STEPS));
        let largest = MAX_POPULATION;
        assert_eq!(range(4, 10, Population::Whole { size: largest, other: 99 }), (4, 99));
        assert_eq!(range(4, 10, Population::Whole { size: largest + 1, other: 99 }), (0, STEPS));
        assert_eq!(range(4, 10, Population::Union { left: largest - 9, right: 9 }), (4, 9));
        assert_eq!(range(4, 10, Population::Union { left: largest - 8, right: 9 }), (0, STEPS));
    }

    #[test]
    fn measures_are_shares_of_the_union_or_the_whole() {
        let of = |population| Family { sample: 1, population, least: 0, most: 9 };
        assert_eq!(of(Population::Union { left: 6, right: 8 }).measure(4), 0.4);
        assert_eq!(of(Population::Union { left: 0, right: 0 }).measure(0), 0.0);
        assert_eq!(of(Population::Whole { size: 8, other: 2 }).measure(2), 0.25);
        assert_eq!(of(Population::Whole { size: 0, other: 2 }).measure(0), 0.0);
        assert_eq!(of(Population::Unknown).measure(STEPS / 4), 0.25);
        let law = of(Population::Union { left: 6, right: 8 }).law(4);
        assert_eq!(law, Law::Hypergeometric { n: 1, all: 10, common: 4 });
        assert_eq!(of(Population::Unknown).law(STEPS / 2), Law::Binomial { n: 1, p: 0.5 });
        assert_eq!(STEPS, 1_099_511_627_776);
    }

    #[test]
    fn bisection_finds_the_first_that_is_not_before() {
        for end in 0..20u64 {
            for first in 0..=end {
                assert_eq!((0..end).partition_by(|step| *step < first), first);
                assert_eq!((7..7 + end).partition_by(|step| *step < 7 + first), 7 + first);
            }
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_taken_as_the_nearest() {
        assert_eq!(interval(9, 5, Population::Unknown, 0.95), interval(5, 5, Population::Unknown, 0.95));
        let [none, less] = [0.0, -3.0].map(|confidence| interval(3, 9, Population::Unknown, confidence));
        assert_eq!(none, less);
        let [all, more] =
            [1.0, 7.0].map(|confidence| interval(3, 9, Population::Unknown, confidence).expect("a sample"));
        assert_eq!(all, more);
        assert!(all.low < 0.001 && all.high > 0.99, "{all:?}");
    }

    #[test]
    fn collisions_weigh_more_the_surer_an_interval_must_be() {
        let narrow = Estimate { value: 0.5, low: 0.4, high: 0.6, collisions: 0.0 };
        let error = |bits, shingles, confidence| {
            narrow.with_collisions(collision_bound(320, bits), shingles, confidence).collisions
        };
        let at_95 = error(40, 1 << 12, 0.95);
        assert!((at_95 - 320.0 * f64::from(1 << 12) / f64::from(1 << 29)).abs() < 1e-12, "{at_95}");
        assert!((error(40, 1 << 12, 0.99) - 5.0 * at_95).abs() < 1e-9);
        assert_eq!(error(40, 1 << 12, 0.5), at_95);
        assert!(error(64, 1 << 12, 0.95) > 0.0);
    }

    #[test]
    fn rejected_counts_match_the_law() {
        for sample in [1, 2, 16, 20, 64, 128, 512, 513, 1024, 2048, 10_000] {
            for (threshold, doubt) in [(0.05, 0.1), (0.5, 0.05), (0.8, 1e-6), (0.99, 1e-6)] {
                let law = Law::Binomial { n: sample, p: threshold };
                let naive = (0..=sample).take_while(|common| law.at_most(*common) <= doubt).count() as u64;
                assert_eq!(rejected(sample, threshold, doubt), naive, "{sample} at {threshold}");
            }
        }
    }
}
