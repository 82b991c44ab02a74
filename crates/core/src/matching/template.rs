//! Finds starter code: tokens of a submission that are in a template have no weight.
//!
//! A token is in the template if it lies in a run of t tokens that a template file has too, or in a k-gram whose exact
//! text a template file has too. Shorter runs that are equal only after folding are common in the language. Cost:
//! linear in the tokens.

use super::cover::TokenRuns;
use super::entry::{Entry, EntryPart, SEPARATOR};
use crate::hash::keyed::RunKey;
use std::collections::{HashMap, HashSet};

/// A text that no template has.
const OTHER: u32 = SEPARATOR - 1;

/// All template files.
#[derive(Clone, Debug, Default)]
pub struct Template {
    tokens: Vec<u32>,
    /// The tokens numbered by their exact text.
    texts: Vec<u32>,
    numbers: HashMap<(u32, u32), u32>,
    parts: Vec<EntryPart>,
    literals: HashSet<u64>,
}

impl Template {
    /// Joins the template files.
    pub fn new<'a>(files: impl Iterator<Item = &'a Entry>) -> Self {
        let mut all = Self::default();
        for file in files {
            let base = all.tokens.len() as u32;
            for (at, token) in file.tokens.iter().enumerate() {
                let (text, next) = (text_of(file, at), all.numbers.len() as u32);
                all.tokens.push(*token);
                all.texts.push(if *token == SEPARATOR {
                    SEPARATOR
                } else {
                    *all.numbers.entry((*token, text)).or_insert(next)
                });
            }
            all.tokens.push(SEPARATOR);
            all.texts.push(SEPARATOR);
            let shift = |part: &EntryPart| EntryPart { start: part.start + base, end: part.end + base, ..*part };
            all.parts.extend(file.parts.iter().map(shift));
            all.literals.extend(file.literals.iter().map(|literal| literal.key));
        }
        all
    }

    /// Makes the marker of this template.
    pub fn marker(&self, key: RunKey) -> Marker<'_> {
        let thresholds: HashSet<(u32, u32)> = self.parts.iter().map(|part| (part.k, part.t)).collect();
        let runs = |both: (u32, u32)| {
            let like = TokenRuns::new(key, &self.tokens, &self.parts, both, both.1);
            (both, [like, TokenRuns::new(key, &self.texts, &self.parts, both, both.0)])
        };
        Marker { template: self, runs: thresholds.into_iter().map(runs).collect() }
    }
}

/// Number of the exact text of a token.
fn text_of(entry: &Entry, at: usize) -> u32 {
    entry.verbatim.get(at).copied().unwrap_or(0)
}

/// Marks submissions by a template.
pub struct Marker<'a> {
    template: &'a Template,
    /// By thresholds: its runs of t tokens, and its k-grams of exact text.
    runs: HashMap<(u32, u32), [TokenRuns<'a>; 2]>,
}

impl Marker<'_> {
    /// Whether the template has a string literal with this text.
    pub fn has_literal(&self, key: u64) -> bool {
        self.template.literals.contains(&key)
    }

    /// Marks the tokens of `entry` that are in the template.
    pub fn mark(&self, entry: &Entry) -> Vec<bool> {
        let mut marks = vec![false; entry.tokens.len()];
        if self.runs.is_empty() {
            return marks;
        }
        let number = |(at, token): (usize, &u32)| {
            self.template.numbers.get(&(*token, text_of(entry, at))).copied().unwrap_or(OTHER)
        };
        let texts: Vec<u32> = entry.tokens.iter().enumerate().map(number).collect();
        for part in &entry.parts {
            if let Some([like, exact]) = self.runs.get(&(part.k, part.t)) {
                like.mark(&entry.tokens, part, &mut marks);
                exact.mark(&texts, part, &mut marks);
            }
        }
        marks
    }
}
