//! Verifies pairs: sketches decide where they can, the exact score decides the others.

use super::local::Local;
use super::{Capped, Clustering, Edge, Glance, Judge, LAST_EXACTS, LAST_GLANCES};
use rayon::prelude::*;
use std::collections::HashSet;

/// Pairs of one hub scored in one call; more are scored on all cores.
const BATCH: usize = 128;
/// Pairs of one hub from which on glances use all cores; for fewer, splitting costs more than it saves.
const GLANCES: usize = 4096;

/// The results of some components.
#[derive(Debug, Default)]
pub struct VerifiedEdges {
    /// Accepted pairs.
    pub edges: Vec<Edge>,
    /// Documents that follow another: document, leader, and the edge with the score.
    pub joins: Vec<(u32, u32, usize)>,
    capped: Vec<Capped>,
    glances: u64,
    exacts: u64,
}

impl VerifiedEdges {
    /// Adds the results to the clustering.
    pub fn write(mut self, clustering: &mut Clustering) {
        for (document, leader, edge) in self.joins {
            clustering.leader[document as usize] = leader;
            clustering.score[document as usize] = self.edges[edge].score;
            clustering.exact[document as usize] = self.edges[edge].exact;
        }
        clustering.edges.append(&mut self.edges);
        clustering.capped.append(&mut self.capped);
        clustering.glances += self.glances;
        clustering.exacts += self.exacts;
    }
}

/// An accepted pair.
#[derive(Clone, Copy, Debug)]
pub struct Accepted {
    /// The place of the other document.
    pub other: u32,
    /// The estimate from the sketches.
    pub estimate: f32,
    /// Its edge in [`VerifiedEdges::edges`].
    pub edge: usize,
}

/// Decides pairs and collects the results.
pub struct Verifier<'a, J> {
    judge: &'a J,
    threshold: f64,
    /// The results of all components so far.
    pub found: VerifiedEdges,
    /// Places with an edge in this component.
    partnered: Vec<bool>,
    /// Pairs of places in this component whose exact score was too low.
    refused: HashSet<(u32, u32)>,
    glances: Vec<Glance>,
    undecided: Vec<(u32, f32)>,
    documents: Vec<u32>,
    scores: Vec<Option<f64>>,
}

impl<'a, J: Judge> Verifier<'a, J> {
    /// Makes a verifier without results.
    pub fn new(judge: &'a J, threshold: f64) -> Self {
        Self {
            judge,
            threshold,
            found: VerifiedEdges::default(),
            partnered: Vec::new(),
            refused: HashSet::new(),
            glances: Vec::new(),
            undecided: Vec::new(),
            documents: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Decides the pairs of the hub with each of `others`, all later in rank, and appends the accepted ones. An
    /// undecided pair is scored only if `is_needed` returns true for the other and the estimate.
    pub fn verify(
        &mut self,
        local: &Local<'_>,
        hub: u32,
        others: &[u32],
        is_needed: impl Fn(u32, f32) -> bool,
        accepted: &mut Vec<Accepted>,
    ) {
        accepted.clear();
        self.undecided.clear();
        self.glance(local, hub, others);
        let glances = std::mem::take(&mut self.glances);
        for (other, glance) in others.iter().zip(&glances) {
            match glance.verdict {
                Some(true) => accepted.push(self.accept(local, hub, *other, glance.estimate, None)),
                Some(false) => {}
                None if is_needed(*other, glance.estimate) && !self.refused.contains(&(hub, *other)) => {
                    self.undecided.push((*other, glance.estimate));
                }
                None => {}
            }
        }
        self.glances = glances;
        if self.undecided.is_empty() {
            return;
        }
        self.undecided.sort_unstable_by_key(|(other, _)| *other);
        self.score(local, hub);
        for i in 0..self.undecided.len() {
            let (other, estimate) = self.undecided[i];
            match self.scores.get(i).copied().flatten().filter(|score| *score >= self.threshold) {
                Some(score) => accepted.push(self.accept(local, hub, other, estimate, Some(score))),
                None => drop(self.refused.insert((hub, other))),
            }
        }
    }

    fn glance(&mut self, local: &Local<'_>, hub: u32, others: &[u32]) {
        let judge = self.judge;
        let document = local.document(hub);
        let look = |other: &u32| judge.glance(document, local.document(*other));
        self.found.glances += others.len() as u64;
        self.glances.clear();
        match others.len() < GLANCES {
            true => self.glances.extend(others.iter().map(look)),
            false => self.glances.par_extend(others.par_iter().map(look)),
        }
    }

    /// Scores the undecided pairs.
    fn score(&mut self, local: &Local<'_>, hub: u32) {
        let (judge, hub) = (self.judge, local.document(hub));
        self.documents.clear();
        self.documents.extend(self.undecided.iter().map(|(other, _)| local.document(*other)));
        self.found.exacts += self.documents.len() as u64;
        self.scores.clear();
        if self.documents.len() <= BATCH {
            return judge.exact(hub, &self.documents, &mut self.scores);
        }
        let score = |others: &[u32]| {
            let mut scores = Vec::with_capacity(others.len());
            judge.exact(hub, others, &mut scores);
            scores.resize(others.len(), None);
            scores
        };
        self.scores.par_extend(self.documents.par_chunks(BATCH).flat_map_iter(score));
    }

    fn accept(&mut self, local: &Local<'_>, hub: u32, other: u32, estimate: f32, exact: Option<f64>) -> Accepted {
        let score = narrow(exact.unwrap_or(f64::from(estimate)), self.threshold);
        let (left, right) = (local.document(hub), local.document(other));
        self.found.edges.push(Edge { left, right, score, exact: exact.is_some() });
        self.partnered.resize(local.len(), false);
        self.partnered[hub as usize] = true;
        self.partnered[other as usize] = true;
        Accepted { other, estimate, edge: self.found.edges.len() - 1 }
    }

    /// Gives a last chance to places without an accepted pair: compares some of the places they share most buckets
    /// with, best estimate first, until one is accepted. Pairs of two hubs, by `is_hub`, are not tried again. Returns
    /// the accepted pairs.
    pub fn last_chance(&mut self, local: &mut Local<'_>, is_hub: impl Fn(u32) -> bool) -> Vec<(u32, Accepted)> {
        let (mut others, mut ways, mut accepted, mut all) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        self.partnered.resize(local.len(), false);
        for place in 0..local.len() as u32 {
            if self.partnered[place as usize] {
                continue;
            }
            local.neighbours(place, LAST_GLANCES, |other| is_hub(other) && is_hub(place), &mut others);
            ways.clear();
            for other in &others {
                let (hub, later) = (place.min(*other), place.max(*other));
                let glance = self.judge.glance(local.document(hub), local.document(later));
                if glance.verdict != Some(false) && !self.refused.contains(&(hub, later)) {
                    ways.push((glance.estimate, hub, later));
                }
            }
            self.found.glances += others.len() as u64;
            ways.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            for (_, hub, later) in ways.iter().take(LAST_EXACTS) {
                self.verify(local, *hub, &[*later], |_, _| true, &mut accepted);
                self.found.glances -= 1;
                if let Some(pair) = accepted.pop() {
                    all.push((*hub, pair));
                    break;
                }
            }
        }
        all
    }

    /// Ends a component: keeps its capped keys and forgets the rest.
    pub fn close(&mut self, local: &Local<'_>) {
        self.found.capped.extend(local.capped());
        self.partnered.clear();
        // A new set: clearing one that was large once would cost its whole size for every small component after it.
        self.refused = HashSet::new();
    }
}

/// Converts a score to 32 bits without rounding it to below the threshold.
pub fn narrow(score: f64, threshold: f64) -> f32 {
    let narrow = score as f32;
    match score >= threshold && f64::from(narrow) < threshold {
        true => narrow.next_up(),
        false => narrow,
    }
}
