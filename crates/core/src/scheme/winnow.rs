//! Winnowing (Definition 1) and robust winnowing (Definition 3): selects the minimum of every window of w k-grams.
//!
//! **Guarantee.** Two texts that share a run of t = w + k − 1 tokens share a window of w k-grams. The k-gram taken from it, the
//! rightmost minimum, depends on the window alone, so both texts have that fingerprint at the same place in the run (Lemma 1).
//! Among equal k-grams the robust rule prefers the one that the previous window took. The shared *value* is then the same, but
//! its position may differ by up to w − 1.
//!
//! **Density** is 2/(w+1) on random text. On a run of one character the plain rule takes every k-gram, the robust rule one in w.
//! Windows nest: with w′ ≥ w the selection is a subset, by position (plain) or by value (robust) (§3.2).
//!
//! **Cost.** The jump loop searches, from the current minimum, for the next key not above it within their common windows. If
//! there is none, it takes the minimum of the next window. Both are SIMD scans. The cost is O(n) expected, and O(n·w/8) where keys
//! rise over long stretches, which hashes do not. A monotone deque is always O(n), but 30 times slower.
//!
//! Source: Schleimer, Wilkerson, Aiken 2003, §3, §5.1, Figure 5. Figure 5 also records partial first windows, unlike the paper's
//! Figure 2; here only full windows count.

use super::minimum::{Kernel, Portable};
use super::{Block, Gram, Picks, Scheme, Selector};
#[cfg(target_arch = "x86_64")]
use crate::machine::Avx2;

/// The scheme.
#[derive(Clone, Copy, Debug)]
pub struct Winnow {
    /// w ≥ 1.
    pub window: usize,
    /// Definition 3 instead of Definition 1.
    pub robust: bool,
}

impl Scheme for Winnow {
    fn window(&self, _len: usize) -> usize {
        self.window
    }

    fn sample(&self, window: &[Gram], previous: Option<usize>) -> Vec<usize> {
        let Some(smallest) = window.iter().map(Gram::rank).min() else { return Vec::new() };
        let kept = previous.filter(|i| self.robust && window[*i].rank() == smallest);
        kept.or_else(|| window.iter().rposition(|gram| gram.rank() == smallest)).into_iter().collect()
    }

    fn selector(&self) -> Box<dyn Selector + Send> {
        Box::new(Running { scheme: *self, current: None, scanned: 0 })
    }
}

/// The minimum of the latest window.
#[derive(Clone, Copy)]
struct Current {
    pos: usize,
    key: u32,
    identity: u64,
}

/// State of a running selection.
struct Running {
    scheme: Winnow,
    /// None before the first full window.
    current: Option<Current>,
    /// Every k-gram between `current` and this position ranks above `current`, or ties under the robust rule.
    scanned: usize,
}

impl Selector for Running {
    fn push(&mut self, block: &Block, picks: &mut Picks) -> usize {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            // SAFETY: `avx2` proves the feature the function is compiled for.
            return unsafe { self.push_avx2(avx2, block, picks) };
        }
        self.jump(Portable, block, picks)
    }

    fn finish(&mut self, block: &Block, picks: &mut Picks) {
        // A document shorter than one window is one window.
        if self.current.is_none() && !block.keys.is_empty() {
            self.take(Portable, block, block.base, block.end(), picks);
        }
    }
}

impl Running {
    /// [`jump`](Self::jump) compiled for AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn push_avx2(&mut self, avx2: Avx2, block: &Block, picks: &mut Picks) -> usize {
        self.jump(avx2, block, picks)
    }

    #[inline(always)]
    fn jump(&mut self, kernel: impl Kernel, block: &Block, picks: &mut Picks) -> usize {
        let window = self.scheme.window.max(1);
        loop {
            let next_window = match self.current {
                None => block.base,
                Some(current) => {
                    // Windows that contain the current minimum end before this position.
                    let leaves = current.pos + window;
                    if self.follow(kernel, current, block, leaves.min(block.end()), picks) {
                        continue;
                    }
                    current.pos + 1
                }
            };
            if next_window + window > block.end() {
                return self.current.map_or(block.base, |current| current.pos);
            }
            self.take(kernel, block, next_window, next_window + window, picks);
        }
    }

    /// Searches, before position `until`, for the k-gram that replaces `current`; returns whether there is one.
    #[inline(always)]
    fn follow(
        &mut self,
        kernel: impl Kernel,
        current: Current,
        block: &Block,
        until: usize,
        picks: &mut Picks,
    ) -> bool {
        while self.scanned < until {
            let ahead = &block.keys[self.scanned - block.base..];
            let Some(step) = kernel.first_at_most(ahead, until - self.scanned, current.key) else { break };
            let pos = self.scanned + step;
            self.scanned = pos + 1;
            let key = block.key(pos);
            let identity = block.grams.identity(pos);
            let takes_over = key < current.key
                || identity < current.identity
                || (identity == current.identity && !self.scheme.robust);
            if takes_over {
                self.current = Some(Current { pos, key, identity });
                picks.push(pos, identity);
                return true;
            }
        }
        self.scanned = self.scanned.max(until);
        false
    }

    /// Takes the rightmost minimum of the window `from..to`.
    #[inline(always)]
    fn take(&mut self, kernel: impl Kernel, block: &Block, from: usize, to: usize, picks: &mut Picks) {
        let found = kernel.minimum(&block.keys[from - block.base..to - block.base]);
        let last = (from + found.last, block.grams.identity(from + found.last));
        let (pos, identity) = match found.first == found.last {
            true => last,
            false => smallest_identity(block, from + found.first, last, found.key),
        };
        self.current = Some(Current { pos, key: found.key, identity });
        self.scanned = to;
        picks.push(pos, identity);
    }
}

/// Returns the k-gram with the smallest identity among those with this key from `first` to `last`; the rightmost of equal ones.
#[cold]
fn smallest_identity(block: &Block, first: usize, last: (usize, u64), key: u32) -> (usize, u64) {
    let tied = (first..last.0).rev().filter(|pos| block.key(*pos) == key);
    tied.fold(last, |best, pos| {
        let identity = block.grams.identity(pos);
        if identity < best.1 {
            (pos, identity)
        } else {
            best
        }
    })
}
