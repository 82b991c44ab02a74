//! Finds the fingerprints within a distance of one query by comparing all of them.
//!
//! Cost: one pass, 8 bytes per fingerprint; a million in cache take 0.3 ms with AVX-512, and in memory the time that reading takes. For
//! one query of a column that is already in memory, this is cheaper than building tables (`tables.rs`). **Source.** Manku, Jain,
//! Das Sarma 2007, §3: the linear pass that their tables avoid.

use super::check::{Kernel, Portable, Way, ROWS};
#[cfg(target_arch = "x86_64")]
use crate::machine::{Avx2, CountAvx512};

/// Appends the places of the values that differ from `query` in at most `distance` bits, ascending.
pub fn scan(values: &[u64], query: u64, distance: u32, out: &mut Vec<usize>) {
    scan_by(Way::detect(), values, query, distance, out);
}

fn scan_by(way: Way, values: &[u64], query: u64, distance: u32, out: &mut Vec<usize>) {
    match way {
        // SAFETY: `count` proves the features the function is compiled for.
        #[cfg(target_arch = "x86_64")]
        Way::Avx512(count) => unsafe { scan_avx512(count, values, query, distance, out) },
        // SAFETY: `avx2` proves the features the function is compiled for.
        #[cfg(target_arch = "x86_64")]
        Way::Avx2(avx2) => unsafe { scan_avx2(avx2, values, query, distance, out) },
        Way::Portable => scan_with(Portable, values, query, distance, out),
    }
}

#[inline(always)]
fn scan_with<K: Kernel>(kernel: K, values: &[u64], query: u64, distance: u32, out: &mut Vec<usize>) {
    for (number, rows) in values.chunks(ROWS).enumerate() {
        let mut mask = kernel.near(rows, query, distance);
        while mask != 0 {
            out.push(number * ROWS + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
    }
}

/// [`scan_with`] compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn scan_avx512(count: CountAvx512, values: &[u64], query: u64, distance: u32, out: &mut Vec<usize>) {
    scan_with(count, values, query, distance, out);
}

/// [`scan_with`] compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn scan_avx2(_: Avx2, values: &[u64], query: u64, distance: u32, out: &mut Vec<usize>) {
    scan_with(Portable, values, query, distance, out);
}

#[cfg(test)]
mod tests {
    use super::super::tables::tests::fingerprints;
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(200))]
        #[test]
        fn every_way_matches_naive(values in fingerprints(0..300), at in any::<prop::sample::Index>(), distance in 0u32..=64) {
            let query = if values.is_empty() { 7 } else { values[at.index(values.len())] };
            let is_near = |at: &usize| (values[*at] ^ query).count_ones() <= distance;
            let naive: Vec<usize> = (0..values.len()).filter(is_near).collect();
            for way in Way::all() {
                let mut found = Vec::new();
                scan_by(way, &values, query, distance, &mut found);
                prop_assert_eq!(&found, &naive, "{:?}", way);
            }
        }
    }
}
