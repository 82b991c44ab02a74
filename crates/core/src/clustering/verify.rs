//! Verifies pairs: sketches decide where they can, the exact score decides the others.

use super::{Glance, Judge, Proposer};
use rayon::prelude::*;

/// Pairs of one hub scored in one call; more are scored on all cores.
const BATCH: usize = 128;
/// Pairs of one hub from which on glances use all cores; for fewer, splitting costs more than it saves.
const GLANCES: usize = 4096;

/// An accepted pair.
#[derive(Clone, Copy, Debug)]
pub struct Accepted {
    /// The place of the other document.
    pub other: u32,
    /// The estimate from the sketches.
    pub estimate: f32,
    /// The exact score, where it was needed to decide.
    pub exact: Option<f64>,
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
    threshold: f64,
    /// Pairs whose sketches were compared so far.
    pub glances: u64,
    /// Pairs scored exactly so far.
    pub exacts: u64,
    seen: Vec<Glance>,
    undecided: Vec<(u32, f32)>,
    documents: Vec<u32>,
    scores: Vec<Option<f64>>,
}

impl<'a, J: Judge> Verifier<'a, J> {
    /// Makes a verifier.
    pub fn new(judge: &'a J, threshold: f64) -> Self {
        let (seen, undecided, documents, scores) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { judge, threshold, glances: 0, exacts: 0, seen, undecided, documents, scores }
    }

    /// Decides the pairs of the hub with each of `others`, all later in rank, and fills `accepted`. An undecided pair is
    /// scored only if `is_needed` returns true for the other and the estimate.
    pub fn verify(
        &mut self,
        local: &impl Proposer,
        hub: u32,
        others: &[u32],
        is_needed: impl Fn(u32, f32) -> bool,
        accepted: &mut Vec<Accepted>,
    ) {
        accepted.clear();
        self.undecided.clear();
        self.glance(local, hub, others);
        for (other, glance) in others.iter().zip(&self.seen) {
            match glance.verdict {
                Some(true) => accepted.push(Accepted { other: *other, estimate: glance.estimate, exact: None }),
                Some(false) => {}
                None if is_needed(*other, glance.estimate) => self.undecided.push((*other, glance.estimate)),
                None => {}
            }
        }
        if self.undecided.is_empty() {
            return;
        }
        let undecided = std::mem::take(&mut self.undecided);
        self.score(local.document(hub), undecided.iter().map(|(other, _)| local.document(*other)));
        for ((other, estimate), score) in undecided.iter().zip(&self.scores) {
            if let Some(score) = score.filter(|score| *score >= self.threshold) {
                accepted.push(Accepted { other: *other, estimate: *estimate, exact: Some(score) });
            }
        }
        self.undecided = undecided;
    }

    fn glance(&mut self, local: &impl Proposer, hub: u32, others: &[u32]) {
        let judge = self.judge;
        let document = local.document(hub);
        let look = |other: &u32| judge.glance(document, local.document(*other));
        self.glances += others.len() as u64;
        self.seen.clear();
        match others.len() < GLANCES {
            true => self.seen.extend(others.iter().map(look)),
            false => self.seen.par_extend(others.par_iter().map(look)),
        }
    }

    /// Scores documents against a hub and returns the scores, one for each.
    pub fn score(&mut self, hub: u32, others: impl Iterator<Item = u32>) -> &[Option<f64>] {
        let judge = self.judge;
        self.documents.clear();
        self.documents.extend(others);
        self.exacts += self.documents.len() as u64;
        self.scores.clear();
        let score = |others: &[u32]| {
            let mut scores = Vec::with_capacity(others.len());
            judge.exact(hub, others, &mut scores);
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

    /// Appends the joins of followers to their leaders, given as (leader, follower, known score), with exact scores.
    pub fn join(&mut self, followers: &mut [(u32, u32, Option<f64>)], joins: &mut Vec<Join>) {
        followers.sort_unstable_by_key(|(leader, follower, _)| (*leader, *follower));
        let threshold = self.threshold;
        let put = |leader: u32, document: u32, score: Option<f64>| Join {
            leader,
            document,
            score: score.map_or(0.0, |score| narrow(score, threshold)),
        };
        for group in followers.chunk_by(|left, right| left.0 == right.0) {
            if self.judge.is_stopped() {
                return;
            }
            let leader = group[0].0;
            let known = group.iter().filter(|(_, _, score)| score.is_some());
            joins.extend(known.map(|(_, document, score)| put(leader, *document, *score)));
            let unknown = || group.iter().filter(|(_, _, score)| score.is_none()).map(|(_, document, _)| *document);
            if unknown().next().is_some() {
                let scores = self.score(leader, unknown());
                joins.extend(unknown().zip(scores).map(|(document, score)| put(leader, document, *score)));
            }
        }
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
