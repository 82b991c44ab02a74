//! What pairs of documents are worth by their fingerprints: within the distance, alike in length, and verified by shingles if asked.
//!
//! Cost: a glance is an exclusive or and a count of bits; 16 bytes a document.

use crate::judge::ShingleJudge;
use crate::sign::Print;
use crate::signed_store::SignedStore;
use lookalike_core::clustering::{Glance, Judge};
use lookalike_core::simhash::language::TextLanguage;
use lookalike_core::simhash::vote::distance;
use std::io;

/// Bits of a fingerprint.
const BITS: f64 = 64.0;

/// When two documents are candidates of each other, and what they are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearness {
    /// Bits in which fingerprints may differ.
    pub distance: u32,
    /// The share of the longer length by which lengths may differ, if they are compared (the paper's §6 A).
    pub length: Option<f64>,
    /// Whether only documents of one language, known for both, are paired (§6 C).
    pub same_language: bool,
    /// Whether shingles decide; else the distance does.
    pub is_verified: bool,
}

/// The score of two fingerprints that differ in so many bits: 1 if in none, 0 if in all.
pub fn score(distance: u32) -> f64 {
    1.0 - f64::from(distance) / BITS
}

impl Nearness {
    /// Whether two documents are candidates.
    fn allows(&self, left: Print, right: Print) -> Option<u32> {
        let bits = distance(left.fingerprint?, right.fingerprint?);
        let (short, long) = (left.length.min(right.length), left.length.max(right.length));
        let is_alike = self.length.is_none_or(|share| f64::from(long - short) <= share * f64::from(long));
        let is_spoken = left.language == right.language && left.language != TextLanguage::default();
        (bits <= self.distance && is_alike && (is_spoken || !self.same_language)).then_some(bits)
    }
}

/// Judges documents by their fingerprints.
pub struct SimhashJudge<'a> {
    nearness: Nearness,
    /// The fingerprint of each document.
    prints: Vec<Print>,
    /// What verifies, and knows who may be paired at all.
    shingled: ShingleJudge<'a>,
}

impl<'a> SimhashJudge<'a> {
    /// Loads the fingerprints of `documents`, rows of the store. Errors: the store cannot be read.
    pub fn new(
        nearness: Nearness,
        store: &SignedStore,
        documents: &[u32],
        shingled: ShingleJudge<'a>,
    ) -> io::Result<Self> {
        let print = |row: &u32| store.elements(*row).map(|elements| Print::get(&elements));
        let prints = documents.iter().map(print).collect::<io::Result<_>>()?;
        Ok(Self { nearness, prints, shingled })
    }

    /// The fingerprint of a document.
    pub fn fingerprint(&self, document: u32) -> Option<u64> {
        self.prints[document as usize].fingerprint
    }

    /// The first failure to read the store.
    pub fn failure(&self) -> Option<io::Error> {
        self.shingled.failure()
    }
}

impl Judge for SimhashJudge<'_> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        let allowed = self.nearness.allows(self.prints[hub as usize], self.prints[other as usize]);
        match allowed.filter(|_| self.shingled.may_pair(hub, other)) {
            None => Glance { estimate: 0.0, verdict: Some(false) },
            Some(bits) => {
                Glance { estimate: score(bits) as f32, verdict: (!self.nearness.is_verified).then_some(true) }
            }
        }
    }

    fn exact(&self, hub: u32, others: &[u32], scores: &mut Vec<Option<f64>>) {
        if self.nearness.is_verified {
            return self.shingled.exact(hub, others, scores);
        }
        let own = self.fingerprint(hub);
        let score_of = |other: &u32| Some(score(distance(own?, self.fingerprint(*other)?)));
        scores.extend(others.iter().map(score_of));
    }
}
