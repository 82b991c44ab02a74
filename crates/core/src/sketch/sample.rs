//! Samples of the set of shingles: MIN_s, MOD_m, MIN_s of MOD_m, and the family L_i.
//!
//! Ids are scrambled, so all four have one form: the ids below a limit, and of these the s smallest.
//!
//! | sample | limit | at most | resemblance | containment |
//! |---|---|---|---|---|
//! | `smallest`, MIN_s | none | s | the s smallest of both together (1997, Theorem 1) | no |
//! | `modulo`, MOD_m | 2^64/m | all | all | yes |
//! | `smallest-modulo`, MIN_s of MOD_m | 2^64/m | s | the s smallest of both together | no |
//! | `adaptive`, L_i | 2^64/2^i | all | below the smaller limit | yes |
//!
//! A limit instead of a residue makes samples nest: MOD_2m is part of MOD_m, and L_(i+1) is cut from L_i. Level i of a
//! document with n distinct shingles is the least with n/2^i ≤ 100, so 50 to 100 are expected. Two documents are
//! compared at the higher level.
//!
//! The estimates are unbiased if the sample is not empty, and undefined if it is. (This is the correction for empty
//! samples: counting them as 0 would give the mean c·(1 − (1 − 1/m)^|A|).)
//!
//! Cost: one pass, and a sort of the kept ids. **Source.** Broder 1997, §3 (Theorem 1, L_i), §4.1 (MIN_s of MOD_m).

use super::exact::Counts;

/// Most elements expected in an adaptive sample.
pub const ADAPTIVE: u64 = 100;

/// Some ids of a document, ascending and distinct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The ids kept.
    pub ids: Vec<u64>,
    /// The greatest id that can be kept; all ones for no limit.
    pub limit: u64,
    /// Most elements kept; `None` for no limit.
    pub most: Option<usize>,
}

/// The greatest id that MOD_m keeps; MOD_0 counts as MOD_1.
pub fn limit_of_modulus(modulus: u64) -> u64 {
    u64::MAX / modulus.max(1)
}

/// The level of a document with `distinct` distinct shingles.
pub fn level_of(distinct: u64) -> u32 {
    (0..64).find(|level| distinct >> level < ADAPTIVE || distinct == ADAPTIVE << level).unwrap_or(63)
}

/// The greatest id that L_i keeps.
pub fn limit_of_level(level: u32) -> u64 {
    u64::MAX >> level.min(63)
}

impl Sample {
    /// Samples a set of ids with this limit and size. REQUIRES: `set` ascends without repetition.
    pub fn of_set(set: &[u64], limit: u64, most: Option<usize>) -> Self {
        let below = set.partition_point(|id| *id <= limit);
        let kept = most.map_or(below, |most| most.min(below));
        Self { ids: set[..kept].to_vec(), limit, most }
    }

    /// Whether the sample has all ids of the document; then its length is the number of distinct shingles.
    pub fn is_whole(&self) -> bool {
        self.limit == u64::MAX && self.most.is_none_or(|most| self.ids.len() < most)
    }

    /// The ids that remain under a lower limit.
    fn under(&self, limit: u64) -> &[u64] {
        &self.ids[..self.ids.partition_point(|id| *id <= limit)]
    }

    /// The sample of the union, at the lower of both limits.
    pub fn merged(&self, other: &Self) -> Self {
        let limit = self.limit.min(other.limit);
        let mut ids = [self.under(limit), other.under(limit)].concat();
        ids.sort_unstable();
        ids.dedup();
        ids.truncate(self.most.unwrap_or(usize::MAX));
        Self { ids, limit, most: self.most }
    }

    /// Number of common elements in the sample of the union, and its size; resemblance is estimated from these.
    pub fn of_union(&self, other: &Self) -> (u64, u64) {
        let limit = self.limit.min(other.limit);
        let (left, right) = (self.under(limit), other.under(limit));
        let (mut i, mut j, mut common, mut size) = (0, 0, 0, 0);
        while size < self.most.unwrap_or(usize::MAX) as u64 && (i < left.len() || j < right.len()) {
            // At the end of one side the other is taken. The id of all ones may occur, so it cannot mark the end.
            let (a, b) = (left.get(i), right.get(j));
            let (take_left, take_right) = match (a, b) {
                (Some(a), Some(b)) => (a <= b, b <= a),
                (a, b) => (a.is_some(), b.is_some()),
            };
            common += u64::from(take_left && take_right);
            size += 1;
            i += usize::from(take_left);
            j += usize::from(take_right);
        }
        (common, size)
    }

    /// Number of elements of this sample that the other has too, and their total; containment in the other is estimated
    /// from these.
    pub fn of_left(&self, other: &Self) -> (u64, u64) {
        let limit = self.limit.min(other.limit);
        let counts = Counts::new(self.under(limit), other.under(limit));
        (counts.common, counts.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Set = BTreeSet<u64>;

    fn sample(set: &Set, limit: u64, most: Option<usize>) -> Sample {
        Sample::of_set(&set.iter().copied().collect::<Vec<_>>(), limit, most)
    }

    /// Adds one id to a sample.
    fn insert(sample: &mut Sample, id: u64) {
        let place = sample.ids.partition_point(|other| *other < id);
        if id <= sample.limit && sample.ids.get(place) != Some(&id) {
            sample.ids.insert(place, id);
            sample.ids.truncate(sample.most.unwrap_or(usize::MAX));
        }
    }

    fn ids() -> impl Strategy<Value = Set> {
        btree_set(prop_oneof![0u64..60, any::<u64>(), Just(u64::MAX)], 0..60)
    }

    fn shape() -> impl Strategy<Value = (u64, Option<usize>)> {
        (prop_oneof![Just(u64::MAX), 1u64..80, any::<u64>()], prop::option::of(1usize..40))
    }

    proptest! {
        #![proptest_config(fixed(400))]

        #[test]
        fn the_union_is_counted_as_theorem_1_says(a in ids(), b in ids(), (limit, most) in shape()) {
            // MIN_s of the union, then those in both sets.
            let union: Vec<u64> = a.union(&b).copied().filter(|id| *id <= limit).take(most.unwrap_or(usize::MAX)).collect();
            let common = union.iter().filter(|id| a.contains(id) && b.contains(id)).count();
            let found = sample(&a, limit, most).of_union(&sample(&b, limit, most));
            prop_assert_eq!(found, (common as u64, union.len() as u64));
        }

        #[test]
        fn merging_and_inserting_give_the_sample_of_the_union(a in ids(), b in ids(), (limit, most) in shape()) {
            let union: Set = a.union(&b).copied().collect();
            let mut one_by_one = sample(&a, limit, most);
            b.iter().rev().for_each(|id| insert(&mut one_by_one, *id));
            prop_assert_eq!(&one_by_one, &sample(&union, limit, most));
            prop_assert_eq!(sample(&a, limit, most).merged(&sample(&b, limit, most)), one_by_one);
        }

        #[test]
        fn samples_of_two_limits_meet_at_the_lower(a in ids(), b in ids(), low in any::<u64>(), more in any::<u64>()) {
            let high = low.saturating_add(more);
            let coarse = (sample(&a, low, None), sample(&b, low, None));
            prop_assert_eq!(sample(&a, high, None).of_union(&coarse.1), coarse.0.of_union(&coarse.1));
            prop_assert_eq!(sample(&a, high, None).of_left(&coarse.1), coarse.0.of_left(&coarse.1));
            prop_assert_eq!(sample(&a, high, None).merged(&coarse.1), coarse.0.merged(&coarse.1));
        }
    }

    #[test]
    fn larger_moduli_keep_a_part_of_what_smaller_ones_keep() {
        let moduli = [1u64, 2, 3, 8, 1000, 1 << 40, u64::MAX];
        assert!(moduli.windows(2).all(|pair| limit_of_modulus(pair[1]) < limit_of_modulus(pair[0])));
        assert!((0..63).all(|level| limit_of_level(level + 1) == limit_of_level(level) / 2));
        assert!((0..63).all(|level| limit_of_level(level) == limit_of_modulus(1 << level)));
    }

    #[test]
    fn levels_expect_50_to_100_elements() {
        for distinct in [101u64, 150, 200, 201, 5_000, 99_999, 1 << 33] {
            let expected = distinct as f64 / (level_of(distinct) as f64).exp2();
            assert!(expected > 50.0 && expected <= 101.0, "{distinct}: {expected}");
        }
        assert_eq!([0, 1, 100, 200, u64::MAX].map(level_of), [0, 0, 0, 1, 58]);
    }

    #[test]
    fn a_sample_that_left_nothing_out_knows_it() {
        let set: Set = (0..10).collect();
        assert!(sample(&set, u64::MAX, None).is_whole() && sample(&set, u64::MAX, Some(11)).is_whole());
        assert!(!sample(&set, u64::MAX, Some(10)).is_whole() && !sample(&set, u64::MAX / 2, None).is_whole());
    }
}
