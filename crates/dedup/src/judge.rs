//! Scores pairs of documents: sketches give an estimate, shingles the exact score.
//!
//! A sketch decides a pair only if the confidence interval at 1 − 10⁻⁶ lies on one side of the threshold. The exact
//! score puts the shingles of the hub into a set once and looks up those of each other document.
//!
//! Cost: about 50 ns per estimate and 3 ns per shingle of an exact score.

use crate::signed_store::{RowNumbers, SignedStore};
use lookalike_core::clustering::{Glance, Judge};
use lookalike_core::hash::mix64;
use lookalike_core::sketch::estimate::{decisions, Decision};
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// The confidence at which a sketch may decide.
pub const CONFIDENCE: f64 = 1.0 - 1e-6;
/// Largest sample with a table of decisions. Larger samples are scaled down to it, rounded away from each decision; a
/// smaller sample decides fewer pairs.
const MAX_SAMPLE: usize = 512;

/// The measure of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The share of all shingles that both have.
    Resemblance,
    /// The share of the other's shingles that the hub has.
    Containment,
}

/// Judges documents by their shingles and sketches.
pub struct ShingleJudge<'a> {
    store: &'a SignedStore,
    /// The row of each document.
    documents: &'a [u32],
    measure: Measure,
    threshold: f64,
    /// Rows below this number are references. Other rows are compared with references only; references are not compared
    /// with each other.
    references: Option<u32>,
    /// Whether sketches may decide; otherwise every pair is counted.
    is_quick: bool,
    decisions: Vec<OnceLock<Vec<Decision>>>,
    failure: Mutex<Option<io::Error>>,
    /// Set to end the work early, by the caller or by a failure.
    stop: &'a AtomicBool,
}

impl<'a> ShingleJudge<'a> {
    /// Makes a judge of `documents`, which are rows of the store.
    pub fn new(
        store: &'a SignedStore,
        documents: &'a [u32],
        measure: Measure,
        threshold: f64,
        references: Option<u32>,
        stop: &'a AtomicBool,
    ) -> Self {
        let decisions = (0..=MAX_SAMPLE).map(|_| OnceLock::new()).collect();
        let (failure, is_quick) = (Mutex::new(None), true);
        Self { store, documents, measure, threshold, references, is_quick, decisions, failure, stop }
    }

    /// Lets no sketch decide: every pair is counted.
    pub fn thorough(self) -> Self {
        Self { is_quick: false, ..self }
    }

    /// The first failure to read the store. After one, answers are not valid.
    pub fn failure(&self) -> Option<io::Error> {
        self.failure.lock().ok().and_then(|mut failure| failure.take())
    }

    fn row(&self, document: u32) -> u32 {
        self.documents[document as usize]
    }

    /// Returns what was read. After a failure, records it and returns nothing.
    fn read<T>(&self, numbers: io::Result<RowNumbers<'a, T>>) -> RowNumbers<'a, T> {
        numbers.unwrap_or_else(|error| {
            if let Ok(mut failure) = self.failure.lock() {
                failure.get_or_insert(error);
            }
            self.stop.store(true, Ordering::Relaxed);
            RowNumbers::Borrowed(&[])
        })
    }

    /// Whether the two may be paired at all.
    pub fn may_pair(&self, hub: u32, other: u32) -> bool {
        self.references.is_none_or(|references| self.row(hub) < references && self.row(other) >= references)
    }

    /// What `common` of `sample` elements decide, if anything. A sample that is scaled down is rounded away from each
    /// decision: fewer common elements for a pair above, more for one below.
    fn decide(&self, common: usize, sample: usize) -> Option<bool> {
        let size = sample.min(MAX_SAMPLE);
        let table = self.decisions.get(size)?.get_or_init(|| decisions(size, self.threshold, CONFIDENCE));
        let (fewer, more) = (common * size / sample, (common * size).div_ceil(sample));
        match (table.get(fewer)?, table.get(more)?) {
            (Decision::Above, _) => Some(true),
            (_, Decision::Below) => Some(false),
            _ => None,
        }
    }
}

impl Judge for ShingleJudge<'_> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        if !self.may_pair(hub, other) {
            return Glance { estimate: 0.0, verdict: Some(false) };
        }
        let left = self.read(self.store.elements(self.row(hub)));
        let right = self.read(self.store.elements(self.row(other)));
        let (common, sample) = match self.measure {
            Measure::Resemblance => (equal(&left, &right), left.len().min(right.len())),
            Measure::Containment => (shared(&left, &right), right.len()),
        };
        if sample == 0 {
            return Glance { estimate: 0.0, verdict: None };
        }
        Glance {
            estimate: common as f32 / sample as f32,
            verdict: self.decide(common, sample).filter(|_| self.is_quick),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn exact(&self, hub: u32, others: &[u32], scores: &mut Vec<Option<f64>>) {
        SETS.with_borrow_mut(|(of_hub, of_other)| {
            let ids = self.read(self.store.ids(self.row(hub)));
            of_hub.clear(ids.len());
            let hub_size = ids.iter().filter(|id| of_hub.insert(**id)).count();
            for other in others {
                let ids = self.read(self.store.ids(self.row(*other)));
                of_other.clear(ids.len());
                let (mut size, mut common) = (0usize, 0usize);
                for id in ids.iter() {
                    if of_other.insert(*id) {
                        size += 1;
                        common += usize::from(of_hub.contains(*id));
                    }
                }
                let whole = match self.measure {
                    Measure::Resemblance => hub_size + size - common,
                    Measure::Containment => size,
                };
                scores.push((whole > 0).then(|| common as f64 / whole as f64));
            }
        });
    }
}

/// Number of equal coordinates.
fn equal(left: &[u32], right: &[u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = lookalike_core::machine::Avx2::detect() {
        // SAFETY: `avx2` proves the feature the function is compiled for.
        return unsafe { equal_avx2(avx2, left, right) };
    }
    count_equal(left, right)
}

/// [`count_equal`] compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn equal_avx2(_: lookalike_core::machine::Avx2, left: &[u32], right: &[u32]) -> usize {
    count_equal(left, right)
}

#[inline(always)]
fn count_equal(left: &[u32], right: &[u32]) -> usize {
    left.iter().zip(right).map(|(left, right)| u32::from(left == right)).sum::<u32>() as usize
}

/// Number of elements that two ascending samples share.
fn shared(left: &[u32], right: &[u32]) -> usize {
    let (mut at, mut count) = (0, 0);
    for element in right {
        at += left[at..].iter().take_while(|other| *other < element).count();
        count += usize::from(left.get(at) == Some(element));
    }
    count
}

thread_local! {
    static SETS: RefCell<(IdSet, IdSet)> = RefCell::default();
}

/// A set of ids: open addressing, at most half full, with slots that are cleared before each use. For documents of a
/// thousand words it fits the first-level cache. A slot of 0 is free, so the id 0 has a flag of its own.
///
/// Slots depend on a random key: ids are published functions of the text, so a stranger could otherwise choose texts
/// whose ids all fall into one slot.
pub struct IdSet {
    slots: Vec<u64>,
    has_zero: bool,
    shift: u32,
    key: u64,
}

impl Default for IdSet {
    fn default() -> Self {
        Self { slots: Vec::new(), has_zero: false, shift: 0, key: RandomState::new().hash_one(0) }
    }
}

impl IdSet {
    /// Empties the set and makes room for `count` ids.
    pub fn clear(&mut self, count: usize) {
        let wanted = (2 * count).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(wanted, 0);
        self.has_zero = false;
        self.shift = 64 - wanted.trailing_zeros();
    }

    /// The slot that holds an id, or the free slot where it would go.
    #[inline]
    fn slot(&self, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (mix64(id ^ self.key) >> self.shift) as usize & mask;
        while self.slots[at] != 0 && self.slots[at] != id {
            at = (at + 1) & mask;
        }
        at
    }

    /// Adds an id. Returns whether it is new.
    #[inline]
    pub fn insert(&mut self, id: u64) -> bool {
        if id == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let at = self.slot(id);
        let is_new = self.slots[at] == 0;
        self.slots[at] = id;
        is_new
    }

    #[inline]
    fn contains(&self, id: u64) -> bool {
        if id == 0 {
            self.has_zero
        } else {
            self.slots[self.slot(id)] != 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn a_set_is_a_set_however_often_it_is_emptied(rounds in vec(vec(prop_oneof![any::<u64>(), 0u64..9, (0u64..9).prop_map(|x| x << 60)], 0..80), 1..6)) {
            let mut set = IdSet::default();
            for ids in rounds {
                set.clear(ids.len());
                let mut naive = HashSet::new();
                for id in &ids {
                    prop_assert_eq!(set.insert(*id), naive.insert(*id));
                }
                for id in 0..20 {
                    prop_assert_eq!(set.contains(id << 60 | id), naive.contains(&(id << 60 | id)));
                }
            }
        }

        #[test]
        fn shared_elements_are_counted(mut left in vec(0u32..50, 0..40), mut right in vec(0u32..50, 0..40)) {
            left.sort_unstable();
            left.dedup();
            right.sort_unstable();
            right.dedup();
            prop_assert_eq!(shared(&left, &right), right.iter().filter(|element| left.contains(element)).count());
            let naive = left.iter().zip(&right).filter(|(left, right)| left == right).count();
            prop_assert_eq!(equal(&left, &right), naive);
        }
    }
}
