//! Plain code as the winnowing paper prints it. Tests and `make bench` compare the fast paths with it.
//!
//! It is neither blocked nor vectorised, and no product code calls it.

use crate::hash::rolling::Rolling;

/// Runs Figure 5 of Schleimer, Wilkerson, Aiken 2003 on hashes; returns the recorded positions.
///
/// Two slips of the figure are corrected: `(r-1)%w` is −1 in C at r = 0, and `INT_MAX` is not the largest 64-bit hash. A third
/// is kept: the figure records the minima of partial first windows, unlike Figure 2(f).
pub fn figure5(hashes: &[u64], w: usize) -> Vec<u32> {
    let mut recorded = Vec::new();
    let mut h = vec![u64::MAX; w.max(1)];
    let w = h.len();
    let (mut r, mut min) = (0, 0);
    for (pos, hash) in hashes.iter().enumerate() {
        r = (r + 1) % w;
        h[r] = *hash;
        if min == r {
            let mut i = (r + w - 1) % w;
            while i != r {
                if h[i] < h[min] {
                    min = i;
                }
                i = (i + w - 1) % w;
            }
            recorded.push(global_position(min, r, w, pos));
        } else if h[r] <= h[min] {
            min = r;
            recorded.push(global_position(min, r, w, pos));
        }
    }
    recorded
}

/// Returns the position in the document of slot `min`, when slot `r` holds position `pos`.
fn global_position(min: usize, r: usize, w: usize, pos: usize) -> u32 {
    (pos - (r + w - min) % w) as u32
}

/// Runs Figure 5 on ASCII text, in three plain loops: normalise, roll H′, winnow.
pub fn figure5_text(text: &[u8], k: usize, w: usize) -> Vec<u32> {
    let canonical: Vec<u8> =
        text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    let Some(first) = canonical.get(..k) else { return Vec::new() };
    let rolling = Rolling::new(k);
    let mut hash = Rolling::from_scratch(first);
    let mut hashes = vec![u64::from(hash)];
    for (leaving, entering) in canonical.iter().zip(&canonical[k..]) {
        hash = rolling.step(hash, *leaving, *entering);
        hashes.push(u64::from(hash));
    }
    figure5(&hashes, w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{select_hashes, Winnow};
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn figure5_is_winnowing_after_its_partial_windows(hashes in prop::collection::vec(0u64..50, 0..200), w in 1usize..20) {
            let full: Vec<u32> = select_hashes(&Winnow { window: w, robust: false }, &hashes);
            let figure = figure5(&hashes, w);
            if hashes.len() >= w {
                prop_assert!(figure.ends_with(&full), "{:?} {:?}", figure, full);
                prop_assert!(figure[..figure.len() - full.len()].iter().all(|pos| (*pos as usize) < w));
            }
        }
    }
}
