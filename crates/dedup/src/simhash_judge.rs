//! Scores pairs of documents by their simhash: within a distance, of similar length, and optionally verified by
//! shingles.
//!
//! Cost: one exclusive or and one bit count per pair; 16 bytes per document.

use crate::judge::ShingleJudge;
use crate::sign::Print;
use lookalike_core::clustering::{Glance, Judge};
use lookalike_core::simhash::language::TextLanguage;
use lookalike_core::simhash::lengths::is_within;
use lookalike_core::simhash::vote::distance;
use lookalike_table::Error as TableError;

/// Bits of a fingerprint.
const BITS: f64 = 64.0;

/// When two documents are candidates, and how they are scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearness {
    /// Bits in which fingerprints may differ.
    pub distance: u32,
    /// The largest difference of two lengths, as a share of the longer one; `None` for no limit (the paper's §6 A).
    pub length: Option<f64>,
    /// Whether only documents with the same known language are paired (§6 C).
    pub same_language: bool,
    /// Whether shingles decide; otherwise the distance does.
    pub is_verified: bool,
}

/// The score of two fingerprints that differ in `distance` bits: 1 for none, 0 for all.
pub fn score(distance: u32) -> f64 {
    1.0 - f64::from(distance) / BITS
}

impl Nearness {
    /// The distance of two documents if they are candidates.
    fn allows(&self, left: Print, right: Print) -> Option<u32> {
        let bits = distance(left.fingerprint?, right.fingerprint?);
        let is_alike = is_within(self.length, left.length.into(), right.length.into());
        let is_spoken = left.language == right.language && left.language != TextLanguage::default();
        (bits <= self.distance && is_alike && (is_spoken || !self.same_language)).then_some(bits)
    }
}

/// Judges documents by their fingerprints.
pub struct SimhashJudge<'a> {
    nearness: Nearness,
    /// The fingerprint of each document.
    prints: Vec<Print>,
    /// Verifies pairs, and knows which rows may be paired.
    shingled: ShingleJudge<'a>,
}

impl<'a> SimhashJudge<'a> {
    /// Takes the fingerprints of `documents`, which are rows, from those of all rows.
    pub fn new(nearness: Nearness, all: &[Print], documents: &[u32], shingled: ShingleJudge<'a>) -> Self {
        let prints = documents.iter().map(|row| all.get(*row as usize).copied().unwrap_or_default()).collect();
        Self { nearness, prints, shingled }
    }

    /// Takes the fingerprints of all documents, without lengths and languages.
    pub fn of_prints(nearness: Nearness, prints: &[Option<u64>], shingled: ShingleJudge<'a>) -> Self {
        let print = |fingerprint: &Option<u64>| Print { fingerprint: *fingerprint, ..Print::default() };
        Self { nearness, prints: prints.iter().map(print).collect(), shingled }
    }

    /// The fingerprints of all documents.
    pub fn fingerprints(&self) -> Vec<Option<u64>> {
        self.prints.iter().map(|print| print.fingerprint).collect()
    }

    /// The fingerprint of a document.
    fn fingerprint(&self, document: u32) -> Option<u64> {
        self.prints[document as usize].fingerprint
    }

    /// The first failure to read the store.
    pub fn failure(&self) -> Option<TableError> {
        self.shingled.failure()
    }
}

impl Judge for SimhashJudge<'_> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        let allowed = self.nearness.allows(self.prints[hub as usize], self.prints[other as usize]);
        match allowed.filter(|_| self.shingled.may_pair(hub, other)) {
            None => Glance::REJECTED,
            Some(bits) => Glance { estimate: score(bits) as f32, is_possible: true },
        }
    }

    fn is_stopped(&self) -> bool {
        self.shingled.is_stopped()
    }

    fn exact(&self, hub: u32, others: &[u32], least: f64, scores: &mut Vec<Option<f64>>) {
        if self.nearness.is_verified {
            return self.shingled.exact(hub, others, least, scores);
        }
        let own = self.fingerprint(hub);
        let score_of = |other: &u32| Some(score(distance(own?, self.fingerprint(*other)?)));
        scores.extend(others.iter().map(score_of));
    }
}
