//! Says which stored submissions can be listed with a new one: those that share a run of t tokens, a string literal, or
//! all of their content with one.
//!
//! Runs are compared by 32-bit keys that say too much rather than too little: a document that is kept without need
//! changes no answer. So are documents in which no part has t tokens; they are short. Cost: linear in the tokens.

use crate::sign::literal_key;
use lookalike_compare::stored::short_key;
use lookalike_compare::submitted_file::{FilePart, SubmittedFile, Tokens};
use lookalike_core::hash::rolling::Rolling;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// What new submissions hold.
#[derive(Default)]
pub struct Sieve {
    runs: HashSet<(u64, u32)>,
    picks: BTreeSet<u64>,
    literals: BTreeSet<u64>,
}

impl Sieve {
    /// Adds the files of a new submission.
    pub fn add(&mut self, files: &[Arc<SubmittedFile>]) {
        for part in files.iter().flat_map(|file| &file.parts) {
            let salt = salt(part);
            self.runs.extend(runs(part).into_iter().map(|run| (salt, run)));
            self.picks.extend(part.picks.iter().map(|pick| pick.key));
        }
        self.literals.extend(literals(files));
        self.literals.extend(short_key(files));
    }

    /// The selected k-grams, ascending.
    pub fn picks(&self) -> Vec<u64> {
        self.picks.iter().copied().collect()
    }

    /// The literals, and the keys of submissions too short to have a k-gram, ascending.
    pub fn literals(&self) -> Vec<u64> {
        self.literals.iter().copied().collect()
    }

    /// Whether a submission may be listed with a new one.
    pub fn keeps(&self, files: &[Arc<SubmittedFile>]) -> bool {
        let parts = || files.iter().flat_map(|file| &file.parts);
        let is_long = |part: &FilePart| part.tokens.len() >= part.thresholds.1 as usize;
        let shares = |part: &FilePart| {
            let salt = salt(part);
            runs(part).into_iter().any(|run| self.runs.contains(&(salt, run)))
        };
        !parts().any(is_long) || parts().any(shares) || literals(files).any(|key| self.literals.contains(&key))
    }
}

/// Only parts with the same thresholds have runs in common.
fn salt(part: &FilePart) -> u64 {
    u64::from(part.thresholds.0) << 32 | u64::from(part.thresholds.1)
}

/// Keys of all runs of t tokens.
fn runs(part: &FilePart) -> Vec<u32> {
    let (mut keys, t) = (Vec::new(), part.thresholds.1 as usize);
    if part.tokens.len() >= t {
        match &part.tokens {
            Tokens::Characters(codes) => Rolling::new(t).keys(codes, &mut keys),
            Tokens::Hashed(values) => Rolling::new(t).keys(values, &mut keys),
        }
    }
    keys
}

fn literals(files: &[Arc<SubmittedFile>]) -> impl Iterator<Item = u64> + '_ {
    let parts = files.iter().flat_map(|file| &file.parts);
    parts.flat_map(|part| part.literals.iter().map(|literal| literal_key(part.exact_text(literal.key as u32))))
}
