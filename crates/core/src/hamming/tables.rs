//! Tables in memory: built once from fingerprints and their ids, then searched by any number of threads.
//!
//! Equal fingerprints are one row, so that a page with many copies costs a query no more than any other. The ids are stored once, in
//! the order of the first table; rows of other tables find their ids by value.
//!
//! **Cost.** One radix sort per table. Each table takes 8 bytes per distinct fingerprint and a directory of at most 1 byte per
//! fingerprint. Ids take 8 bytes each (4 if they are the numbers of the rows), and 4 bytes per row if any fingerprint occurs twice.
//! Building takes 16 more bytes per fingerprint.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1.

use super::design::Design;
use super::search::{Findings, HammingSearch};
use crate::error::{Error, Result};
use lookalike_table::memory::reserve;
use lookalike_table::plain::{Plain, MAX_VALUES};
use lookalike_table::sort::sort;
use rayon::prelude::*;
use std::ops::Range;

/// The most queries of one task. In a large task, more queries share the parts of a table that are in a cache.
const CHUNK: usize = 1 << 18;
/// The fewest queries of one task.
const SMALL_CHUNK: usize = 1 << 12;

/// The ids of each row of the first table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owners {
    /// The start of the ids of each row, if any row has more than one; otherwise the id of row i is at i.
    starts: Option<Vec<u32>>,
    ids: Ids,
}

/// Ids in the order of the first table.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ids {
    /// The numbers of the fingerprints, in the order in which they were given.
    Numbers(Vec<u32>),
    /// Ids that the caller gave.
    Given(Vec<u64>),
}

/// Fingerprints, sorted once for each arrangement of a design.
#[derive(Clone, Debug)]
pub struct Tables {
    search: HammingSearch,
    columns: Vec<Plain>,
    owners: Owners,
}

/// A fingerprint within the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Its id.
    pub id: u64,
    /// The fingerprint.
    pub value: u64,
    /// The number of bits in which it differs from the query.
    pub distance: u8,
}

/// Answers to a batch of queries, as columns: ascending by query and id, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Index of the query.
    pub queries: Vec<u32>,
    /// The id of a fingerprint within the distance.
    pub ids: Vec<u64>,
    /// The number of differing bits.
    pub distances: Vec<u8>,
    /// For each query, the number of rows it was compared with.
    pub candidates: Vec<u64>,
    /// Lookups of all queries.
    pub lookups: u64,
}

impl Tables {
    /// Builds the tables. Without `ids`, the ids are the numbers of the fingerprints.
    ///
    /// Errors: more fingerprints than 32 bits can number, or a different number of ids.
    pub fn build(design: &Design, values: &[u64], ids: Option<&[u64]>) -> Result<Self> {
        check(values, ids)?;
        let (first, owners) = first_table(design, values, ids);
        let rows = first.len() as u64;
        let order = &design.arrangements[0].order;
        let others = design.arrangements.iter().skip(1).map(|one| {
            let mut column = reserve(first.len());
            column.extend(first.iter().map(|row| one.order.apply(order.undo(*row))));
            sort(&mut column);
            Plain::new(column, one.depth(rows))
        });
        let others: Vec<Plain> = others.collect();
        let mut columns = vec![Plain::new(first, design.arrangements[0].depth(rows))];
        columns.extend(others);
        Ok(Self { search: HammingSearch::new(design, rows), columns, owners })
    }

    /// Returns the bytes of tables and directories, without ids.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Plain::bytes).sum()
    }

    /// Finds all fingerprints within the distance of each query, on all cores; the result does not depend on their number.
    ///
    /// Errors: more queries than 32 bits can number.
    pub fn query_batch(&self, queries: &[u64]) -> Result<Answers> {
        too_many("queries", queries.len())?;
        let size = task_size(queries.len());
        let parts: Vec<TaskAnswers> = queries
            .par_chunks(size)
            .enumerate()
            .map(|(chunk, queries)| self.part((chunk * size) as u32, &self.search.run(&self.columns, queries)))
            .collect();
        Ok(Answers::of(&parts))
    }

    /// Converts the findings of one task from rows to ids.
    fn part(&self, first: u32, findings: &Findings) -> TaskAnswers {
        let mut rows = Vec::with_capacity(findings.found.len());
        for found in &findings.found {
            self.owners.each(found.row as usize, |id| rows.push((first + found.query, id, found.distance)));
        }
        rows.sort_unstable();
        rows.dedup();
        TaskAnswers { rows, candidates: findings.candidates.clone(), lookups: findings.lookups }
    }
}

/// Answers of one task.
struct TaskAnswers {
    rows: Vec<(u32, u64, u8)>,
    candidates: Vec<u64>,
    lookups: u64,
}

impl Answers {
    fn of(parts: &[TaskAnswers]) -> Self {
        let rows = || parts.iter().flat_map(|part| &part.rows);
        Self {
            queries: rows().map(|row| row.0).collect(),
            ids: rows().map(|row| row.1).collect(),
            distances: rows().map(|row| row.2).collect(),
            candidates: parts.iter().flat_map(|part| &part.candidates).copied().collect(),
            lookups: parts.iter().map(|part| part.lookups).sum(),
        }
    }
}

impl Owners {
    /// Calls `seen` with each id of a row.
    #[inline]
    fn each(&self, row: usize, mut seen: impl FnMut(u64)) {
        let at = self.range(row);
        match &self.ids {
            Ids::Numbers(ids) => ids[at].iter().for_each(|id| seen(u64::from(*id))),
            Ids::Given(ids) => ids[at].iter().for_each(|id| seen(*id)),
        }
    }

    fn range(&self, row: usize) -> Range<usize> {
        match &self.starts {
            Some(starts) => starts[row] as usize..starts[row + 1] as usize,
            None => row..row + 1,
        }
    }
}

/// Returns the distinct values in the order of the first table, and their ids.
fn first_table(design: &Design, values: &[u64], ids: Option<&[u64]>) -> (Vec<u64>, Owners) {
    let order = &design.arrangements[0].order;
    let mut pairs: Vec<(u64, u64)> = reserve(values.len());
    pairs.extend(values.iter().enumerate().map(|(i, value)| (order.apply(*value), ids.map_or(i as u64, |ids| ids[i]))));
    sort(&mut pairs);
    let groups = pairs.chunk_by(|a, b| a.0 == b.0).count();
    let mut first = reserve(groups);
    first.extend(pairs.chunk_by(|a, b| a.0 == b.0).map(|group| group[0].0));
    let starts = (groups < pairs.len()).then(|| {
        let mut starts = reserve(groups + 1);
        starts.push(0);
        starts.extend(pairs.chunk_by(|a, b| a.0 == b.0).scan(0u32, |end, group| {
            *end += group.len() as u32;
            Some(*end)
        }));
        starts
    });
    let ids = match ids {
        Some(_) => Ids::Given(pairs.iter().map(|pair| pair.1).collect()),
        None => Ids::Numbers(pairs.iter().map(|pair| pair.1 as u32).collect()),
    };
    (first, Owners { starts, ids })
}

/// Returns the number of queries per task.
pub fn task_size(queries: usize) -> usize {
    queries.div_ceil(rayon::current_num_threads()).clamp(SMALL_CHUNK, CHUNK)
}

fn check(values: &[u64], ids: Option<&[u64]>) -> Result<()> {
    too_many("fingerprints", values.len())?;
    match ids {
        Some(ids) if ids.len() != values.len() => {
            let reason = format!("are not as many as the `{}` fingerprints: give one id for each", values.len());
            Err(Error::Parameter { name: "ids", value: ids.len() as i64, reason })
        }
        _ => Ok(()),
    }
}

/// Checks a number of items. Errors: positions of 32 bits cannot number them.
pub(super) fn too_many(name: &'static str, count: usize) -> Result<()> {
    if count < MAX_VALUES {
        return Ok(());
    }
    let reason =
        format!("are too many for one table: positions have 32 bits; use fewer than {MAX_VALUES}, in several tables");
    Err(Error::Parameter { name, value: count as i64, reason })
}

#[cfg(test)]
pub(crate) mod tests;
