//! Clusters by components: union-find over the edges (Broder 2000, §4).
//!
//! Each document in order of rank is compared with the later documents that are proposed with it and not in its set
//! yet: an edge inside a set changes nothing. One edge with another set is enough, so the documents of a set are counted
//! in rounds, of one, two, four and so on, until an edge is found. The first document of a set leads it.

use super::candidates::Sets;
use super::local::refill;
use super::verify::{narrow, Join, Possible, Verifier};
use super::{Judge, Proposer};

/// Clusters the loaded component.
pub fn components(local: &mut impl Proposer, verifier: &mut Verifier<'_, impl Judge>, joins: &mut Vec<Join>) {
    let mut rounds = Rounds::default();
    rounds.sets.reset(local.places());
    refill(&mut rounds.taken, local.places());
    // The first document that has an edge with a place, and the exact score.
    let mut known: Vec<Option<(u32, f64)>> = vec![None; local.places()];
    let mut proposed = Vec::new();
    for place in 0..local.places() as u32 {
        if verifier.judge.is_stopped() {
            return;
        }
        local.propose(place, &mut proposed);
        let own = rounds.sets.find(place);
        proposed.retain(|other| rounds.sets.find(*other) != own);
        verifier.glance(local, place, &proposed, &mut rounds.rest);
        let mut most = 1;
        while rounds.next(place, most) {
            most *= 2;
            for (pair, score) in rounds.batch.iter().zip(verifier.verify(local, place, &rounds.batch)) {
                if let Some(score) = *score {
                    rounds.sets.unite(place, pair.other);
                    known[pair.other as usize].get_or_insert((place, score));
                }
            }
        }
    }
    lead(local, &mut rounds.sets, &known, verifier, joins);
}

/// The documents of other sets that may have an edge with the current one.
#[derive(Default)]
struct Rounds {
    sets: Sets,
    /// Those that are not counted yet.
    rest: Vec<Possible>,
    /// Those that are counted next.
    batch: Vec<Possible>,
    /// Of each set, how many are in the batch; 0 between rounds.
    taken: Vec<u32>,
}

impl Rounds {
    /// Moves up to `most` documents of each other set to the batch; drops those that are in the set of `place` by now.
    /// Returns whether there are any.
    fn next(&mut self, place: u32, most: u32) -> bool {
        self.batch.clear();
        let own = self.sets.find(place);
        self.rest.retain(|pair| {
            let set = self.sets.find(pair.other);
            let taken = &mut self.taken[set as usize];
            let is_left = set != own && *taken >= most;
            if set != own && *taken < most {
                *taken += 1;
                self.batch.push(*pair);
            }
            is_left
        });
        for pair in &self.batch {
            self.taken[self.sets.find(pair.other) as usize] = 0;
        }
        !self.batch.is_empty()
    }
}

/// Appends the documents that follow the first of their set, with their exact scores against it.
fn lead(
    local: &impl Proposer,
    sets: &mut Sets,
    known: &[Option<(u32, f64)>],
    verifier: &mut Verifier<'_, impl Judge>,
    joins: &mut Vec<Join>,
) {
    let threshold = verifier.threshold;
    let put = |first: u32, place: u32, score: Option<f64>| Join {
        leader: local.document(first),
        document: local.document(place),
        score: score.map_or(0.0, |score| narrow(score, threshold)),
    };
    let mut unknown: Vec<(u32, u32)> = Vec::new();
    for (place, known) in (0..).zip(known) {
        let first = sets.find(place);
        match known {
            Some((leader, score)) if *leader == first => joins.push(put(first, place, Some(*score))),
            _ if first != place => unknown.push((first, place)),
            _ => {}
        }
    }
    unknown.sort_unstable();
    for group in unknown.chunk_by(|left, right| left.0 == right.0) {
        if verifier.judge.is_stopped() {
            return;
        }
        let scores = verifier.score(local.document(group[0].0), group.iter().map(|pair| local.document(pair.1)), 0.0);
        joins.extend(group.iter().zip(scores).map(|((first, place), score)| put(*first, *place, *score)));
    }
}
