//! A column of uncompressed sorted values with a directory: entry i is the position of the first value with prefix i.
//!
//! Cost: 8 bytes per value and 4 · 2^depth bytes; a lookup takes two memory accesses. Binary search takes 29 times as long on 100
//! million values (909 ns instead of 31).

use super::column::Column;
use super::memory::{prefetch, reserve};
use std::ops::Range;

/// The most values of a column: positions have 32 bits.
pub const MAX_VALUES: usize = u32::MAX as usize;

/// Sorted values and their directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// Ascending.
    values: Vec<u64>,
    depth: u32,
    /// 2^depth + 1 positions, ascending: bucket i is `starts[i]..starts[i + 1]`.
    starts: Vec<u32>,
}

impl Plain {
    /// Makes a column of values with a directory by their top `depth` bits.
    /// REQUIRES: the values ascend, are at most [`MAX_VALUES`], and `depth` < 32.
    pub fn new(values: Vec<u64>, depth: u32) -> Self {
        debug_assert!(values.is_sorted() && values.len() <= MAX_VALUES && depth < 32);
        let mut starts = reserve((1 << depth) + 1);
        let mut at = 0;
        for prefix in 0..1u64 << depth {
            starts.push(at as u32);
            while values.get(at).is_some_and(|value| value.checked_shr(64 - depth).unwrap_or(0) == prefix) {
                at += 1;
            }
        }
        starts.push(values.len() as u32);
        Self { values, depth, starts }
    }

    /// Returns the bytes of values and directory.
    pub fn bytes(&self) -> usize {
        self.values.len() * 8 + self.starts.len() * 4
    }
}

impl Column for Plain {
    fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn depth(&self) -> u32 {
        self.depth
    }

    #[inline(always)]
    fn hint(&self, prefix: u64) {
        prefetch(&self.starts, prefix as usize);
    }

    #[inline(always)]
    fn bucket(&self, prefix: u64) -> Range<usize> {
        match self.starts.get(prefix as usize..) {
            Some([start, end, ..]) => {
                prefetch(&self.values, *start as usize);
                prefetch(&self.values, (*end as usize).saturating_sub(1));
                *start as usize..*end as usize
            }
            _ => 0..0,
        }
    }

    #[inline(always)]
    fn slice(&self, rows: Range<usize>) -> Option<&[u64]> {
        Some(self.values.get(rows).unwrap_or_default())
    }

    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        let end = rows.end.min(self.values.len());
        if let Some(values) = self.values.get(rows.start..end).filter(|values| !values.is_empty()) {
            seen(rows.start, values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// Spread and crowded values, the extremes among them.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = prop_oneof![any::<u64>(), 0u64..50, (0u64..50).prop_map(|low| u64::MAX - low), Just(1 << 63)];
        prop::collection::vec(value, 0..200).prop_map(|mut values| {
            values.sort_unstable();
            values
        })
    }

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn buckets_hold_the_values_with_their_prefix(values in values(), depth in 0u32..9) {
            let column = Plain::new(values.clone(), depth);
            for prefix in 0..1u64 << depth {
                let expected: Vec<u64> =
                    values.iter().copied().filter(|value| value.checked_shr(64 - depth).unwrap_or(0) == prefix).collect();
                prop_assert_eq!(&values[column.bucket(prefix)], &expected[..]);
            }
            prop_assert!(column.bucket(1 << depth).is_empty());
            prop_assert!(column.bucket(u64::MAX).is_empty());
        }

        #[test]
        fn a_visit_sees_the_values_between(values in values(), depth in 0u32..9, low in any::<u64>(), high in any::<u64>()) {
            let column = Plain::new(values.clone(), depth);
            let mut seen = vec![];
            column.visit(low, high, &mut |first, some| {
                assert_eq!(&values[first..first + some.len()], some);
                seen.extend_from_slice(some);
            });
            let expected: Vec<u64> = values.into_iter().filter(|value| (low..=high).contains(value)).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
