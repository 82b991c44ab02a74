//! The exact measures of two sets of shingles: resemblance, containment and distance.
//!
//! ```text
//! r(A, B) = |A ∩ B| / |A ∪ B|      c(A, B) = |A ∩ B| / |A|      d(A, B) = 1 − r(A, B), a metric
//! ```
//!
//! A document of fewer than w tokens has no shingles; its measures are undefined, never 0 or 1.
//!
//! Cost: one merge of two sorted lists. **Source.** Broder 1997, §2 and §3.

/// The sizes of two sets of shingles and of their intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Number of elements of the left set.
    pub left: u64,
    /// Number of elements of the right set.
    pub right: u64,
    /// Number of elements in both sets.
    pub common: u64,
}

impl Counts {
    /// Counts two sets. REQUIRES: both ascend without repetition (`shingle::into_set`).
    pub fn new(left: &[u64], right: &[u64]) -> Self {
        let (mut i, mut j, mut common) = (0, 0, 0);
        while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
            common += u64::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        Self { left: left.len() as u64, right: right.len() as u64, common }
    }

    /// r(A, B); undefined if either has no shingles.
    pub fn resemblance(self) -> Option<f64> {
        let is_defined = self.left > 0 && self.right > 0;
        is_defined.then(|| self.common as f64 / (self.left + self.right - self.common) as f64)
    }

    /// c(A, B): the share of the left set that is in the right set; undefined if either has no shingles.
    pub fn containment(self) -> Option<f64> {
        (self.left > 0 && self.right > 0).then(|| self.common as f64 / self.left as f64)
    }

    /// The counts with left and right swapped.
    pub fn turned(self) -> Self {
        Self { left: self.right, right: self.left, common: self.common }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Options, Unit};
    use crate::sketch::shingle::{into_set, Shingler, Shingling};
    use crate::testing::fixed;
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn counts(a: &str, b: &str, width: i64, labelled: bool) -> Counts {
        let options = Options { unit: Unit::Word, homoglyphs: false };
        let mut shingler = Shingler::new(Shingling::new(options, width, labelled, 64).expect("in range"));
        let mut set = |text| {
            let mut ids = Vec::new();
            shingler.ids(text, &mut ids);
            into_set(&mut ids);
            ids
        };
        Counts::new(&set(a), &set(b))
    }

    fn shares(a: &str, b: &str, width: i64, labelled: bool) -> [f64; 3] {
        let found = counts(a, b, width, labelled);
        [found.resemblance(), found.containment(), found.turned().containment()].map(|share| share.expect("shingles"))
    }

    #[test]
    fn paper_broder1997_rose() {
        let (a, b) = ("a rose is a rose is a rose", "a rose is a flower which is a rose");
        // Width; then r, c(A, B), c(B, A) labelled, and the same as sets.
        let table = [
            (1, [7. / 10., 7. / 8., 7. / 9.], [3. / 5., 1., 3. / 5.]),
            (2, [1. / 2., 5. / 7., 5. / 8.], [1. / 2., 1., 1. / 2.]),
            (3, [3. / 10., 1. / 2., 3. / 7.], [3. / 7., 1., 3. / 7.]),
            (4, [1. / 10., 1. / 5., 1. / 6.], [1. / 8., 1. / 3., 1. / 6.]),
        ];
        for (width, labelled, set) in table {
            assert_eq!(shares(a, b, width, true), labelled, "labelled, width {width}");
            assert_eq!(shares(a, b, width, false), set, "as sets, width {width}");
        }
    }

    #[test]
    fn paper_broder1997_permutation_of_two_shingles() {
        assert_eq!(shares("a c a b a", "a b a c a", 2, false), [1.0; 3]);
        assert_eq!(shares("a c a b a", "a b a c a", 2, true), [1.0; 3]);
        assert!(shares("a c a b a", "a b a c a", 3, false)[0] < 1.0);
    }

    #[test]
    fn without_shingles_nothing_is_defined() {
        for (a, b) in [("", ""), ("one two three four", "one"), ("one", "one two three four")] {
            let found = counts(a, b, 4, false);
            assert_eq!((found.resemblance(), found.containment(), found.turned().containment()), (None, None, None));
        }
    }

    fn of(left: &BTreeSet<u64>, right: &BTreeSet<u64>) -> Counts {
        let list = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<_>>();
        Counts::new(&list(left), &list(right))
    }

    proptest! {
        #![proptest_config(fixed(500))]

        #[test]
        fn counts_match_naive(a in btree_set(0u64..40, 0..30), b in btree_set(0u64..40, 0..30)) {
            let expected = Counts { left: a.len() as u64, right: b.len() as u64, common: a.intersection(&b).count() as u64 };
            prop_assert_eq!(of(&a, &b), expected);
        }

        #[test]
        fn the_distance_is_a_metric(
            a in btree_set(0u64..12, 1..12), b in btree_set(0u64..12, 1..12), c in btree_set(0u64..12, 1..12),
        ) {
            let distance = |x, y| 1.0 - of(x, y).resemblance().expect("not empty");
            prop_assert!(distance(&a, &c) <= distance(&a, &b) + distance(&b, &c) + 1e-12);
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            prop_assert_eq!(distance(&a, &b) == 0.0, a == b);
        }
    }
}
