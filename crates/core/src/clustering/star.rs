//! Star clustering: each leader, in order of rank, claims its similar documents.
//!
//! When the turn of a document comes and leaders have accepted it, it follows the one with the best estimate, of equals
//! the first. Otherwise it leads, and is compared with all later documents that are proposed with it at once, so that it
//! is loaded once. So the leaders are the lexicographically first maximal independent set of the edges, every member
//! has an edge with its leader, and nothing chains.
//!
//! Pairs without a leader are not looked at, and an undecided pair whose estimate could not change the leader is not
//! scored: neither changes the answer.

use super::verify::{Join, Verifier};
use super::{Judge, Proposer};

/// The best leader of a place so far.
#[derive(Clone, Copy)]
struct Best {
    estimate: f32,
    leader: u32,
    exact: Option<f64>,
}

/// Clusters the loaded component.
pub fn star(local: &mut impl Proposer, verifier: &mut Verifier<'_, impl Judge>, joins: &mut Vec<Join>) {
    let mut best: Vec<Option<Best>> = vec![None; local.places()];
    let (mut proposed, mut accepted) = (Vec::new(), Vec::new());
    for place in 0..local.places() as u32 {
        if best[place as usize].is_some() {
            continue;
        }
        if verifier.judge.is_stopped() {
            return;
        }
        local.propose(place, &mut proposed);
        let is_better = |other: u32, estimate: f32| best[other as usize].is_none_or(|best| estimate > best.estimate);
        verifier.verify(local, place, &proposed, is_better, &mut accepted);
        for pair in &accepted {
            let best = &mut best[pair.other as usize];
            if best.is_none_or(|best| pair.estimate > best.estimate) {
                *best = Some(Best { estimate: pair.estimate, leader: place, exact: pair.exact });
            }
        }
    }
    let follower = |(place, best): (u32, &Option<Best>)| {
        best.map(|best| (local.document(best.leader), local.document(place), best.exact))
    };
    let mut followers: Vec<_> = (0..).zip(&best).filter_map(follower).collect();
    verifier.join(&mut followers, joins);
}
