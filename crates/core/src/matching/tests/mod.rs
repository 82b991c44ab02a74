//! Tests of the matcher against plain definitions, on repetitive texts and on cohorts that share everything.

mod align;
mod clusters;
mod cohorts;
mod crowds;
mod guarantee;
mod oracle;
mod scores;
mod templates;
mod unreachable;
mod weights;

use super::entry::{Entry, EntryPart, Pick, SEPARATOR};
use super::score::MatchedPair;
use super::{Cohort, Comparison, MatchOutcome, MatchSettings};
use crate::fingerprint::{Fingerprinter, Thresholds};
use crate::frontend::{Options, Stream, Unit};
use crate::hash::keyed::RunKey;
use crate::hash::mix64;
use crate::scheme::SchemeKind;
use crate::testing::low_entropy_bytes;
use proptest::prelude::*;
use std::ops::Range;

/// Keeps every pair that shares anything.
const ALL: MatchSettings = MatchSettings {
    max_sharing: None,
    min_score: 0.0,
    min_contained: 1.0,
    min_evidence: 0,
    min_bits: 0,
    cluster_threshold: 0.5,
    max_pairs: usize::MAX,
};

/// A part to be made: tokens, k, t.
type Made = (Vec<u32>, u32, u32);

/// Makes an entry of parts, with the picks that the product selects.
fn entry_of(submitter: u32, parts: &[Made]) -> Entry {
    let mut entry = Entry::of(submitter, false);
    for (tokens, k, t) in parts.iter().filter(|part| !part.0.is_empty()) {
        if !entry.tokens.is_empty() {
            entry.tokens.push(SEPARATOR);
        }
        let start = entry.tokens.len() as u32;
        entry.tokens.extend_from_slice(tokens);
        entry.parts.push(EntryPart {
            start,
            end: entry.tokens.len() as u32,
            k: *k,
            t: *t,
            worth: 1000,
            passage: None,
            language: k * 256 + t,
        });
        let thresholds = Thresholds::new(i64::from(*k), i64::from(*t)).expect("valid");
        let by = Fingerprinter::new(thresholds, SchemeKind::Robust, Options { unit: Unit::Word, homoglyphs: false });
        let tokens = tokens.iter().map(|token| mix64(u64::from(*token))).collect();
        let picks = by.stream(&Stream { tokens, spans: Vec::new(), unit: Unit::Word });
        let pick = |(key, at): (u64, u32)| Pick { key, at: at + start };
        entry.picks.extend(picks.hashes.into_iter().zip(picks.positions).map(pick));
    }
    entry.roll(RunKey::default());
    entry
}

/// Makes an entry of one part.
fn entry(submitter: u32, tokens: &[u32], k: u32, t: u32) -> Entry {
    entry_of(submitter, &[(tokens.to_vec(), k, t)])
}

/// The entry with another submitter or from an earlier year.
fn by(mut entry: Entry, submitter: u32, old: bool) -> Entry {
    (entry.submitter, entry.old) = (submitter, old);
    entry
}

/// The entry with another place of its name.
fn ranked(mut entry: Entry, rank: u32) -> Entry {
    entry.rank = rank;
    entry
}

/// Sets the exact texts of an entry's tokens.
fn written(mut entry: Entry, verbatim: impl Fn(usize) -> u32) -> Entry {
    entry.verbatim = (0..entry.tokens.len()).map(verbatim).collect();
    entry
}

/// Tokens that occur nowhere else: `n` of them from `seed` on.
fn fresh(seed: u32, n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| 1_000_000 + seed * 10_000 + i).collect()
}

fn cohort(entries: Vec<Entry>, templates: &[Entry], settings: MatchSettings) -> Cohort {
    Cohort::new(entries, templates, settings)
}

fn run(cohort: &Cohort) -> MatchOutcome {
    let mut comparison = Comparison::default();
    while comparison.advance(cohort, 7) {}
    comparison.finish()
}

/// The common material of two submissions, if any.
fn pair(a: Entry, b: Entry) -> Option<MatchedPair> {
    run(&cohort(vec![a, b], &[], ALL)).pairs.into_iter().next()
}

fn names(outcome: &MatchOutcome) -> Vec<(u32, u32)> {
    let mut names: Vec<(u32, u32)> = outcome.pairs.iter().map(|pair| (pair.left, pair.right)).collect();
    names.sort_unstable();
    names
}

fn score_of(outcome: &MatchOutcome, left: u32, right: u32) -> Option<f64> {
    outcome.pairs.iter().find(|pair| (pair.left, pair.right) == (left, right)).map(|pair| pair.measures.score)
}

/// Tokens over small alphabets, periodic ones, Thue–Morse, and runs of one token between others.
fn tokens(len: Range<usize>) -> impl Strategy<Value = Vec<u32>> {
    let most = len.end;
    let runs = prop::collection::vec((97u32..101, 1usize..40), 1..12)
        .prop_map(|runs| runs.into_iter().flat_map(|(token, n)| std::iter::repeat_n(token, n)).collect::<Vec<u32>>())
        .prop_map(move |tokens| tokens.into_iter().take(most).collect());
    let bytes = low_entropy_bytes(len).prop_map(|bytes| bytes.into_iter().map(u32::from).collect());
    prop_oneof![4 => bytes, 1 => runs]
}

/// A text, and one made of stretches of it, some repeated, with other tokens between.
fn kin(len: usize) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let stretch = (any::<prop::sample::Index>(), 0..len / 2, 1usize..3, tokens(0..8));
    (tokens(1..len), prop::collection::vec(stretch, 0..5), tokens(0..len / 2)).prop_map(|(a, stretches, end)| {
        let mut b = Vec::new();
        for (at, n, times, between) in stretches {
            let start = at.index(a.len());
            let copied = &a[start..(start + n).min(a.len())];
            b.extend(std::iter::repeat_n(copied, times).flatten());
            b.extend(between);
        }
        b.extend(end);
        (a, b)
    })
}

/// k and t.
fn thresholds() -> impl Strategy<Value = (u32, u32)> {
    (1u32..9, 0u32..10).prop_map(|(k, more)| (k, k + more))
}

/// Two submissions of several parts with one or two kinds of thresholds, related part by part and across parts.
fn akin() -> impl Strategy<Value = (Entry, Entry)> {
    let parts = prop::collection::vec((kin(160), any::<bool>(), any::<bool>()), 1..4);
    (parts, thresholds(), thresholds(), any::<bool>()).prop_map(|(parts, one, two, is_reversed)| {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for ((left, right), is_first, is_swapped) in parts {
            let (k, t) = if is_first { one } else { two };
            let (left, right) = if is_swapped { (right, left) } else { (left, right) };
            a.push((left, k, t));
            b.push((right, k, t));
        }
        if is_reversed {
            b.reverse();
        }
        (entry_of(0, &a), entry_of(1, &b))
    })
}
