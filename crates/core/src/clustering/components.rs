//! Clusters by components: union-find over the edges (Broder 2000, §4).
//!
//! Each document in order of rank is compared with the later documents that are proposed with it and not in its set
//! yet: an edge inside a set changes nothing. The first document of a set leads it.

use super::candidates::Sets;
use super::verify::{Join, Verifier};
use super::{Judge, Proposer};

/// Clusters the loaded component.
pub fn components(local: &mut impl Proposer, verifier: &mut Verifier<'_, impl Judge>, joins: &mut Vec<Join>) {
    let mut sets = Sets::default();
    sets.reset(local.places());
    let (mut proposed, mut accepted) = (Vec::new(), Vec::new());
    for place in 0..local.places() as u32 {
        if verifier.judge.is_stopped() {
            return;
        }
        local.propose(place, &mut proposed);
        let own = sets.find(place);
        proposed.retain(|other| sets.find(*other) != own);
        verifier.verify(local, place, &proposed, |_, _| true, &mut accepted);
        for pair in &accepted {
            sets.unite(place, pair.other);
        }
    }
    let mut followers = Vec::new();
    for place in 0..local.places() as u32 {
        let first = sets.find(place);
        if first != place {
            followers.push((local.document(first), local.document(place), None));
        }
    }
    verifier.join(&mut followers, joins);
}
