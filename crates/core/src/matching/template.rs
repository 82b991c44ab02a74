//! Finds starter code: tokens of a submission that are in a template have no weight.

use super::align::{Index, PLACES};
use super::entry::{dense_keys, gram_starts, Entry, EntryPart, SEPARATOR};
use std::collections::HashSet;

/// All template files.
#[derive(Clone, Debug, Default)]
pub struct Template {
    tokens: Vec<u32>,
    verbatim: Vec<u32>,
    keys: Vec<u32>,
    parts: Vec<EntryPart>,
    literals: HashSet<u64>,
}

impl Template {
    /// Joins the template files.
    pub fn new<'a>(files: impl Iterator<Item = &'a Entry>) -> Self {
        let mut all = Self::default();
        for file in files {
            let base = all.tokens.len() as u32;
            all.tokens.extend_from_slice(&file.tokens);
            all.tokens.push(SEPARATOR);
            all.verbatim.extend_from_slice(&file.verbatim);
            all.verbatim.resize(all.tokens.len(), 0);
            let shift = |part: &EntryPart| EntryPart { start: part.start + base, end: part.end + base, ..*part };
            all.parts.extend(file.parts.iter().map(shift));
            all.literals.extend(file.literals.iter().map(|literal| literal.key));
        }
        all.keys = dense_keys(&all.tokens, &all.parts);
        all
    }

    /// Makes the marker of this template.
    pub fn marker(&self) -> Marker<'_> {
        Marker { template: self, index: Index::new(&self.tokens, &self.keys, &self.parts) }
    }
}

/// Marks submissions by a template; holds the index of its k-grams.
pub struct Marker<'a> {
    template: &'a Template,
    index: Index<'a>,
}

impl Marker<'_> {
    /// Whether the template has a string literal with this text.
    pub fn has_literal(&self, key: u64) -> bool {
        self.template.literals.contains(&key)
    }

    /// Marks the tokens of `entry` that are in the template: in runs of at least t tokens, or in k-grams with equal
    /// exact text. Shorter runs that are equal only after folding are common in the language and are not marked.
    pub fn mark(&self, entry: &Entry) -> Vec<bool> {
        let mut marks = vec![false; entry.tokens.len()];
        for part in &entry.parts {
            let mut done = 0;
            for at in gram_starts(part) {
                let end = at + part.k as usize;
                if end <= done {
                    continue;
                }
                let length = self.length(entry, part, at);
                if length > 0 {
                    marks[at..at + length].fill(true);
                    done = at + length;
                }
            }
        }
        marks
    }

    /// Number of tokens from `at` on that are in the template.
    fn length(&self, entry: &Entry, part: &EntryPart, at: usize) -> usize {
        let (k, tokens) = (part.k as usize, &entry.tokens);
        let mut longest = 0;
        for place in self.index.places(entry.keys()[at], &tokens[at..at + k]).take(PLACES) {
            let pairs = tokens[at + k..].iter().zip(&self.template.tokens[place + k..]);
            let length = k + pairs.take_while(|(a, b)| a == b && **a != SEPARATOR).count();
            let is_same = || {
                (0..k).all(|i| entry.verbatim.get(at + i).copied().unwrap_or(0) == self.template.verbatim[place + i])
            };
            if length >= part.t as usize {
                longest = longest.max(length);
            } else if longest < k && is_same() {
                longest = k;
            }
        }
        longest
    }
}
