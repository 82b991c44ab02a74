//! Winnowing (Definition 1) and robust winnowing (Definition 3): the minimum of every window of w k-grams.
//!
//! **Guarantee.** Two texts that share a run of t = w + k − 1 tokens share a window of w k-grams, and what is taken from
//! it depends on the window alone (rightmost minimum), so they share that fingerprint at the same place in the run
//! (Lemma 1). The robust rule prefers, among equal k-grams, the one the window before took: the shared *value* is the
//! same, its position may differ by up to w − 1.
//!
//! **Density** 2/(w+1) on random text; on a run of one character the plain rule takes every k-gram, the robust one in w.
//! The windows nest: with w′ ≥ w the selection is a subset, by position (plain) or by value (robust) (§3.2).
//!
//! **Cost.** The jump loop: from the current minimum, look for the next key that is not above it among those it still
//! shares a window with; if there is none, take the minimum of the window after. Both are SIMD scans. O(n) expected; O(n·w/8) where
//! keys rise for long stretches, which hashes do not. The monotone deque is O(n) always and 30 times slower.
//!
//! Source: Schleimer, Wilkerson, Aiken 2003, §3, §5.1, Figure 5. Figure 5 itself also records partial first windows, against
//! the paper's own Figure 2; here only full windows count.

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

/// The minimum of the window last looked at.
#[derive(Clone, Copy)]
struct Current {
    pos: usize,
    key: u32,
    identity: u64,
}

/// State of a running selection.
struct Running {
    scheme: Winnow,
    /// None until the first full window was seen.
    current: Option<Current>,
    /// Every k-gram after `current` and before this position is known to rank above it (or to tie, under the robust rule).
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
                    // Windows that hold the current minimum end before this position.
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

    /// Looks for the k-gram that takes over from `current` before position `until`; whether there was one.
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

/// Of the k-grams with this key between `first` and `last`, the one with the smallest identity, the rightmost if they are equal.
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
