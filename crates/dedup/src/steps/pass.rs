//! Star clustering in one pass over edges that come sorted by their later document, then by the earlier one.
//!
//! When the edges of a document come, all earlier documents are decided. A document follows if one of its earlier
//! neighbours leads; otherwise it leads. So one bit per document is all that is held, and a component of any size, a
//! chain as well, takes one pass.
//!
//! Cost: one bit per document.

use super::edges::{Follower, GivenEdge};

/// Takes edges in order.
#[derive(Debug, Default)]
pub struct StarPass {
    /// One bit per document: 1 if it follows.
    follows: Vec<u64>,
    current: Option<u32>,
    best: Option<GivenEdge>,
}

impl StarPass {
    /// Takes the next edge. Returns the document before it if that one follows.
    pub fn push(&mut self, edge: GivenEdge) -> Option<Follower> {
        let ended = if self.current == Some(edge.right) { None } else { self.end() };
        self.current = Some(edge.right);
        let is_better = self.best.is_none_or(|best| edge.estimate > best.estimate);
        if is_better && !self.is_follower(edge.left) {
            self.best = Some(edge);
        }
        ended
    }

    /// Ends the last document. Returns it if it follows.
    pub fn end(&mut self) -> Option<Follower> {
        let best = self.best.take()?;
        let word = best.right as usize / 64;
        if self.follows.len() <= word {
            self.follows.resize(word + 1, 0);
        }
        self.follows[word] |= 1 << (best.right % 64);
        Some(Follower { document: best.right, leader: best.left, score: Some(best.score) })
    }

    fn is_follower(&self, document: u32) -> bool {
        self.follows.get(document as usize / 64).is_some_and(|word| word >> (document % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::edges::follow;
    use crate::testing::fixed;
    use lookalike_core::clustering::Method;
    use proptest::prelude::*;

    fn passed(edges: &[GivenEdge]) -> Vec<Follower> {
        let mut pass = StarPass::default();
        let mut found: Vec<Follower> = edges.iter().filter_map(|edge| pass.push(*edge)).collect();
        found.extend(pass.end());
        found
    }

    proptest! {
        #![proptest_config(fixed(400))]

        #[test]
        fn one_pass_is_star_clustering(drawn in prop::collection::btree_map((0u32..20, 0u32..20), 0u8..4, 0..60)) {
            let mut edges: Vec<GivenEdge> = drawn.iter().filter(|((left, right), _)| left < right).map(
                |((left, right), level)| GivenEdge {
                    left: *left, right: *right, estimate: f32::from(*level), score: f32::from(*level) / 8.0,
                }
            ).collect();
            let expected = follow(&edges, 20, Method::Star);
            edges.sort_unstable_by_key(|edge| (edge.right, edge.left));
            prop_assert_eq!(passed(&edges), expected);
        }
    }

    #[test]
    fn a_chain_takes_one_pass() {
        let edge = |right: u32| GivenEdge { left: right - 1, right, estimate: 0.9, score: 0.9 };
        let edges: Vec<GivenEdge> = (1..10_000).map(edge).collect();
        let found = passed(&edges);
        assert!(found.iter().zip((0..).step_by(2)).all(|(one, leader)| one.leader == leader));
        assert_eq!(found.len(), 5_000);
    }
}
