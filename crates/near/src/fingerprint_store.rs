//! A table of fingerprints that is updated: a set of rows (fingerprint, id), in memory or kept in a folder.
//!
//! **Structure.** New rows go to the *tail*, a few thousand that are compared one by one. A full tail becomes a run, and four runs of about
//! the same size become one of four times the size (size-tiered merging, as in log-structured trees), so that n rows are in
//! O(log n) runs and each is sorted O(log n) times. A row that is removed is marked, and left out when its run is merged; a run
//! of which half is gone is merged alone. A query asks the tail and every run.
//!
//! **Contract.** A row that is there is not inserted again, and one that is not there is not removed; both tell how many rows they
//! changed, so repeating them does no harm. One fingerprint may have many ids, and one id many fingerprints.
//!
//! **Source.** O'Neil, Cheng, Gawlick, O'Neil 1996, *The log-structured merge-tree*, for the runs; tiers by size as in Bentley, Saxe 1980.

use crate::error::{Error, Result};
use crate::manifest::TablePlan;
use crate::run::{FingerprintRow, Hold, Run};
use crate::table_folder::TableFolder;
use lookalike_core::hamming::design::Design;
use lookalike_core::hamming::solve::{solve, Limit};
use lookalike_core::hamming::tables::{task_size, Hit};
use lookalike_core::hamming::BITS;
use lookalike_core::table::sort::sort;
use rayon::prelude::*;

/// Rows of a full tail: comparing a query with so many takes about as long as looking it up in a run.
pub const TAIL: usize = 1 << 12;
/// Runs of a size that are merged, and how much larger the next size is.
const TIER: usize = 4;

/// A set of rows that is searched by distance.
#[derive(Debug)]
pub struct FingerprintStore {
    pub(crate) plan: TablePlan,
    /// How runs are held.
    pub(crate) hold: Hold,
    pub(crate) runs: Vec<Run>,
    /// Fingerprints and ids of rows in no run, ascending by (fingerprint, id).
    pub(crate) tail: (Vec<u64>, Vec<u64>),
    /// By the logarithm of the number of rows: the design of runs of that size, if there was one.
    designs: Vec<Option<Design>>,
    /// Where it is kept, if it is.
    pub(crate) home: Option<TableFolder>,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPlace {
    Tail,
    /// In a run, at a place among its ids.
    Run(usize, usize),
}

/// Answers to a batch of queries, as columns: ascending by query and id, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreAnswers {
    /// Index of the query.
    pub queries: Vec<u32>,
    /// The id of a row within the distance.
    pub ids: Vec<u64>,
    /// In how many bits they differ.
    pub distances: Vec<u8>,
    /// For each query, how many fingerprints it was compared with.
    pub candidates: Vec<u64>,
}

/// Answers of one task.
struct TaskAnswers {
    /// Query, id, distance.
    rows: Vec<(u32, u64, u8)>,
    candidates: Vec<u64>,
}

impl FingerprintStore {
    /// An empty table in memory. Errors: a distance that is too large, or a limit that is none of a table that grows.
    pub fn new(plan: TablePlan, hold: Hold) -> Result<Self> {
        if matches!(plan.limit, Limit::Bytes(_)) {
            let reason = "a table that is updated has no limit of bytes: give a number of tables".to_owned();
            return Err(Error::Refused { reason });
        }
        solve(BITS, plan.distance, 1, plan.limit)?;
        Ok(Self::with(plan, hold, Vec::new(), (Vec::new(), Vec::new())))
    }

    /// REQUIRES: the tail ascends, and no row is there twice.
    pub(crate) fn with(plan: TablePlan, hold: Hold, runs: Vec<Run>, tail: (Vec<u64>, Vec<u64>)) -> Self {
        Self { plan, hold, runs, tail, designs: Vec::new(), home: None }
    }

    /// A table in memory of these rows, in one run. Errors: as for [`Self::new`].
    pub fn build(plan: TablePlan, hold: Hold, rows: Vec<FingerprintRow>) -> Result<Self> {
        let mut store = Self::new(plan, hold)?;
        if !rows.is_empty() {
            let run = store.run(rows)?;
            store.runs.push(run);
        }
        Ok(store)
    }

    /// A run of these rows.
    fn run(&mut self, rows: Vec<FingerprintRow>) -> Result<Run> {
        // A design is nearly the best for twice as many rows, and it takes milliseconds to find.
        let size = rows.len().max(1).ilog2() as usize;
        self.designs.resize(self.designs.len().max(size + 1), None);
        let design = match self.designs[size].take() {
            Some(design) => design,
            None => solve(BITS, self.plan.distance, 1 << size, self.plan.limit)?,
        };
        let run = Run::build(&design, rows, self.hold);
        self.designs[size] = Some(design);
        run
    }

    /// How tables are made.
    pub fn plan(&self) -> TablePlan {
        self.plan
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum::<usize>() + self.tail.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory, of tables and of ids; what is mapped is not counted.
    pub fn bytes(&self) -> (usize, usize) {
        let tail = self.tail.0.len() * 8;
        self.runs.iter().map(Run::bytes).fold((tail, tail), |sum, run| (sum.0 + run.0, sum.1 + run.1))
    }

    /// How many places a query asks beside the tail.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Where a row stands in the tail, or where it would.
    fn tail_place(&self, (value, id): FingerprintRow) -> std::result::Result<usize, usize> {
        let (values, ids) = &self.tail;
        let from = values.partition_point(|other| *other < value);
        let count = values[from..].partition_point(|other| *other == value);
        ids[from..from + count].binary_search(&id).map(|i| from + i).map_err(|i| from + i)
    }

    /// Whether rows are there, and where: in a run at a place, or in the tail. Errors: a file is damaged.
    fn places(&self, rows: &[FingerprintRow]) -> Result<Vec<Option<RowPlace>>> {
        let in_tail = |row: &FingerprintRow| self.tail_place(*row).ok().map(|_| RowPlace::Tail);
        let mut places: Vec<Option<RowPlace>> = rows.iter().map(in_tail).collect();
        for (number, run) in self.runs.iter().enumerate() {
            for (place, found) in places.iter_mut().zip(run.places(rows)) {
                *place = place.or(found.map(|at| RowPlace::Run(number, at)));
            }
        }
        self.checked()?;
        Ok(places)
    }

    /// Errors: something of a mapped file that was read so far is damaged.
    pub(crate) fn checked(&self) -> Result<()> {
        self.runs.iter().try_for_each(Run::checked)
    }

    /// Errors: opened for reading, or a commit failed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.home.as_ref().map_or(Ok(()), TableFolder::check_writable)
    }

    /// Inserts rows; how many were not there. Errors: not writable, a damaged file; then none is inserted.
    pub fn insert(&mut self, rows: &[FingerprintRow]) -> Result<usize> {
        self.check_writable()?;
        let mut new = rows.to_vec();
        sort(&mut new);
        new.dedup();
        let mut places = self.places(&new)?.into_iter();
        new.retain(|_| places.next() == Some(None));
        let count = new.len();
        match self.tail.0.len() + count >= TAIL {
            true => self.overflow(new)?,
            false => new.into_iter().for_each(|row| self.insert_into_tail(row)),
        }
        Ok(count)
    }

    fn insert_into_tail(&mut self, row: FingerprintRow) {
        if let Err(place) = self.tail_place(row) {
            self.tail.0.insert(place, row.0);
            self.tail.1.insert(place, row.1);
        }
    }

    /// Makes a run of the tail and new rows.
    fn overflow(&mut self, mut rows: Vec<FingerprintRow>) -> Result<()> {
        rows.extend(self.tail.0.iter().copied().zip(self.tail.1.iter().copied()));
        let run = self.run(rows)?;
        self.tail = (Vec::new(), Vec::new());
        self.runs.push(run);
        self.merge()
    }

    /// Removes rows; how many were there. Errors: not writable, a damaged file; none is removed then, or all are and a merge met it.
    pub fn remove(&mut self, rows: &[FingerprintRow]) -> Result<usize> {
        self.check_writable()?;
        let mut old = rows.to_vec();
        sort(&mut old);
        old.dedup();
        let places = self.places(&old)?;
        for (row, place) in old.iter().zip(&places) {
            match place {
                Some(RowPlace::Run(number, at)) => self.runs[*number].delete(*at),
                Some(RowPlace::Tail) => self.remove_from_tail(*row),
                None => {}
            }
        }
        self.merge()?;
        Ok(places.iter().flatten().count())
    }

    fn remove_from_tail(&mut self, row: FingerprintRow) {
        if let Ok(place) = self.tail_place(row) {
            self.tail.0.remove(place);
            self.tail.1.remove(place);
        }
    }

    /// Merges runs until there are fewer than [`TIER`] of any size, and none is half gone.
    fn merge(&mut self) -> Result<()> {
        self.runs.retain(|run| !run.is_empty());
        let tier = |run: &Run| (run.len() / TAIL).max(1).ilog(TIER);
        loop {
            let is_sparse = |run: &Run| run.len() * 2 < run.size();
            let crowded = self
                .runs
                .iter()
                .map(tier)
                .find(|size| self.runs.iter().filter(|run| tier(run) == *size).count() >= TIER);
            let chosen: Vec<bool> = match crowded {
                Some(size) => self.runs.iter().map(|run| tier(run) == size).collect(),
                None => self.runs.iter().map(is_sparse).collect(),
            };
            if !chosen.contains(&true) {
                return Ok(());
            }
            self.merge_chosen(&chosen)?;
        }
    }

    /// Puts the chosen runs together. Errors: a file is damaged; then nothing changes.
    fn merge_chosen(&mut self, chosen: &[bool]) -> Result<()> {
        let mut rows = Vec::new();
        self.runs.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen).for_each(|(run, _)| rows.extend(run.live()));
        self.checked()?;
        let run = self.run(rows)?;
        let mut is_chosen = chosen.iter();
        self.runs.retain(|_| is_chosen.next() != Some(&true));
        self.runs.push(run);
        Ok(())
    }

    /// Puts everything together in one run. Errors: not writable, a damaged file.
    pub fn compact(&mut self) -> Result<()> {
        self.check_writable()?;
        if !self.tail.0.is_empty() {
            self.overflow(Vec::new())?;
        }
        if self.runs.len() > 1 || self.runs.iter().any(|run| run.len() < run.size()) {
            self.merge_chosen(&vec![true; self.runs.len()])?;
        }
        Ok(())
    }

    /// Errors: a distance beyond that of the plan.
    fn check_distance(&self, distance: u32) -> Result<()> {
        let most = self.plan.distance;
        if distance <= most {
            return Ok(());
        }
        let reason = format!("is more than this table was made for: use at most {most}, or build one for it");
        Err(lookalike_core::error::Error::Parameter { name: "distance", value: distance.into(), reason }.into())
    }

    /// Calls `seen` with number, id and distance of what the tail has near a query.
    fn find_in_tail(&self, query: u64, distance: u32, mut seen: impl FnMut(usize, u64, u32)) {
        for (place, value) in self.tail.0.iter().enumerate() {
            let between = (value ^ query).count_ones();
            if between <= distance {
                seen(place, self.tail.1[place], between);
            }
        }
    }

    /// All rows within a distance of a fingerprint, ascending by id. Errors: a distance beyond that of the plan, a damaged file.
    pub fn query(&self, value: u64, distance: u32) -> Result<Vec<Hit>> {
        self.check_distance(distance)?;
        let mut hits = Vec::new();
        self.find_in_tail(value, distance, |place, id, distance| {
            hits.push(Hit { id, value: self.tail.0[place], distance: distance as u8 });
        });
        for run in &self.runs {
            run.find(&[value], distance, &mut |_, id, distance, row| {
                hits.push(Hit { id, value: run.value(row), distance: distance as u8 });
            });
        }
        self.checked()?;
        hits.sort_unstable();
        Ok(hits)
    }

    /// All rows within a distance of each query, on all cores; the answer does not depend on their number. Errors: as for a query, or more
    /// queries than 32 bits can number.
    pub fn query_batch(&self, queries: &[u64], distance: u32) -> Result<StoreAnswers> {
        self.check_distance(distance)?;
        if queries.len() >= 1 << 32 {
            let reason = format!("`{}` queries are too many for one batch: ask fewer than 2^32", queries.len());
            return Err(Error::Refused { reason });
        }
        let size = task_size(queries.len());
        let parts: Vec<TaskAnswers> = queries
            .par_chunks(size)
            .enumerate()
            .map(|(chunk, queries)| self.part((chunk * size) as u32, queries, distance))
            .collect();
        self.checked()?;
        let rows = || parts.iter().flat_map(|part| &part.rows);
        Ok(StoreAnswers {
            queries: rows().map(|row| row.0).collect(),
            ids: rows().map(|row| row.1).collect(),
            distances: rows().map(|row| row.2).collect(),
            candidates: parts.iter().flat_map(|part| &part.candidates).copied().collect(),
        })
    }

    /// What is near some of the queries, the first of which has that number.
    fn part(&self, first: u32, queries: &[u64], distance: u32) -> TaskAnswers {
        let mut rows = Vec::new();
        let mut candidates = vec![self.tail.0.len() as u64; queries.len()];
        for (i, query) in queries.iter().enumerate() {
            self.find_in_tail(*query, distance, |_, id, distance| rows.push((first + i as u32, id, distance as u8)));
        }
        for run in &self.runs {
            let compared = run
                .find(queries, distance, &mut |query, id, distance, _| rows.push((first + query, id, distance as u8)));
            candidates.iter_mut().zip(compared).for_each(|(sum, some)| *sum += some);
        }
        rows.sort_unstable();
        rows.dedup();
        TaskAnswers { rows, candidates }
    }

    /// All rows, ascending by (fingerprint, id). Errors: a file is damaged.
    pub fn rows(&self) -> Result<Vec<FingerprintRow>> {
        let mut rows: Vec<FingerprintRow> = self.tail.0.iter().copied().zip(self.tail.1.iter().copied()).collect();
        self.runs.iter().for_each(|run| rows.extend(run.live()));
        self.checked()?;
        rows.sort_unstable();
        Ok(rows)
    }
}
