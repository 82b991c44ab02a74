//! Star clustering: each leader, in order of rank, claims its similar documents.
//!
//! When the turn of a document comes and it has an edge with a leader, it follows, of these leaders, the one with the
//! best estimate, of equals the first. Otherwise it leads, and is compared with all later documents that are proposed
//! with it at once, so that it is loaded once. So the leaders are the lexicographically first maximal independent set of
//! the edges, every member has an edge with its leader, and nothing chains.
//!
//! Pairs without a leader are not looked at, and a pair whose estimate is not above that of the best leader so far is not
//! counted: neither changes the answer. Most documents are counted once. Leaders of an earlier clustering are compared
//! with new documents only, and its shadows with none.

use super::verify::{narrow, Join, Verifier};
use super::{Judge, Proposer};

/// The best leader of a place so far.
#[derive(Clone, Copy)]
struct Best {
    estimate: f32,
    leader: u32,
    score: f64,
}

/// Clusters the loaded component.
pub fn star(local: &mut impl Proposer, verifier: &mut Verifier<'_, impl Judge>, joins: &mut Vec<Join>) {
    let mut best: Vec<Option<Best>> = vec![None; local.places()];
    let (mut proposed, mut possible) = (Vec::new(), Vec::new());
    for place in 0..local.places() as u32 {
        if best[place as usize].is_some() || !local.may_lead(place) {
            continue;
        }
        if verifier.judge.is_stopped() {
            return;
        }
        local.propose(place, &mut proposed);
        verifier.glance(local, place, &proposed, &mut possible);
        possible.retain(|pair| best[pair.other as usize].is_none_or(|best| pair.estimate > best.estimate));
        for (pair, score) in possible.iter().zip(verifier.verify(local, place, &possible)) {
            if let Some(score) = *score {
                best[pair.other as usize] = Some(Best { estimate: pair.estimate, leader: place, score });
            }
        }
    }
    let join = |(place, best): (u32, &Option<Best>)| {
        let (document, best) = (local.document(place), (*best)?);
        Some(Join { document, leader: local.document(best.leader), score: narrow(best.score, verifier.threshold) })
    };
    joins.extend((0..).zip(&best).filter_map(join));
}
