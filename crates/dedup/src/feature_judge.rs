//! Judges documents by their features alone, as AltaVista did: two are near-duplicates if they share r of k features.
//!
//! Nothing is verified: the curve of the filter says which share of the pairs of a resemblance is accepted. Cost: k
//! comparisons per pair; 8 bytes per feature in the store, and no shingles.
//!
//! **Source.** Broder 2000, *Identifying and filtering near-duplicate documents*, §3.

use crate::judge::ShingleJudge;
use crate::signed_store::SignedStore;
use lookalike_core::clustering::{Glance, Judge};
use lookalike_core::sketch::features::Features;
use lookalike_table::Result;

/// Appends a feature to the elements of a row: its lower half, then its higher half.
pub fn put(feature: u64, elements: &mut Vec<u32>) {
    elements.extend([feature as u32, (feature >> 32) as u32]);
}

/// The features that the elements of a row hold.
pub fn get(elements: &[u32]) -> impl Iterator<Item = u64> + '_ {
    elements.chunks_exact(2).map(|halves| u64::from(halves[1]) << 32 | u64::from(halves[0]))
}

/// Judges documents by the number of features they share; the score is its share of k.
pub struct FeatureJudge<'a> {
    /// The features of each document, k after k.
    features: Vec<u64>,
    k: usize,
    r: usize,
    /// Knows which rows may be paired.
    rows: &'a ShingleJudge<'a>,
}

impl<'a> FeatureJudge<'a> {
    /// Loads the features of `documents`, which are rows of the store. Errors: the store cannot be read.
    pub fn new(k: usize, r: usize, store: &SignedStore, documents: &[u32], rows: &'a ShingleJudge<'a>) -> Result<Self> {
        let mut features = Vec::with_capacity(k * documents.len());
        for (place, row) in documents.iter().enumerate() {
            features.extend(get(&store.elements(*row)?).take(k));
            features.resize(k * (place + 1), 0);
        }
        Ok(Self { features, k, r, rows })
    }

    /// The features of a document.
    fn features(&self, document: u32) -> &[u64] {
        &self.features[self.k * document as usize..][..self.k]
    }

    fn score(&self, left: u32, right: u32) -> f64 {
        Features::shared(self.features(left), self.features(right)) as f64 / self.k as f64
    }

    /// The least score of two documents that share r features.
    pub fn threshold(&self) -> f64 {
        self.r as f64 / self.k as f64
    }
}

impl Judge for FeatureJudge<'_> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        let score = self.score(hub, other);
        let is_possible = score >= self.threshold() && self.rows.may_pair(hub, other);
        Glance { estimate: score as f32, is_possible }
    }

    fn is_stopped(&self) -> bool {
        self.rows.is_stopped()
    }

    fn exact(&self, hub: u32, others: &[u32], _: f64, scores: &mut Vec<Option<f64>>) {
        scores.extend(others.iter().map(|other| Some(self.score(hub, *other))));
    }
}
