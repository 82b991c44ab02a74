//! Selects hashes that are 0 mod p (Manber). Density 1/p; no guarantee, because gaps between picks are unbounded.
//!
//! At the density of winnowing, p = (w+1)/2, a run of t tokens has no pick with probability about 13.5 % (Schleimer,
//! Wilkerson, Aiken 2003, §3.1.1). Cost: one remainder per k-gram.

use super::{Block, Gram, Picks, Scheme, Selector};

/// The scheme. `modulus` 0 selects nothing.
#[derive(Clone, Copy, Debug)]
pub struct Modulo {
    /// p.
    pub modulus: u64,
}

/// Returns the p at which 0 mod p has the density 2/(w+1) of winnowing with windows of w.
pub fn modulus_at_density_of_winnowing(window: usize) -> u64 {
    ((window as u64).saturating_add(1) / 2).max(1)
}

impl Scheme for Modulo {
    fn window(&self, _len: usize) -> usize {
        1
    }

    fn sample(&self, window: &[Gram], _previous: Option<usize>) -> Vec<usize> {
        (0..window.len()).filter(|i| is_good(window[*i].mixed, self.modulus)).collect()
    }

    fn selector(&self) -> Box<dyn Selector + Send> {
        Box::new(*self)
    }
}

/// Returns whether a mixed hash is 0 mod p.
#[inline(always)]
pub(super) fn is_good(mixed: u64, modulus: u64) -> bool {
    modulus != 0 && mixed.is_multiple_of(modulus)
}

impl Selector for Modulo {
    fn push(&mut self, block: &Block, picks: &mut Picks) -> usize {
        for (pos, key) in (block.base..).zip(block.keys) {
            if is_good(block.grams.mixed(pos, *key), self.modulus) {
                picks.push(pos, block.grams.identity(pos));
            }
        }
        block.end()
    }

    fn finish(&mut self, _block: &Block, _picks: &mut Picks) {}
}
