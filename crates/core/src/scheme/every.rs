//! Selects every k-gram. Density 1. Cost: one identity per k-gram.

use super::{Block, Gram, Picks, Scheme, Selector};

/// The scheme.
#[derive(Clone, Copy, Debug)]
pub struct Every;

impl Scheme for Every {
    fn window(&self, _len: usize) -> usize {
        1
    }

    fn sample(&self, window: &[Gram], _previous: Option<usize>) -> Vec<usize> {
        (0..window.len()).collect()
    }

    fn selector(&self) -> Box<dyn Selector + Send> {
        Box::new(*self)
    }
}

impl Selector for Every {
    fn push(&mut self, block: &Block, picks: &mut Picks) -> usize {
        for pos in block.base..block.end() {
            picks.push(pos, block.grams.identity(pos));
        }
        block.end()
    }

    fn finish(&mut self, _block: &Block, _picks: &mut Picks) {}
}
