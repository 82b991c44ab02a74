//! Selects hashes that are 0 mod p (*Good*), and those that end a window of w without a Good one (*Bad*); the rest are *Ugly* and
//! dropped. It is a local algorithm, so it has the guarantee, at density P + (1−P)^w with P = 1/p.
//!
//! The best P is near ln(w)/w and gives (1 + ln w)/w, far more than winnowing's 2/(w+1) (Schleimer, Wilkerson, Aiken
//! 2003, §3.1.2). The first w − 1 hashes have no full window to their left and are never Bad. Cost: one remainder per k-gram.

use super::modulo::is_good;
use super::{Block, Gram, Picks, Scheme, Selector};

/// The scheme.
#[derive(Clone, Copy, Debug)]
pub struct SafeModulo {
    /// w.
    pub window: usize,
    /// p.
    pub modulus: u64,
}

/// Returns the p with the smallest density for windows of w: w / ln w, rounded.
pub fn modulus_of_least_density(window: usize) -> u64 {
    let w = window.max(2) as f64;
    (w / w.ln()).round().max(1.0) as u64
}

impl Scheme for SafeModulo {
    fn window(&self, _len: usize) -> usize {
        self.window
    }

    fn sample(&self, window: &[Gram], _previous: Option<usize>) -> Vec<usize> {
        let good: Vec<usize> = (0..window.len()).filter(|i| is_good(window[*i].mixed, self.modulus)).collect();
        if good.is_empty() {
            window.len().checked_sub(1).into_iter().collect()
        } else {
            good
        }
    }

    fn selector(&self) -> Box<dyn Selector + Send> {
        Box::new(Running { scheme: *self, barren: 0, seen: 0, picked: false })
    }
}

/// State of a running selection.
struct Running {
    scheme: SafeModulo,
    /// Hashes since the last Good one.
    barren: usize,
    /// Position after the last k-gram that was decided; the block may start before it.
    seen: usize,
    /// Whether anything was selected yet.
    picked: bool,
}

impl Selector for Running {
    fn push(&mut self, block: &Block, picks: &mut Picks) -> usize {
        for pos in self.seen.max(block.base)..block.end() {
            let good = is_good(block.grams.mixed(pos, block.key(pos)), self.scheme.modulus);
            self.barren = if good { 0 } else { self.barren + 1 };
            if good || self.barren >= self.scheme.window {
                picks.push(pos, block.grams.identity(pos));
                self.picked = true;
            }
        }
        self.seen = block.end();
        // Keeps the last k-gram: `finish` takes it if the document is shorter than a window.
        block.end().saturating_sub(1).max(block.base)
    }

    fn finish(&mut self, block: &Block, picks: &mut Picks) {
        if !self.picked && !block.keys.is_empty() {
            picks.push(block.end() - 1, block.grams.identity(block.end() - 1));
        }
    }
}
