//! Matches any two texts of few different tokens: tiles are one to one and equal, and every guaranteed run is in a passage.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_core::fingerprint::{Fingerprinter, Thresholds};
use lookalike_core::frontend::{Options, Stream, Unit};
use lookalike_core::hash::keyed::RunKey;
use lookalike_core::matching::align::Aligner;
use lookalike_core::matching::entry::{Entry, EntryPart, Pick, SEPARATOR};
use lookalike_core::matching::{Cohort, Comparison, MatchSettings};
use lookalike_core::scheme::SchemeKind;

/// A submission of the parts between zero bytes.
fn entry(submitter: u32, bytes: &[u8], k: u32, t: u32) -> Option<Entry> {
    let thresholds = Thresholds::new(k.into(), t.into()).ok()?;
    let by = Fingerprinter::new(thresholds, SchemeKind::Robust, Options { unit: Unit::Word, homoglyphs: false });
    let mut entry = Entry::of(submitter, false);
    for text in bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty()) {
        if !entry.tokens.is_empty() {
            entry.tokens.push(SEPARATOR);
        }
        let start = entry.tokens.len() as u32;
        entry.tokens.extend(text.iter().map(|byte| u32::from(*byte)));
        entry.parts.push(EntryPart {
            start,
            end: entry.tokens.len() as u32,
            k,
            t,
            worth: 1000,
            passage: Some(20),
            language: 0,
        });
        let tokens = text.iter().map(|byte| u64::from(*byte)).collect();
        let picks = by.stream(&Stream { tokens, spans: Vec::new(), unit: Unit::Word });
        let places = picks.hashes.into_iter().zip(picks.positions);
        entry.picks.extend(places.map(|(key, at)| Pick { key, at: at + start }));
    }
    entry.roll(RunKey::default());
    Some(entry)
}

fn check_tiles(a: &Entry, b: &Entry) {
    let mut taken = [vec![false; a.tokens.len()], vec![false; b.tokens.len()]];
    for tile in Aligner::default().align([a, b]).tiles {
        let (i, j, n) = (tile.a as usize, tile.b as usize, tile.len as usize);
        assert_eq!(a.tokens[i..i + n], b.tokens[j..j + n]);
        assert!(!a.tokens[i..i + n].contains(&SEPARATOR) && tile.len >= a.parts[0].t);
        for (side, start) in [i, j].into_iter().enumerate() {
            assert!(!taken[side][start..start + n].contains(&true), "{tile:?} takes tokens twice");
            taken[side][start..start + n].fill(true);
        }
    }
}

/// Marks the tokens of `a` in runs of t tokens that `b` has too.
fn promised(a: &Entry, b: &Entry, t: usize) -> Vec<bool> {
    let mut marks = vec![false; a.tokens.len()];
    for (at, run) in a.tokens.windows(t).enumerate() {
        if !run.contains(&SEPARATOR) && b.tokens.windows(t).any(|other| other == run) {
            marks[at..at + t].fill(true);
        }
    }
    marks
}

fn check_guarantee(entries: [Entry; 2], t: usize) {
    let [a, b] = &entries;
    let expected = [promised(a, b, t), promised(b, a, t)];
    let settings = MatchSettings {
        max_sharing: None,
        min_score: 0.0,
        min_contained: 0.6,
        min_evidence: 0,
        min_bits: 0,
        cluster_threshold: 0.5,
        max_pairs: 1,
    };
    let cohort = Cohort::new(entries.to_vec(), &[], settings);
    let mut comparison = Comparison::default();
    while comparison.advance(&cohort, 1) {}
    let mut covered = expected.clone().map(|side| vec![false; side.len()]);
    for pair in comparison.finish().pairs {
        let measures = pair.measures;
        assert!((0.0..=1.0).contains(&measures.score) && (0.0..=1.0).contains(&measures.contained), "{measures:?}");
        for passage in pair.passages {
            for (side, covered) in covered.iter_mut().enumerate() {
                covered[passage.start[side] as usize..passage.end[side] as usize].fill(true);
            }
        }
    }
    for (side, (expected, covered)) in expected.iter().zip(&covered).enumerate() {
        let missed = expected.iter().zip(covered).position(|(expected, covered)| *expected && !covered);
        assert_eq!(missed, None, "side {side}");
    }
}

fuzz_target!(|input: (u8, u8, u8, Vec<u8>, Vec<u8>)| {
    let (k, more, letters, mut left, mut right) = input;
    let (k, t) = (u32::from(k % 12) + 1, u32::from(k % 12) + 1 + u32::from(more % 20));
    for byte in left.iter_mut().chain(&mut right).filter(|_| letters > 0) {
        *byte %= letters;
    }
    if let (Some(a), Some(b)) = (entry(0, &left, k, t), entry(1, &right, k, t)) {
        if !a.parts.is_empty() && !b.parts.is_empty() {
            check_tiles(&a, &b);
            check_guarantee([a, b], t as usize);
        }
    }
});
