//! Measures how unusual tokens are in the class: their surprise in bits under a model of the new submissions' tokens.
//!
//! There is one model for each language, made of all new submissions, neither templates nor earlier years included: what
//! an archive holds does not change it. With V distinct tokens, p₀ = 1/V, and for a context h of no, one, … `order` tokens before it in its part, p(w|h) = (c(hw) + 2·p(w|shorter
//! h)) / (c(h) + 2); c(h) counts the places of h that a token follows. The first tokens of a part have shorter contexts.
//! What an old submission has and no new one does counts 0; tokens of a language that no new one has have no bits.
//! The surprise −log₂ p is rounded to thousandths of a bit, so sums are exact and do not depend on their order.
//!
//! Nothing is left out when the counts are made: a passage that two submissions share was counted twice. So bits say how
//! much of a passage is routine in this class. They are no probability that it arose by chance: programs for one task
//! are not independent draws.
//!
//! Cost: linear; one look-up for each token and length of context, twice. Memory: at most one slot for each.

use super::entry::{Entry, EntryPart};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Thousandths of a bit in a bit.
pub const BIT: u64 = 1000;
/// Weight of the shorter context.
pub(super) const PRIOR: f64 = 2.0;
/// Tokens before a token that its surprise depends on.
const ORDER: usize = 2;

/// The number of a run that was not counted. There are fewer runs than that.
const UNSEEN: u32 = u32::MAX;

/// Mixes a key of two small numbers.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = crate::hash::mix64(self.0 ^ key);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The runs of one length, numbered as they are first seen, and how often each occurs.
#[derive(Default)]
struct Counted {
    numbers: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    counts: Vec<u32>,
    /// How often each run that is one token shorter is followed by a token.
    contexts: Vec<u32>,
}

impl Counted {
    fn key(context: u32, token: u32) -> u64 {
        u64::from(context) << 32 | u64::from(token)
    }

    fn add(&mut self, context: u32, token: u32) -> u32 {
        let next = self.counts.len() as u32;
        let number = *self.numbers.entry(Self::key(context, token)).or_insert(next);
        if number == next {
            self.counts.push(0);
        }
        self.counts[number as usize] += 1;
        if self.contexts.len() <= context as usize {
            self.contexts.resize(context as usize + 1, 0);
        }
        self.contexts[context as usize] += 1;
        number
    }

    /// The number of a run; [`UNSEEN`] if no new submission has it. No run begins with an unseen one.
    fn number(&self, context: u32, token: u32) -> u32 {
        self.numbers.get(&Self::key(context, token)).copied().unwrap_or(UNSEEN)
    }

    /// How often a run occurs, and how often the run without its last token is followed by a token.
    fn counts(&self, run: u32, context: u32) -> [f64; 2] {
        let count = |counts: &[u32], at: u32| f64::from(counts.get(at as usize).copied().unwrap_or(0));
        [count(&self.counts, run), count(&self.contexts, context)]
    }
}

/// The model of one language.
#[derive(Default)]
struct Model {
    /// Runs of one token, of two, and so on.
    levels: [Counted; ORDER + 1],
}

impl Model {
    fn add(&mut self, tokens: &[u32]) {
        let mut before = [0; ORDER + 1];
        for (i, token) in tokens.iter().enumerate() {
            let mut here = [0; ORDER + 1];
            for level in 0..=ORDER.min(i) {
                let context = if level == 0 { 0 } else { before[level - 1] };
                here[level] = self.levels[level].add(context, *token);
            }
            before = here;
        }
    }

    /// The surprise of each token in thousandths of a bit.
    fn measure(&self, tokens: &[u32], bits: &mut [u16]) {
        let mut before = [0; ORDER + 1];
        for (i, (token, bits)) in tokens.iter().zip(bits).enumerate() {
            let (mut here, mut share) = ([0; ORDER + 1], 1.0 / self.levels[0].counts.len().max(1) as f64);
            for level in 0..=ORDER.min(i) {
                let context = if level == 0 { 0 } else { before[level - 1] };
                let counted = &self.levels[level];
                here[level] = counted.number(context, *token);
                let [both, all] = counted.counts(here[level], context);
                share = (both + PRIOR * share) / (all + PRIOR);
            }
            *bits = surprise(share);
            before = here;
        }
    }
}

/// The surprise of something of this probability, in thousandths of a bit; at most 65.535 bits.
pub fn surprise(share: f64) -> u16 {
    (-share.log2() * BIT as f64).round() as u16
}

fn tokens_of<'a>(entry: &'a Entry, part: &EntryPart) -> &'a [u32] {
    &entry.tokens[part.start as usize..part.end as usize]
}

/// The surprise of each token of each submission, in thousandths of a bit.
pub fn measure(entries: &[Entry]) -> Vec<Vec<u16>> {
    let mut models: Vec<(u32, Model)> = Vec::new();
    let mut languages: Vec<u32> = entries.iter().flat_map(|entry| entry.parts.iter().map(|p| p.language)).collect();
    languages.sort_unstable();
    languages.dedup();
    languages
        .into_par_iter()
        .map(|language| {
            let mut model = Model::default();
            for entry in entries.iter().filter(|entry| !entry.old) {
                let parts = entry.parts.iter().filter(|part| part.language == language);
                parts.for_each(|part| model.add(tokens_of(entry, part)));
            }
            (language, model)
        })
        .collect_into_vec(&mut models);
    let of_entry = |entry: &Entry| {
        let mut bits = vec![0; entry.tokens.len()];
        for part in &entry.parts {
            if let Ok(at) = models.binary_search_by_key(&part.language, |(language, _)| *language) {
                models[at].1.measure(tokens_of(entry, part), &mut bits[part.start as usize..part.end as usize]);
            }
        }
        bits
    };
    entries.par_iter().map(of_entry).collect()
}
