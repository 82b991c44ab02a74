//! Compact: winnowing under the open-closed order. It has the same guarantee with 15–26 % fewer fingerprints.
//!
//! For characters the gain begins at w = (k − 4)/2; narrower windows give as many fingerprints as winnowing
//! (`lookalike lab density` draws it).
//!
//! Take the smallest r-gram inside a k-gram, the leftmost on ties, at offset x. The k-gram is *open* if x is the middle offset
//! ⌊(k−r)/2⌋, *closed* if x is the first or last offset, and *other* otherwise. Open k-grams rank before closed ones, closed
//! before other ones; within a class the key decides. Open k-grams lie at least half a k-gram apart, so the minimum of a window
//! tends to stay the minimum for longer. The class depends on the k-gram alone. So this is a fixed order on k-grams, and Lemma 1,
//! t and the nesting of windows hold.
//!
//! Cost: one sliding minimum over the r-grams by the jump loop; the class changes only O(1) times between two minima.
//!
//! Source: Groot Koerkamp, Liu, Pibiri, *The open-closed mod-minimizer algorithm*, Alg. Mol. Biol. 20:4, 2025.

use super::minimum::{Kernel, Portable};
use super::winnow::Winnow;
use super::{Gram, Order, Scheme, Selector};
use crate::hash::rolling::{Rolling, Symbol};
#[cfg(target_arch = "x86_64")]
use crate::machine::Avx2;

/// The scheme; its field chooses the rule for ties.
#[derive(Clone, Copy, Debug)]
pub struct Compact(pub Winnow);

impl Scheme for Compact {
    fn window(&self, len: usize) -> usize {
        self.0.window(len)
    }

    fn sample(&self, window: &[Gram], previous: Option<usize>) -> Vec<usize> {
        self.0.sample(window, previous)
    }

    fn order(&self) -> Order {
        Order::OpenClosed
    }

    fn selector(&self) -> Box<dyn Selector + Send> {
        self.0.selector()
    }
}

/// Classes, best first; the two upper bits of a key.
const OPEN: u32 = 0;
const CLOSED: u32 = 1;
const OTHER: u32 = 2;

/// r for characters: four characters are almost never repeated inside a k-gram of text (4 to 6 gave the same density).
const OF_CHARACTERS: usize = 4;

/// r for words, lines and other tokens that seldom repeat.
const OF_WORDS: usize = 1;

/// Writes the class of each k-gram into the two upper bits of its key; `keys[i]` is the key of `tokens[i..i + k]`.
///
/// REQUIRES: `keys.len() ≤ tokens.len() − k + 1`; further keys get the class *other*. `inner` is reused between calls.
pub fn open_closed_keys<S: Symbol>(tokens: &[S], k: usize, is_character: bool, keys: &mut [u32], inner: &mut Vec<u32>) {
    if is_character {
        classify_here::<S, OF_CHARACTERS>(tokens, k, keys, inner);
    } else {
        classify_here::<S, OF_WORDS>(tokens, k, keys, inner);
    }
}

/// Runs [`classify`] with the fastest kernel of this machine.
fn classify_here<S: Symbol, const R: usize>(tokens: &[S], k: usize, keys: &mut [u32], inner: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        // SAFETY: `avx2` proves the feature the function is compiled for.
        return unsafe { classify_avx2::<S, R>(avx2, tokens, k, keys, inner) };
    }
    classify::<_, S, R>(Portable, tokens, k, keys, inner);
}

/// [`classify`] compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn classify_avx2<S: Symbol, const R: usize>(
    avx2: Avx2,
    tokens: &[S],
    k: usize,
    keys: &mut [u32],
    inner: &mut Vec<u32>,
) {
    classify::<_, S, R>(avx2, tokens, k, keys, inner);
}

#[inline(always)]
fn classify<K: Kernel, S: Symbol, const R: usize>(
    kernel: K,
    tokens: &[S],
    k: usize,
    keys: &mut [u32],
    inner: &mut Vec<u32>,
) {
    // A k-gram no longer than r is its own smallest r-gram, at the middle offset.
    let Some(last) = k.checked_sub(R + 1).map(|rest| rest + 1) else {
        keys.iter_mut().for_each(|key| *key = with_class(OPEN, *key >> 2));
        return;
    };
    keys.iter_mut().for_each(|key| *key = with_class(OTHER, *key >> 2));
    inner_hashes::<S, R>(tokens, inner);
    let mut start = 0;
    leftmost_minima(kernel, inner, last + 1, keys.len(), |min, end| {
        // The k-grams `start..end` have their smallest r-gram at `min`; each offset determines one of them.
        for (offset, class) in [(0, CLOSED), (last, CLOSED), (last / 2, OPEN)] {
            let at = min.wrapping_sub(offset);
            if (start..end).contains(&at) {
                keys[at] = with_class(class, keys[at]);
            }
        }
        start = end;
    });
}

/// Returns the key with its two upper bits set to `class`.
#[inline(always)]
const fn with_class(class: u32, key: u32) -> u32 {
    (class << 30) | (key & (u32::MAX >> 2))
}

/// Computes the hashes that order the r-grams of `tokens`: H′, scrambled so that this order is independent of that of k-grams.
#[inline(always)]
fn inner_hashes<S: Symbol, const R: usize>(tokens: &[S], inner: &mut Vec<u32>) {
    inner.clear();
    inner.resize((tokens.len() + 1).saturating_sub(R), 0);
    for (i, hash) in inner.iter_mut().enumerate() {
        let sum = Rolling::from_scratch(&tokens[i..i + R]);
        *hash = (sum ^ (sum >> 15)).wrapping_mul(0x2C1B_3C6D);
    }
}

/// Calls `run(min, end)` for each maximal run of windows, ending before window `end`, whose leftmost minimum is at `min`.
#[inline(always)]
fn leftmost_minima(
    kernel: impl Kernel,
    values: &[u32],
    window: usize,
    windows: usize,
    mut run: impl FnMut(usize, usize),
) {
    let windows = windows.min((values.len() + 1).saturating_sub(window));
    // The end of the last window.
    let end = windows + window - 1;
    let mut at = 0;
    while at < windows {
        let found = kernel.minimum(&values[at..at + window]);
        let (mut least, mut min) = (found.key, at + found.first);
        let mut entering = at + window;
        // Follows smaller values as they enter, until the minimum leaves.
        while let Some(next) = first_below(kernel, values, entering, (min + window).min(end), least) {
            run(min, next + 1 - window);
            (min, least, entering) = (next, values[next], next + 1);
        }
        at = (min + 1).min(windows);
        run(min, at);
    }
}

/// Returns the position of the first value below `limit` in `values[from..to]`.
#[inline(always)]
fn first_below(kernel: impl Kernel, values: &[u32], from: usize, to: usize, limit: u32) -> Option<usize> {
    let ahead = values.get(from..)?;
    kernel.first_at_most(ahead, to.min(values.len()).checked_sub(from)?, limit.checked_sub(1)?).map(|step| from + step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixed, low_entropy_bytes};
    use proptest::prelude::*;

    fn class_by_definition(gram: &[u8], r: usize, inner: &[u32]) -> u32 {
        let last = gram.len().saturating_sub(r);
        let smallest = inner[..=last].iter().min();
        match inner[..=last].iter().position(|value| Some(value) == smallest) {
            Some(x) if x == last / 2 => OPEN,
            Some(x) if x == 0 || x == last => CLOSED,
            _ => OTHER,
        }
    }

    /// Classes of the k-grams of `bytes` by the portable kernel and by this machine's, and by the definition.
    fn classes<const R: usize>(bytes: &[u8], k: usize) -> [Vec<u32>; 3] {
        let keys = vec![u32::MAX; (bytes.len() + 1).saturating_sub(k)];
        let (mut portable, mut here, mut inner) = (keys.clone(), keys, Vec::new());
        classify::<_, u8, R>(Portable, bytes, k, &mut portable, &mut inner);
        classify_here::<u8, R>(bytes, k, &mut here, &mut inner);
        assert!(here.iter().all(|key| key & 0x3FFF_FFFF == 0x3FFF_FFFF), "the rest of the key stays");
        inner_hashes::<u8, R>(bytes, &mut inner);
        let wanted = |(i, gram): (usize, &[u8])| if k <= R { OPEN } else { class_by_definition(gram, R, &inner[i..]) };
        let wanted: Vec<u32> = bytes.windows(k).enumerate().map(wanted).collect();
        let class = |keys: Vec<u32>| keys.into_iter().map(|key| key >> 30).collect();
        [class(portable), class(here), wanted]
    }

    proptest! {
        #![proptest_config(fixed(400))]
        #[test]
        fn classes_match_the_definition(bytes in low_entropy_bytes(0..300), k in 1usize..60) {
            for [portable, here, wanted] in [classes::<OF_WORDS>(&bytes, k), classes::<OF_CHARACTERS>(&bytes, k)] {
                prop_assert_eq!(&portable, &wanted);
                prop_assert_eq!(&here, &wanted);
            }
        }
    }
}
