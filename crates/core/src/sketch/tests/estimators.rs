//! Tests of the estimators against the truth: bias, coverage, width and spread, for every kind, from 40 shingles to
//! 100,000.
//!
//! Sets are drawn with a fixed seed. `UNIONS` has the number of trials; a mean may be off by 4 standard errors, a
//! coverage may be 4 below the confidence. The ideal width is that of the normal law: 2 · 1.96 · √(r(1−r)/n), and for
//! samples without replacement times √((N−n)/(N−1)).

use super::recipe;
use crate::hash::mix64;
use crate::sketch::estimate::{interval, Estimate, Population};
use crate::sketch::fast::{common, Fast};
use crate::sketch::kind::{SketchKind, KINDS};
use crate::sketch::permutations::Permutations;
use crate::sketch::sample::Sample;
use std::collections::HashMap;

const RESEMBLANCES: [f64; 6] = [0.1, 0.3, 0.5, 0.7, 0.9, 0.975];

/// Sizes of the union, and the trials of each.
const UNIONS: [(u64, u32); 4] = [(40, 2000), (400, 1500), (3100, 1000), (100_000, 80)];

const SIZE: usize = 128;
const MODULUS: i64 = 16;
const CONFIDENCE: f64 = 0.95;

/// The mean and its standard error.
#[derive(Clone, Copy, Default)]
struct Mean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn value(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    fn standard_error(&self) -> f64 {
        let variance = self.squares / self.count.max(1.0) - self.value() * self.value();
        (variance.max(0.0) / self.count.max(1.0)).sqrt()
    }
}

/// The observations of one kind at one resemblance.
#[derive(Default)]
struct Cell {
    errors: Mean,
    squares: Mean,
    covered: Mean,
    widths: Mean,
    ideal: Mean,
    known: HashMap<(u64, u64), Estimate>,
}

/// Two sets with a union of `n` elements, `common` of them in both: elements below `common`, and every second of the
/// others.
#[derive(Clone, Copy)]
struct TextPair {
    n: u64,
    common: u64,
}

impl TextPair {
    fn has(self, is_left: bool, index: u64) -> bool {
        index < self.common || (index & 1 == 0) == is_left
    }

    fn size(self, is_left: bool) -> u64 {
        (0..self.n).filter(|index| self.has(is_left, *index)).count() as u64
    }

    fn truth(self) -> f64 {
        self.common as f64 / self.n as f64
    }
}

/// The common elements and the sample size of one trial. `union` holds (id, index), ascending.
fn trial(kind: SketchKind, pair: TextPair, sizes: (u64, u64), union: &[(u64, u64)]) -> (u64, u64) {
    let set = |is_left| -> Vec<u64> {
        union.iter().filter(|(_, index)| pair.has(is_left, *index)).map(|(id, _)| *id).collect()
    };
    let (left, right) = (set(true), set(false));
    if kind.has_coordinates() {
        let mut rows = [[0; SIZE]; 2];
        for (row, ids) in rows.iter_mut().zip([&left, &right]) {
            if kind == SketchKind::Fast {
                Fast::new(SIZE as i64).expect("in range").sketch(ids, row);
            } else {
                Permutations::new(SIZE as i64).expect("in range").sketch(ids, &mut Vec::new(), row);
            }
        }
        return (common(&rows[0], &rows[1]) as u64, SIZE as u64);
    }
    let recipe = recipe(kind, SIZE as i64, MODULUS);
    let sample = |set: &[u64], size| {
        let (limit, most) = recipe.shape(size);
        Sample::of_set(set, limit, most)
    };
    sample(&left, sizes.0).of_union(&sample(&right, sizes.1))
}

impl Cell {
    fn add(&mut self, kind: SketchKind, pair: TextPair, sizes: (u64, u64), (common, sample): (u64, u64)) {
        if sample == 0 {
            return;
        }
        let population = match kind.has_coordinates() {
            true => Population::Unknown,
            false => Population::Union { left: sizes.0, right: sizes.1 },
        };
        let make = || interval(common, sample, population, CONFIDENCE).expect("a sample");
        let found = *self.known.entry((common, sample)).or_insert_with(make);
        let truth = pair.truth();
        self.errors.add(found.value - truth);
        self.squares.add((found.value - truth).powi(2));
        self.covered.add(f64::from(u8::from(found.low <= truth + 1e-12 && truth <= found.high + 1e-12)));
        self.widths.add(found.high - found.low);
        let finite = match kind.has_coordinates() {
            true => 1.0,
            false => (pair.n - sample) as f64 / (pair.n - 1) as f64,
        };
        self.ideal.add(2.0 * 1.96 * (truth * (1.0 - truth) / sample as f64 * finite).sqrt());
    }

    fn check(&self, kind: SketchKind, pair: TextPair) {
        let said = format!("{} at r = {}, |A ∪ B| = {}", kind.name(), pair.truth(), pair.n);
        let (bias, allowed) = (self.errors.value(), 4.0 * self.errors.standard_error());
        assert!(bias.abs() <= allowed + 1e-12, "{said}: bias {bias} beyond {allowed}");
        let least = CONFIDENCE - 4.0 * (CONFIDENCE * (1.0 - CONFIDENCE) / self.covered.count).sqrt();
        assert!(self.covered.value() >= least, "{said}: covers {}, below {least}", self.covered.value());
        if pair.n >= 10 * SIZE as u64 {
            let ratio = self.widths.value() / self.ideal.value();
            assert!(ratio <= 1.15, "{said}: {ratio} times the ideal width");
        }
        if kind == SketchKind::Fast {
            let ratio = self.squares.value() / (pair.truth() * (1.0 - pair.truth()) / SIZE as f64);
            // Far below 1 for small sets; within the error of 80 trials for large ones.
            let most = if pair.n == 40 { 0.8 } else { 1.0 + 4.0 * (2.0 / self.squares.count).sqrt() };
            assert!(ratio < most, "{said}: spread {ratio} of the binomial");
        }
    }
}

fn check_union((n, trials): (u64, u32)) {
    let pairs = RESEMBLANCES.map(|r| TextPair { n, common: (r * n as f64).round() as u64 });
    let sizes = pairs.map(|pair| (pair.size(true), pair.size(false)));
    let mut cells: Vec<Cell> = (0..pairs.len() * KINDS.len()).map(|_| Cell::default()).collect();
    for round in 0..u64::from(trials) {
        let mut union: Vec<(u64, u64)> = (0..n).map(|index| (mix64(mix64(n ^ (round << 20)) + index), index)).collect();
        union.sort_unstable();
        for (p, pair) in pairs.iter().enumerate() {
            for (k, (kind, _)) in KINDS.iter().enumerate() {
                let seen = trial(*kind, *pair, sizes[p], &union);
                cells[p * KINDS.len() + k].add(*kind, *pair, sizes[p], seen);
            }
        }
    }
    for (p, pair) in pairs.iter().enumerate() {
        for (k, (kind, _)) in KINDS.iter().enumerate() {
            cells[p * KINDS.len() + k].check(*kind, *pair);
        }
    }
}

#[test]
fn estimators_are_right_at_40_shingles() {
    check_union(UNIONS[0]);
}

#[test]
fn estimators_are_right_at_400_shingles() {
    check_union(UNIONS[1]);
}

#[test]
fn estimators_are_right_at_3100_shingles() {
    check_union(UNIONS[2]);
}

#[test]
fn estimators_are_right_at_100_000_shingles() {
    check_union(UNIONS[3]);
}

#[test]
fn containment_is_unbiased_where_the_sample_is_not_empty() {
    // 20,000 trials: A has 20 shingles, 12 of them in B, which has 60; MOD_16 is empty in 27 % of them.
    const TRIALS: u64 = 20_000;
    let truth = 12.0 / 20.0;
    let population = Population::Whole { size: 20, other: 60 };
    let (mut given, mut with_zeros, mut covered) = (Mean::default(), Mean::default(), Mean::default());
    for round in 0..TRIALS {
        let id = |index: u64| mix64(mix64(round).wrapping_add(index));
        let mut sets = [(0..20).map(id).collect::<Vec<u64>>(), (8..68).map(id).collect()];
        sets.iter_mut().for_each(|set| set.sort_unstable());
        let (limit, most) = recipe(SketchKind::Modulo, 1, 16).shape(0);
        let [left, right] = sets.map(|set| Sample::of_set(&set, limit, most));
        let (common, sample) = left.of_left(&right);
        match interval(common, sample, population, CONFIDENCE) {
            Some(found) => {
                given.add(found.value);
                with_zeros.add(found.value);
                covered.add(f64::from(u8::from(found.low <= truth && truth <= found.high)));
            }
            None => with_zeros.add(0.0),
        }
    }
    assert!((given.value() - truth).abs() <= 4.0 * given.standard_error(), "{}", given.value());
    // The mean with empty samples counted as 0, and the factor that corrects it.
    let factor = 1.0 - (1.0 - 1.0 / 16.0f64).powi(20);
    assert!((with_zeros.value() / factor - truth).abs() <= 4.0 * with_zeros.standard_error() / factor);
    assert!(truth - with_zeros.value() > 0.1);
    assert!(covered.value() >= CONFIDENCE - 4.0 * covered.standard_error(), "{}", covered.value());
}
