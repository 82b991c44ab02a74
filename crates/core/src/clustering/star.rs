//! Star clustering: each leader, in order of rank, claims its similar documents.
//!
//! When the turn of a document comes and leaders have accepted it, it follows the one with the best estimate, of equals
//! the first. Otherwise it leads, and is compared with all later candidates at once, so that it is loaded once. So
//! every member reaches the threshold against its leader, nothing chains, and of two leaders that were compared neither
//! could have followed the other.
//!
//! An undecided pair that could not change the leader is not scored.

use super::local::Local;
use super::verify::Verifier;
use super::Judge;

/// The best leader of a place so far: estimate and edge.
type Best = Option<(f32, usize)>;

/// Clusters the loaded component.
pub fn star(local: &mut Local<'_>, verifier: &mut Verifier<'_, impl Judge>) {
    let mut best: Vec<Best> = vec![None; local.len()];
    let (mut proposed, mut accepted) = (Vec::new(), Vec::new());
    for place in 0..local.len() as u32 {
        let leads = best[place as usize].is_none();
        if leads {
            local.propose(place, &mut proposed);
            let is_better = |other: u32, estimate: f32| best[other as usize].is_none_or(|(best, _)| estimate > best);
            verifier.verify(local, place, &proposed, is_better, &mut accepted);
            for pair in &accepted {
                let best = &mut best[pair.other as usize];
                if best.is_none_or(|(best, _)| pair.estimate > best) {
                    *best = Some((pair.estimate, pair.edge));
                }
            }
        }
        local.pass(place, leads);
    }
    for (place, best) in best.iter().enumerate() {
        if let Some((_, edge)) = best {
            let leader = verifier.found.edges[*edge].left;
            verifier.found.joins.push((local.document(place as u32), leader, *edge));
        }
    }
    verifier.last_chance(local, |place| best[place as usize].is_none());
}
