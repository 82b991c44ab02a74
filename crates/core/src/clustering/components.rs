//! Clusters by components: union-find over verified edges from hubs (Broder 2000, §4).
//!
//! The documents of a bucket are hubs in order of rank. Each hub is compared with all later documents that are not in
//! its set yet. In a crowded bucket only rejected documents remain, and the first of them is the next hub, until half
//! of [`CROWD`] hubs were tried. A link between a document that a hub accepted and one that it rejected can be missed
//! there. A document without any link gets a last chance.

use super::candidates::Sets;
use super::local::Local;
use super::verify::{Accepted, Verifier};
use super::{Judge, CROWD};

/// Clusters the loaded component.
pub fn components(local: &mut Local<'_>, verifier: &mut Verifier<'_, impl Judge>) {
    let mut sets = Sets::default();
    sets.reset(local.len());
    let (mut rest, mut others, mut accepted, mut edges) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for bucket in local.buckets() {
        rest.clear();
        rest.extend_from_slice(local.held(bucket));
        let is_crowded = rest.len() > CROWD;
        let mut rounds = if is_crowded { CROWD / 2 } else { CROWD };
        while rest.len() > 1 && rounds > 0 {
            let hub = rest.remove(0);
            let set = sets.find(hub);
            others.clear();
            others.extend(rest.iter().copied().filter(|other| sets.find(*other) != set));
            verifier.verify(local, hub, &others, |_, _| true, &mut accepted);
            for pair in &accepted {
                sets.unite(hub, pair.other);
                edges.push((hub, *pair));
            }
            if is_crowded {
                let set = sets.find(hub);
                rest.retain(|other| sets.find(*other) != set);
            }
            rounds -= 1;
        }
        let left = rest.len() as u64;
        local.untried[bucket] += left * left.saturating_sub(1) / 2;
    }
    for (hub, pair) in verifier.last_chance(local, |_| false) {
        sets.unite(hub, pair.other);
        edges.push((hub, pair));
    }
    join(local, verifier, &mut sets, &edges);
}

/// Joins each place to the first of its set, with the best score among its own edges.
fn join(local: &Local<'_>, verifier: &mut Verifier<'_, impl Judge>, sets: &mut Sets, edges: &[(u32, Accepted)]) {
    let found = &mut verifier.found;
    let mut best: Vec<Option<usize>> = vec![None; local.len()];
    for (hub, pair) in edges {
        for place in [*hub, pair.other] {
            let best = &mut best[place as usize];
            if best.is_none_or(|best| found.edges[pair.edge].score > found.edges[best].score) {
                *best = Some(pair.edge);
            }
        }
    }
    for place in 0..local.len() as u32 {
        let first = sets.find(place);
        if let Some(edge) = best[place as usize].filter(|_| first != place) {
            found.joins.push((local.document(place), local.document(first), edge));
        }
    }
}
