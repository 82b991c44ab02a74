//! Verifies pairs: sketches may reject, and only the exact score accepts.

use super::{Glance, Judge, Proposer};
use rayon::prelude::*;

/// Pairs of one hub scored in one call; more are scored on all cores.
const BATCH: usize = 128;
/// Pairs of one hub from which on glances use all cores; for fewer, splitting costs more than it saves.
const GLANCES: usize = 4096;

/// A pair that the sketches did not reject.
#[derive(Clone, Copy, Debug)]
pub struct Possible {
    /// The place of the other document.
    pub other: u32,
    /// The estimate from the sketches.
    pub estimate: f32,
}

/// A document that follows a leader, and its exact score against it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// The document.
    pub document: u32,
    /// Its leader.
    pub leader: u32,
    /// The score; 0 where it is undefined.
    pub score: f32,
}

/// Decides pairs.
pub struct Verifier<'a, J> {
    /// The judge.
    pub judge: &'a J,
    /// The least score of an edge.
    pub threshold: f64,
    /// Pairs whose sketches were compared so far.
    pub glances: u64,
    /// Pairs scored exactly so far.
    pub exacts: u64,
    seen: Vec<Glance>,
    documents: Vec<u32>,
    scores: Vec<Option<f64>>,
}

impl<'a, J: Judge> Verifier<'a, J> {
    /// Makes a verifier.
    pub fn new(judge: &'a J, threshold: f64) -> Self {
        let (seen, documents, scores) = (Vec::new(), Vec::new(), Vec::new());
        Self { judge, threshold, glances: 0, exacts: 0, seen, documents, scores }
    }

    /// Compares the sketches of the hub with those of `others`, all later in rank, and fills `possible` with the pairs
    /// that may be edges.
    pub fn glance(&mut self, local: &impl Proposer, hub: u32, others: &[u32], possible: &mut Vec<Possible>) {
        let judge = self.judge;
        let document = local.document(hub);
        let look = |other: &u32| judge.glance(document, local.document(*other));
        self.glances += others.len() as u64;
        self.seen.clear();
        match others.len() < GLANCES {
            true => self.seen.extend(others.iter().map(look)),
            false => self.seen.par_extend(others.par_iter().map(look)),
        }
        possible.clear();
        let seen = others.iter().zip(&self.seen).filter(|(_, glance)| glance.is_possible);
        possible.extend(seen.map(|(other, glance)| Possible { other: *other, estimate: glance.estimate }));
    }

    /// Counts possible pairs of a hub. Returns for each the exact score if it is an edge.
    pub fn verify(&mut self, local: &impl Proposer, hub: u32, pairs: &[Possible]) -> &[Option<f64>] {
        let threshold = self.threshold;
        self.score(local.document(hub), pairs.iter().map(|pair| local.document(pair.other)), threshold);
        self.scores.iter_mut().for_each(|score| *score = score.filter(|score| *score >= threshold));
        &self.scores
    }

    /// Scores documents against a hub and returns the scores, one for each; those below `least` may be missing.
    pub fn score(&mut self, hub: u32, others: impl Iterator<Item = u32>, least: f64) -> &[Option<f64>] {
        let judge = self.judge;
        self.documents.clear();
        self.documents.extend(others);
        self.exacts += self.documents.len() as u64;
        self.scores.clear();
        let score = |others: &[u32]| {
            let mut scores = Vec::with_capacity(others.len());
            judge.exact(hub, others, least, &mut scores);
            scores.resize(others.len(), None);
            scores
        };
        if self.documents.len() <= BATCH {
            self.scores.extend(score(&self.documents));
        } else {
            self.scores.par_extend(self.documents.par_chunks(BATCH).flat_map_iter(score));
        }
        &self.scores
    }
}

/// Converts a score to 32 bits without rounding it over the threshold, to either side.
pub fn narrow(score: f64, threshold: f64) -> f32 {
    let narrow = score as f32;
    match (score >= threshold, f64::from(narrow) >= threshold) {
        (true, false) => narrow.next_up(),
        (false, true) => narrow.next_down(),
        _ => narrow,
    }
}
