//! Scores pairs of documents: sketches give an estimate, shingles the exact score.
//!
//! A sketch rejects a pair if the confidence interval at 1 − 10⁻⁶ lies wholly below the threshold; it never accepts one.
//! The exact score puts the shingles of the hub into a set once and looks up those of each other document. Looking up
//! ends as soon as so many are missing that the threshold is out of reach. Shingles are taken in steps of a golden
//! section, so that a text with a common beginning or end is left early, too.
//!
//! Cost: about 50 ns per estimate and 3 ns per shingle that is looked up.

use crate::recalled::Recalled;
use crate::signed_store::{RowNumbers, SignedStore};
use lookalike_core::clustering::{Glance, Judge};
use lookalike_core::hash::mix64;
use lookalike_core::sketch::estimate::rejected;
use lookalike_table::Error as TableError;
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// The probability with which a sketch may reject a pair at the threshold.
const DOUBT: f64 = 1e-6;
/// Samples below this size have their limit computed once. For larger ones it takes less time than comparing them.
const REMEMBERED: usize = 1 << 13;

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
    /// Documents of an archive, numbered before all others.
    recalled: Option<Recalled<'a>>,
    /// Whether sketches may reject; otherwise every pair is counted.
    is_quick: bool,
    /// By size of the sample, the least number of common elements that is not rejected.
    limits: Vec<OnceLock<u32>>,
    failure: Mutex<Option<TableError>>,
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
        let limits = (0..REMEMBERED).map(|_| OnceLock::new()).collect();
        let (failure, is_quick) = (Mutex::new(None), true);
        Self { store, documents, measure, threshold, references, recalled: None, is_quick, limits, failure, stop }
    }

    /// Lets no sketch reject: every pair is counted.
    pub fn thorough(self) -> Self {
        Self { is_quick: false, ..self }
    }

    /// Numbers the documents of an archive before all others.
    pub fn after(self, recalled: Recalled<'a>) -> Self {
        Self { recalled: Some(recalled), ..self }
    }

    /// The first failure to read the store. After one, answers are not valid.
    pub fn failure(&self) -> Option<TableError> {
        self.failure.lock().ok().and_then(|mut failure| failure.take())
    }

    fn row(&self, document: u32) -> u32 {
        self.documents[document as usize]
    }

    /// Returns what was read. After a failure, records it and returns nothing.
    fn read<T>(&self, numbers: lookalike_table::Result<RowNumbers<'a, T>>) -> RowNumbers<'a, T> {
        numbers.unwrap_or_else(|error| {
            if let Ok(mut failure) = self.failure.lock() {
                failure.get_or_insert(error);
            }
            self.stop.store(true, Ordering::Relaxed);
            RowNumbers::Borrowed(&[])
        })
    }

    /// The archive, if the document is one of it, or the number among the others.
    fn place(&self, document: u32) -> Result<&Recalled<'a>, u32> {
        match &self.recalled {
            Some(recalled) if document < recalled.count() => Ok(recalled),
            Some(recalled) => Err(document - recalled.count()),
            None => Err(document),
        }
    }

    fn elements(&self, document: u32) -> RowNumbers<'a, u32> {
        self.read(match self.place(document) {
            Ok(recalled) => recalled.elements(document).map(RowNumbers::Owned),
            Err(other) => self.store.elements(self.row(other)),
        })
    }

    fn ids(&self, document: u32) -> RowNumbers<'a, u64> {
        self.read(match self.place(document) {
            Ok(recalled) => recalled.ids(document).map(RowNumbers::Owned),
            Err(other) => self.store.ids(self.row(other)),
        })
    }

    /// Whether the two may be paired at all.
    pub fn may_pair(&self, hub: u32, other: u32) -> bool {
        self.references.is_none_or(|references| self.row(hub) < references && self.row(other) >= references)
    }

    /// Whether `common` of `sample` elements rule the threshold out.
    fn rejects(&self, common: usize, sample: usize) -> bool {
        let limit = || rejected(sample as u64, self.threshold, DOUBT) as u32;
        let limit = self.limits.get(sample).map_or_else(limit, |known| *known.get_or_init(limit));
        self.is_quick && common < limit as usize
    }

    /// The most of `count` shingles of the other document that may be missing in the hub of `hub` distinct ones while
    /// the score reaches `least`; one more, against rounding. `None` if they may not even be all there. Repeated
    /// shingles are in `count`, which only makes the limit larger.
    fn missable(&self, hub: usize, count: usize, least: f64) -> Option<usize> {
        let (hub, count) = (hub as f64, count as f64);
        let missable = match self.measure {
            // With m missing the score is at most (count − m) / (hub + m).
            Measure::Resemblance => (count - least * hub) / (1.0 + least),
            // With m missing the score is at most (count − m) / count.
            Measure::Containment => count * (1.0 - least),
        };
        (missable >= -1.0).then_some((missable + 1.0).max(0.0) as usize)
    }

    /// The exact score of a document with these shingles; `None` if it is undefined or below `least`.
    fn count(&self, hub: &mut HubSet, ids: &[u64], least: f64, missing: &mut IdSet) -> Option<f64> {
        let missable = self.missable(hub.size, ids.len(), least)?;
        missing.clear(ids.len().min(missable + 1));
        hub.next_round();
        let step = if least > 0.0 { golden_step(ids.len()) } else { 1 };
        let (mut at, mut misses, mut common) = (0, 0usize, 0usize);
        for _ in 0..ids.len() {
            match hub.mark(ids[at]) {
                Some(is_new) => common += usize::from(is_new),
                None => misses += usize::from(missing.insert(ids[at])),
            }
            if misses > missable {
                return None;
            }
            at += step;
            at -= if at >= ids.len() { ids.len() } else { 0 };
        }
        let whole = match self.measure {
            Measure::Resemblance => hub.size + misses,
            Measure::Containment => common + misses,
        };
        (whole > 0).then(|| common as f64 / whole as f64)
    }
}

/// A step that visits all of `count` places, starting anywhere, and spreads them evenly: next to the golden section.
fn golden_step(count: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let first = (count as f64 * 0.618_033_988_75) as usize;
    (first.max(1)..count).find(|step| gcd(*step, count) == 1).unwrap_or(1)
}

impl Judge for ShingleJudge<'_> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        if !self.may_pair(hub, other) {
            return Glance::REJECTED;
        }
        let (left, right) = (self.elements(hub), self.elements(other));
        let (common, sample) = match self.measure {
            Measure::Resemblance => (equal(&left, &right), left.len().min(right.len())),
            Measure::Containment => (shared(&left, &right), right.len()),
        };
        if sample == 0 {
            return Glance { estimate: 0.0, is_possible: true };
        }
        Glance { estimate: common as f32 / sample as f32, is_possible: !self.rejects(common, sample) }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn exact(&self, hub: u32, others: &[u32], least: f64, scores: &mut Vec<Option<f64>>) {
        if others.is_empty() {
            return;
        }
        SETS.with_borrow_mut(|(of_hub, missing)| {
            of_hub.fill(&self.ids(hub));
            for other in others {
                let ids = self.ids(*other);
                scores.push(self.count(of_hub, &ids, least, missing));
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
    static SETS: RefCell<(HubSet, IdSet)> = RefCell::default();
}

/// The distinct ids of a hub, and which of them another document has.
#[derive(Default)]
struct HubSet {
    ids: IdSet,
    /// Number of ids.
    size: usize,
    /// By slot, and at the end for the id 0, the last round in which the id was met.
    marks: Vec<u32>,
    round: u32,
}

impl HubSet {
    /// Holds these ids and no others.
    fn fill(&mut self, ids: &[u64]) {
        self.ids.clear(ids.len());
        self.size = ids.iter().filter(|id| self.ids.insert(**id)).count();
        self.round = 0;
        self.marks.clear();
        self.marks.resize(self.ids.slots.len() + 1, 0);
    }

    /// Begins another document.
    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.marks.fill(0);
            self.round = 1;
        }
    }

    /// Meets an id. Returns `None` if it is not in the set, or whether it is met for the first time in this round.
    #[inline]
    fn mark(&mut self, id: u64) -> Option<bool> {
        let slot = match id {
            0 if self.ids.has_zero => self.ids.slots.len(),
            0 => return None,
            _ => self.ids.slot(id),
        };
        if id != 0 && self.ids.slots[slot] == 0 {
            return None;
        }
        Some(std::mem::replace(&mut self.marks[slot], self.round) != self.round)
    }
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
                prop_assert!(ids.iter().all(|id| !set.insert(*id)));
            }
        }

        #[test]
        fn ids_of_a_hub_are_marked_once_per_document(hub in vec(0u64..9, 0..12), others in vec(vec(0u64..12, 0..12), 1..4)) {
            let mut set = HubSet::default();
            set.fill(&hub);
            prop_assert_eq!(set.size, hub.iter().collect::<HashSet<_>>().len());
            for (turn, other) in others.iter().enumerate() {
                // The number of rounds runs over.
                set.round = if turn == 1 { u32::MAX } else { set.round };
                set.next_round();
                let mut met = HashSet::new();
                for id in other {
                    prop_assert_eq!(set.mark(*id), hub.contains(id).then(|| met.insert(*id)));
                }
            }
        }

        #[test]
        fn a_count_that_ends_early_is_below_the_threshold(
            rows in vec(vec(0u64..30, 0..40), 2), least in 0.0f64..1.0, is_containment in any::<bool>(),
        ) {
            let stop = AtomicBool::new(false);
            // Nothing is written to the folder.
            let store = SignedStore::new(0, &std::env::temp_dir());
            let measure = if is_containment { Measure::Containment } else { Measure::Resemblance };
            let judge = ShingleJudge::new(&store, &[], measure, least, None, &stop);
            let (left, right): (HashSet<_>, HashSet<_>) = (rows[0].iter().collect(), rows[1].iter().collect());
            let whole = if is_containment { right.len() } else { left.union(&right).count() };
            let exact = (whole > 0).then(|| left.intersection(&right).count() as f64 / whole as f64);
            let (mut hub, mut missing) = (HubSet::default(), IdSet::default());
            hub.fill(&rows[0]);
            prop_assert_eq!(judge.count(&mut hub, &rows[1], 0.0, &mut missing), exact);
            // At the score itself nothing may be lost, either.
            for least in [Some(least), exact].into_iter().flatten() {
                let found = judge.count(&mut hub, &rows[1], least, &mut missing);
                prop_assert!(found == exact || found.is_none() && exact.is_none_or(|exact| exact < least), "{found:?} {exact:?}");
            }
        }

        #[test]
        fn steps_visit_every_place(count in 0usize..3000) {
            let step = golden_step(count);
            let places: HashSet<usize> = (0..count).map(|turn| turn * step % count).collect();
            prop_assert_eq!(places.len(), count);
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
