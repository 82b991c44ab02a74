//! A set of rows (fingerprint, id) that is updated and searched by distance, in memory or in a folder.
//!
//! **Structure.** New rows go to the *tail*, a few thousand rows that are compared one by one. A full tail becomes a
//! run. Four runs of about the same size become one of four times the size (size-tiered merging, as in log-structured
//! trees), so n rows are in O(log n) runs and each row is sorted O(log n) times. A removed row is marked, and left out
//! when its run is merged; a run with fewer than half of its rows left is rewritten alone. A query searches the tail
//! and every run.
//!
//! **Contract.** Inserting a row that exists and removing a row that does not exist have no effect. Both calls return
//! the number of rows that they changed, so repeating them does no harm. One fingerprint may have many ids, and one id
//! many fingerprints.
//!
//! **Source.** O'Neil, Cheng, Gawlick, O'Neil 1996, *The log-structured merge-tree*, for the runs; Bentley, Saxe 1980
//! for tiers by size.

use crate::manifest::TablePlan;
use crate::names::Names;
use crate::run::{FingerprintRow, Hold, Run};
use crate::table_folder::TableFolder;
use lookalike_core::hamming::design::Design;
use lookalike_core::hamming::solve::{solve, Limit};
use lookalike_core::hamming::tables::{Answers, Hit};
use lookalike_core::hamming::BITS;
use lookalike_table::error::{Error, Result};
use lookalike_table::sort::sort;

/// Number of rows in a full tail. Comparing a query with so many rows takes about as long as looking it up in a run.
pub const TAIL: usize = 1 << 12;
/// Number of runs of one size that are merged, and the factor between two sizes.
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
    /// The design of runs by the binary logarithm of their number of rows, once it was needed.
    designs: Vec<Option<Design>>,
    /// The strings that are ids; none if ids are numbers.
    pub(crate) names: Option<Names>,
    /// The folder of the table; none in memory.
    pub(crate) home: Option<TableFolder>,
}

/// The place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPlace {
    Tail,
    /// The number of the run, and the place among its ids.
    Run(usize, usize),
}

/// A run of a plan to merge runs: one of the table, by its number, or one that was made meanwhile.
enum RunPart {
    Old(usize),
    New(Box<Run>),
}

impl RunPart {
    fn of<'a>(&'a self, runs: &'a [Run]) -> &'a Run {
        match self {
            Self::Old(number) => &runs[*number],
            Self::New(run) => run,
        }
    }
}

/// Rows of a run that are not deleted, and all of them.
fn sizes(run: &Run) -> (usize, usize) {
    (run.len(), run.size())
}

/// Which runs are merged into one, by their sizes: [`TIER`] or more of one size, or those that have lost half of their
/// rows.
pub(crate) fn merged(sizes: &[(usize, usize)]) -> Vec<bool> {
    let tier = |(live, _): &(usize, usize)| (live / TAIL).max(1).ilog(TIER);
    let is_crowded = |size: &u32| sizes.iter().filter(|run| tier(run) == *size).count() >= TIER;
    match sizes.iter().map(tier).find(is_crowded) {
        Some(size) => sizes.iter().map(|run| tier(run) == size).collect(),
        None => sizes.iter().map(|(live, all)| live * 2 < *all).collect(),
    }
}

impl FingerprintStore {
    /// Makes an empty table in memory. Errors: a distance that is too large, or a limit in bytes, which a growing table
    /// cannot keep.
    pub fn new(plan: TablePlan, hold: Hold) -> Result<Self> {
        if matches!(plan.limit, Limit::Bytes(_)) {
            let reason = "a table that is updated cannot have a limit in bytes: give a number of tables".to_owned();
            return Err(Error::Refused { reason });
        }
        solve(BITS, plan.distance, 1, plan.limit)?;
        Ok(Self::with(plan, hold, Vec::new(), (Vec::new(), Vec::new())))
    }

    /// Makes a table from its parts. REQUIRES: the tail ascends, and no row occurs twice.
    pub(crate) fn with(plan: TablePlan, hold: Hold, runs: Vec<Run>, tail: (Vec<u64>, Vec<u64>)) -> Self {
        Self { plan, hold, runs, tail, designs: Vec::new(), names: None, home: None }
    }

    /// Makes a table in memory from these rows, in one run. Errors: as for [`Self::new`].
    pub fn build(plan: TablePlan, hold: Hold, rows: Vec<FingerprintRow>) -> Result<Self> {
        let mut store = Self::new(plan, hold)?;
        if !rows.is_empty() {
            let run = store.run(rows)?;
            store.runs.push(run);
        }
        Ok(store)
    }

    /// Makes a run from these rows.
    fn run(&mut self, rows: Vec<FingerprintRow>) -> Result<Run> {
        // A design is nearly optimal for up to twice as many rows, and finding one takes milliseconds.
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

    /// The distance and limit of the table.
    pub fn plan(&self) -> TablePlan {
        self.plan
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| run.len()).sum::<usize>() + self.tail.0.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory of tables and of ids; mapped files are not counted.
    pub fn bytes(&self) -> (usize, usize) {
        let tail = self.tail.0.len() * 8;
        let ids = tail + self.names.as_ref().map_or(0, Names::bytes);
        self.runs.iter().map(|run| run.bytes()).fold((tail, ids), |sum, run| (sum.0 + run.0, sum.1 + run.1))
    }

    /// Number of runs, each of which a query searches in addition to the tail.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The place of a row in the tail, or else the place where it would be inserted.
    fn tail_place(&self, (value, id): FingerprintRow) -> std::result::Result<usize, usize> {
        let (values, ids) = &self.tail;
        let from = values.partition_point(|other| *other < value);
        let count = values[from..].partition_point(|other| *other == value);
        ids[from..from + count].binary_search(&id).map(|i| from + i).map_err(|i| from + i)
    }

    /// The place of each row, if it is in the table. Errors: a file is damaged.
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

    /// Errors: a part of a mapped file that was read so far is damaged.
    pub(crate) fn checked(&self) -> Result<()> {
        self.runs.iter().try_for_each(|run| run.checked())?;
        self.names.as_ref().map_or(Ok(()), Names::checked)
    }

    /// Errors: the table was opened for reading, or a commit failed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.home.as_ref().map_or(Ok(()), TableFolder::check_writable)
    }

    /// Inserts rows. Returns how many are new. Errors: not writable, or a damaged file; then no row is inserted.
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

    /// Makes a run from the tail and new rows. Errors: a file is damaged; then nothing changes.
    fn overflow(&mut self, mut rows: Vec<FingerprintRow>) -> Result<()> {
        rows.extend(self.tail.0.iter().copied().zip(self.tail.1.iter().copied()));
        let run = self.run(rows)?;
        self.merge(Some(run))?;
        self.tail = (Vec::new(), Vec::new());
        Ok(())
    }

    /// Removes rows. Returns how many there were. Errors: not writable, or a damaged file; then no row is removed.
    pub fn remove(&mut self, rows: &[FingerprintRow]) -> Result<usize> {
        self.check_writable()?;
        let mut old = rows.to_vec();
        sort(&mut old);
        old.dedup();
        let places = self.places(&old)?;
        let tail = self.tail.clone();
        for (row, place) in old.iter().zip(&places) {
            match place {
                Some(RowPlace::Run(number, at)) => self.runs[*number].delete(*at),
                Some(RowPlace::Tail) => self.remove_from_tail(*row),
                None => {}
            }
        }
        if let Err(error) = self.merge(None) {
            self.tail = tail;
            for place in places.iter().flatten() {
                if let RowPlace::Run(number, at) = place {
                    self.runs[*number].restore(*at);
                }
            }
            return Err(error);
        }
        Ok(places.iter().flatten().count())
    }

    fn remove_from_tail(&mut self, row: FingerprintRow) {
        if let Ok(place) = self.tail_place(row) {
            self.tail.0.remove(place);
            self.tail.1.remove(place);
        }
    }

    /// Adds a run, and merges until there are fewer than [`TIER`] runs of any size and none has lost half of its rows.
    /// Errors: a file is damaged; then nothing changes.
    fn merge(&mut self, new: Option<Run>) -> Result<()> {
        let kept = self.runs.iter().enumerate().filter(|(_, run)| !run.is_empty());
        let mut parts: Vec<RunPart> = kept.map(|(number, _)| RunPart::Old(number)).collect();
        parts.extend(new.map(Box::new).map(RunPart::New));
        loop {
            let sizes: Vec<(usize, usize)> = parts.iter().map(|part| part.of(&self.runs)).map(sizes).collect();
            let chosen = merged(&sizes);
            if !chosen.contains(&true) {
                break;
            }
            let run = self.joined(&parts, &chosen)?;
            let mut is_chosen = chosen.iter();
            parts.retain(|_| is_chosen.next() != Some(&true));
            parts.push(RunPart::New(Box::new(run)));
        }
        let mut old: Vec<Option<Run>> = std::mem::take(&mut self.runs).into_iter().map(Some).collect();
        self.runs = parts
            .into_iter()
            .filter_map(|part| match part {
                RunPart::Old(number) => old[number].take(),
                RunPart::New(run) => Some(*run),
            })
            .collect();
        Ok(())
    }

    /// Makes one run of the chosen parts. Errors: a file is damaged.
    fn joined(&mut self, parts: &[RunPart], chosen: &[bool]) -> Result<Run> {
        let mut rows = Vec::new();
        for (part, _) in parts.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen) {
            rows.extend(part.of(&self.runs).live());
        }
        self.checked()?;
        self.run(rows)
    }

    /// Merges everything into one run. Errors: not writable, or a damaged file.
    pub fn compact(&mut self) -> Result<()> {
        self.check_writable()?;
        if !self.tail.0.is_empty() {
            self.overflow(Vec::new())?;
        }
        if self.runs.len() > 1 || self.runs.iter().any(|run| run.len() < run.size()) {
            let parts: Vec<RunPart> = (0..self.runs.len()).map(RunPart::Old).collect();
            self.runs = vec![self.joined(&parts, &vec![true; parts.len()])?];
        }
        self.forget_names()
    }

    /// Errors: a distance above that of the plan.
    fn check_distance(&self, distance: u32) -> Result<()> {
        let most = self.plan.distance;
        if distance <= most {
            return Ok(());
        }
        let reason = format!("is above the distance of this table: use at most {most}, or build a new table");
        Err(lookalike_core::error::Error::Parameter { name: "distance", value: distance.into(), reason }.into())
    }

    /// Calls `seen` with place, id and distance of each row of the tail within a distance of a query.
    fn find_in_tail(&self, query: u64, distance: u32, mut seen: impl FnMut(usize, u64, u32)) {
        for (place, value) in self.tail.0.iter().enumerate() {
            let between = (value ^ query).count_ones();
            if between <= distance {
                seen(place, self.tail.1[place], between);
            }
        }
    }

    /// All rows within a distance of a fingerprint, ascending by id. Errors: a distance above that of the plan, or a
    /// damaged file.
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

    /// All rows within a distance of each query, computed on all cores. The answer does not depend on the number of
    /// cores. Errors: as for [`Self::query`], or 2^32 queries or more.
    pub fn query_batch(&self, queries: &[u64], distance: u32) -> Result<Answers> {
        self.check_distance(distance)?;
        let answers = Answers::of(queries, |queries, seen| {
            let mut candidates = vec![self.tail.0.len() as u64; queries.len()];
            for (number, query) in (0..).zip(queries) {
                self.find_in_tail(*query, distance, |_, id, distance| seen(number, id, distance));
            }
            for run in &self.runs {
                let compared = run.find(queries, distance, &mut |query, id, distance, _| seen(query, id, distance));
                candidates.iter_mut().zip(compared).for_each(|(sum, some)| *sum += some);
            }
            candidates
        })?;
        self.checked()?;
        Ok(answers)
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
