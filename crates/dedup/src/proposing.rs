//! Which pairs of documents are proposed, by method, and the judge that goes with them.

use crate::alike::AlikeJudge;
use crate::corpus::Corpus;
use crate::feature_judge::{self, FeatureJudge};
use crate::job::{ended, fingerprints, judge, DedupSettings, Failure, SearchMethod};
use crate::prefix;
use crate::simhash_judge::{score, SimhashJudge};
use crate::spill::SpillFolder;
use lookalike_core::clustering::{Candidates, Judge, PrintGroups, Proposals, Reach, Settled, Sketches};
use lookalike_core::hash::mix64;
use lookalike_core::sketch::features::Features;
use lookalike_table::spill::Sorter;
use std::sync::atomic::{AtomicBool, Ordering};

/// Documents between two looks at whether to stop.
const STRIDE: usize = 1 << 12;

/// Something to do with proposed pairs.
pub trait Work {
    /// Its result.
    type Output;

    /// Does it.
    fn run(self, proposals: &impl Proposals, threshold: f64, judge: &impl Judge) -> Result<Self::Output, Failure>;
}

/// Something to ask the judge of a search.
pub trait Verdicts {
    /// Its result.
    type Output;

    /// Asks it; edges reach the threshold.
    fn run(self, threshold: f64, judge: &impl Judge) -> Result<Self::Output, Failure>;
}

/// Work on proposals.
struct On<'a, P, W>(&'a P, W);

impl<P: Proposals, W: Work> Verdicts for On<'_, P, W> {
    type Output = W::Output;

    fn run(self, threshold: f64, judge: &impl Judge) -> Result<W::Output, Failure> {
        self.1.run(self.0, threshold, judge)
    }
}

/// Proposes pairs of documents, given as rows in order of rank, and works on them. Returns the result and the number of
/// documents without a key.
///
/// Errors: a parameter outside its range, files that cannot be used, those of the work, or it was stopped.
pub fn proposed<W: Work>(
    corpus: &Corpus,
    settings: &DedupSettings,
    documents: &[u32],
    stop: &AtomicBool,
    work: W,
) -> Result<(W::Output, u64), Failure> {
    if let SearchMethod::Simhash(nearness) = settings.search {
        let is_stopped = || stop.load(Ordering::Relaxed);
        let prints = fingerprints(corpus, documents);
        let groups = PrintGroups::new(&prints, nearness.distance, Settled::default(), is_stopped)?;
        return Ok((judged(corpus, settings, documents, stop, On(&groups, work))?, 0));
    }
    let folder = SpillFolder::new(&settings.folder, "keys")?;
    let mut sorter = folder.sorter(settings.budget_bytes);
    let (unsampled, reach) = match settings.search {
        SearchMethod::Join => {
            let (threshold, budget) = (settings.threshold, settings.budget_bytes);
            prefix::push_keys(&corpus.store, documents, threshold, budget, stop, &mut sorter)?;
            (0, Reach::ALL)
        }
        _ => (push_keys(corpus, settings.search, documents, stop, &mut sorter)?, Reach::CROWDED),
    };
    let candidates = Candidates::new(sorter.finish()?, documents.len(), reach)?;
    // The files of the sort are read by now.
    drop(folder);
    Ok((judged(corpus, settings, documents, stop, On(&candidates, work))?, unsampled))
}

/// Asks the judge of a search about documents, given as rows in order of rank.
///
/// Errors: the store cannot be read, those of the work, or it was stopped.
pub fn judged<V: Verdicts>(
    corpus: &Corpus,
    settings: &DedupSettings,
    documents: &[u32],
    stop: &AtomicBool,
    work: V,
) -> Result<V::Output, Failure> {
    let judge = judge(corpus, settings, documents, stop);
    if let SearchMethod::Simhash(nearness) = settings.search {
        let judge = SimhashJudge::new(nearness, &corpus.prints, documents, judge);
        let threshold = if nearness.is_verified { settings.threshold } else { score(nearness.distance) };
        let found = work.run(threshold, &judge);
        ended(judge.failure(), stop)?;
        return found;
    }
    let found = if let SearchMethod::Features { k, r, .. } = settings.search {
        let shared = FeatureJudge::new(k, r, &corpus.store, documents, &judge)?;
        let alike = AlikeJudge::new(settings.limits, &corpus.traits, documents, &shared);
        work.run(shared.threshold(), &alike)
    } else {
        let alike = AlikeJudge::new(settings.limits, &corpus.traits, documents, &judge);
        work.run(settings.threshold, &alike)
    };
    ended(judge.failure(), stop)?;
    found
}

/// Makes the keys of the filter from what is kept of a document.
pub struct KeyMaker {
    features: Option<Features>,
    /// Whether the features themselves are kept, in place of the sketch.
    is_kept: bool,
}

impl KeyMaker {
    /// Makes keys for a search. Errors: a filter outside its range.
    pub fn new(search: SearchMethod) -> lookalike_core::error::Result<Self> {
        let features = match search {
            SearchMethod::Resemblance { k, s, r } | SearchMethod::Features { k, s, r } => Some(Features::new(k, s, r)?),
            _ => None,
        };
        Ok(Self { features, is_kept: matches!(search, SearchMethod::Features { .. }) })
    }

    /// Appends the keys of a document with these elements.
    pub fn keys(&self, elements: &[u32], keys: &mut Vec<u64>) {
        match &self.features {
            Some(_) if elements.is_empty() => {}
            Some(features) if self.is_kept => {
                features.keys_of(&feature_judge::get(elements).collect::<Vec<_>>(), keys);
            }
            Some(features) => features.keys(elements, keys),
            None => keys.extend(elements.iter().map(|element| mix64(u64::from(*element)))),
        }
    }
}

/// Pushes the keys of the filter. Returns the number of documents without one.
pub fn push_keys(
    corpus: &Corpus,
    search: SearchMethod,
    documents: &[u32],
    stop: &AtomicBool,
    sorter: &mut Sorter,
) -> Result<u64, Failure> {
    let maker = KeyMaker::new(search)?;
    let (mut keys, mut unsampled) = (Vec::new(), 0);
    for (document, row) in documents.iter().enumerate() {
        if document % STRIDE == 0 {
            ended(None, stop)?;
        }
        keys.clear();
        maker.keys(&corpus.store.elements(*row)?, &mut keys);
        unsampled += u64::from(keys.is_empty());
        sorter.push(document as u32, &keys)?;
    }
    Ok(unsampled)
}

/// Sketches whose elements carry their coordinate, in the form that greedy clustering takes.
pub struct SketchElements {
    elements: Vec<u64>,
    ends: Vec<usize>,
}

impl SketchElements {
    /// Loads the sketches of rows. Errors: the store cannot be read.
    pub fn new(corpus: &Corpus, documents: &[u32]) -> lookalike_table::Result<Self> {
        let (mut elements, mut ends) = (Vec::new(), Vec::with_capacity(documents.len()));
        for row in documents {
            let sketch = corpus.store.elements(*row)?;
            elements.extend((0u64..).zip(sketch.iter()).map(|(at, element)| at << 32 | u64::from(*element)));
            ends.push(elements.len());
        }
        Ok(Self { elements, ends })
    }
}

impl Sketches for SketchElements {
    fn sketch(&self, document: u32) -> &[u64] {
        let document = document as usize;
        let start = document.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.elements[start..self.ends[document]]
    }
}
