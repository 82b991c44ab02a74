//! Fingerprints with ids, sorted once into the tables of a design. They never change; they are only marked as deleted.
//!
//! A row is a fingerprint with an id. Each table has every fingerprint once, however many ids it has, so a page with many copies costs
//! a query no more than any other. The ids are stored once, in the order of the first table (`owners.rs`); other tables find them by
//! value. Columns are plain, compressed, or in a mapped file; the same code searches all three (`search.rs`).
//!
//! **Cost.** One radix sort per table. A plain table takes 8 bytes per fingerprint and a directory of at most 1 byte per fingerprint.
//! A search costs that of the design, and one lookup in the first table for each fingerprint that another table finds. Building takes
//! up to 27 more bytes per row.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1.

use super::design::Design;
use super::owners::Owners;
use super::search::{locate, HammingHit, HammingSearch};
use crate::error::{Error, Result};
use crate::hash::mix64;
use lookalike_table::codec::elias_fano::EliasFano;
use lookalike_table::column::Column;
use lookalike_table::key_column::KeyColumn;
use lookalike_table::memory::reserve;
use lookalike_table::plain::{Plain, MAX_VALUES};
use lookalike_table::sort::sort;
use rayon::prelude::*;

/// The most queries of one task. In a large task, more queries share the parts of a table that are in a cache.
const CHUNK: usize = 1 << 18;
/// The fewest queries of one task.
const SMALL_CHUNK: usize = 1 << 12;

/// A fingerprint with an id.
pub type FingerprintRow = (u64, u64);

/// The columns of a design, all held in the same way.
#[derive(Debug)]
pub enum Columns {
    /// In memory, uncompressed: fastest.
    Plain(Vec<Plain>),
    /// In memory, compressed: about 5 bytes per fingerprint and table instead of 9.
    Compressed(Vec<EliasFano>),
    /// Keys of a mapped file.
    Mapped(Vec<KeyColumn>),
}

/// Runs an expression with the columns of any kind.
macro_rules! with {
    ($held:expr, $columns:ident => $what:expr) => {
        match $held {
            Columns::Plain($columns) => $what,
            Columns::Compressed($columns) => $what,
            Columns::Mapped($columns) => $what,
        }
    };
}

impl Columns {
    /// Holds in memory the values that `column` returns for each of the tables, the first one last. `rows` is their number.
    pub fn hold<E>(
        design: &Design,
        is_compressed: bool,
        rows: usize,
        mut column: impl FnMut(usize) -> std::result::Result<Vec<u64>, E>,
    ) -> std::result::Result<Self, E> {
        let (mut plain, mut compressed) = (Vec::new(), Vec::new());
        for (table, arrangement) in design.arrangements.iter().enumerate().rev() {
            let (values, depth) = (column(table)?, arrangement.depth(rows as u64));
            match is_compressed {
                true => compressed.push(EliasFano::new(&values, depth)),
                false => plain.push(Plain::new(values, depth)),
            }
        }
        plain.reverse();
        compressed.reverse();
        Ok(if is_compressed { Self::Compressed(compressed) } else { Self::Plain(plain) })
    }
}

/// Rows in sorted tables.
#[derive(Debug)]
pub struct Tables {
    design: Design,
    search: HammingSearch,
    columns: Columns,
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
}

impl Tables {
    /// Sorts rows into tables in memory; repeated rows count once. Errors: more rows than 32 bits can number.
    pub fn build(design: &Design, mut rows: Vec<FingerprintRow>, is_compressed: bool) -> Result<Self> {
        check_count("fingerprints", rows.len())?;
        let order = &design.arrangements[0].order;
        rows.iter_mut().for_each(|row| row.0 = order.apply(row.0));
        sort(&mut rows);
        rows.dedup();
        let groups = || rows.chunk_by(|a, b| a.0 == b.0);
        let distinct = groups().count();
        let owners = Owners::of(&rows, distinct).ok_or_else(|| too_many("fingerprints", rows.len()))?;
        let mut first = reserve(distinct);
        first.extend(groups().map(|group| group[0].0));
        drop(rows);
        let columns = Columns::hold(design, is_compressed, distinct, |table| {
            if table == 0 {
                return Ok(std::mem::take(&mut first));
            }
            let other = &design.arrangements[table].order;
            let mut column = reserve(distinct);
            column.extend(first.iter().map(|row| other.apply(order.undo(*row))));
            sort(&mut column);
            Ok(column)
        })?;
        Ok(Self::of(design, columns, owners))
    }

    /// Makes plain tables whose ids are the numbers of the fingerprints. Errors: as for [`Self::build`].
    pub fn numbered(design: &Design, values: &[u64]) -> Result<Self> {
        let mut rows: Vec<FingerprintRow> = reserve(values.len());
        rows.extend(values.iter().copied().zip(0..));
        Self::build(design, rows, false)
    }

    /// Makes tables of their parts. REQUIRES: the columns ascend, hold the same fingerprints, and are those of the design.
    pub fn of(design: &Design, columns: Columns, owners: Owners) -> Self {
        let distinct = with!(&columns, columns => columns.first().map_or(0, Column::len));
        Self { design: design.clone(), search: HammingSearch::new(design, distinct as u64), columns, owners }
    }

    /// The design of the tables.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Number of rows that are not deleted.
    pub fn len(&self) -> usize {
        self.owners.live()
    }

    /// Whether all rows are deleted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows, deleted ones included.
    pub fn size(&self) -> usize {
        self.owners.size()
    }

    /// Number of distinct fingerprints, deleted ones included.
    pub fn distinct(&self) -> usize {
        with!(&self.columns, columns => columns.first().map_or(0, |column| column.len()))
    }

    /// Bytes in memory of tables with their directories, and of ids.
    pub fn bytes(&self) -> (usize, usize) {
        let tables = match &self.columns {
            Columns::Plain(columns) => columns.iter().map(Plain::bytes).sum(),
            Columns::Compressed(columns) => columns.iter().map(EliasFano::bytes).sum(),
            Columns::Mapped(_) => 0,
        };
        (tables, self.owners.bytes())
    }

    /// The places of deleted rows, ascending.
    pub fn deleted(&self) -> Vec<u64> {
        self.owners.deleted()
    }

    /// Errors: a part of the file that was read so far is damaged.
    pub fn checked(&self) -> lookalike_table::Result<()> {
        if let Columns::Mapped(columns) = &self.columns {
            columns.iter().try_for_each(KeyColumn::checked)?;
        }
        self.owners.checked()
    }

    /// Calls `seen` for each row within a distance of a query: number of the query, id, distance, number of the
    /// fingerprint. Returns for each query the number of fingerprints it was compared with. REQUIRES: a distance of at
    /// most the design's.
    pub fn find(&self, queries: &[u64], distance: u32, seen: &mut dyn FnMut(u32, u64, u32, usize)) -> Vec<u64> {
        let findings = with!(&self.columns, columns => self.search.run(columns, queries));
        for found in findings.found.iter().filter(|found| u32::from(found.distance) <= distance) {
            let row = found.row as usize;
            self.owners.each(row, &mut |_, id| seen(found.query, id, found.distance.into(), row));
        }
        findings.candidates
    }

    /// The fingerprint with this number.
    pub fn value(&self, row: usize) -> u64 {
        let mut value = 0;
        with!(&self.columns, columns => if let Some(first) = columns.first() {
            first.read(row..row + 1, &mut |_, values| value = values.first().copied().unwrap_or(0));
        });
        self.design.arrangements[0].order.undo(value)
    }

    /// The place of each row among the ids, unless it is missing or deleted.
    pub fn places(&self, rows: &[FingerprintRow]) -> Vec<Option<usize>> {
        let order = &self.design.arrangements[0].order;
        let asked: Vec<(u32, u64, u8)> =
            rows.iter().enumerate().map(|(i, row)| (i as u32, order.apply(row.0), 0)).collect();
        let mut found: Vec<HammingHit> = Vec::new();
        with!(&self.columns, columns => if let Some(first) = columns.first() {
            locate(first, &asked, &mut found);
        });
        let mut places = vec![None; rows.len()];
        for one in found {
            let i = one.query as usize;
            places[i] = self.owners.place(one.row as usize, rows[i].1);
        }
        places
    }

    /// Marks the row at a place as deleted.
    pub fn delete(&mut self, place: usize) {
        self.owners.delete(place);
    }

    /// Takes the mark of a deleted row away.
    pub fn restore(&mut self, place: usize) {
        self.owners.restore(place);
    }

    /// All rows that are not deleted, in the order of the first table.
    pub fn live(&self) -> Vec<FingerprintRow> {
        let mut rows: Vec<FingerprintRow> = Vec::with_capacity(self.len());
        let order = &self.design.arrangements[0].order;
        with!(&self.columns, columns => if let Some(first) = columns.first() {
            first.read(0..first.len(), &mut |start, values| {
                for (row, value) in values.iter().enumerate() {
                    if rows.len() > self.len() {
                        return;
                    }
                    let value = order.undo(*value);
                    self.owners.each(start + row, &mut |_, id| rows.push((value, id)));
                }
            });
        });
        // A forged file may list one id under several fingerprints; a sound file does not.
        if rows.len() > self.len() {
            self.owners.report();
        }
        rows
    }

    /// Checks that all tables ascend and hold the same fingerprints, and that the ids are sound. Errors: damaged.
    pub fn verify(&self) -> lookalike_table::Result<()> {
        let sums: Vec<Option<u64>> = (0..self.design.arrangements.len()).map(|table| self.sum(table)).collect();
        if sums.iter().any(|sum| sum.is_none() || *sum != sums[0]) || !self.owners.is_sound(self.distinct()) {
            self.owners.report();
        }
        self.checked()
    }

    /// A sum of the fingerprints in a table that does not depend on their order; `None` if they do not ascend.
    fn sum(&self, table: usize) -> Option<u64> {
        let order = &self.design.arrangements[table].order;
        let (mut before, mut sum, mut ascends) = (None, 0u64, true);
        with!(&self.columns, columns => columns[table].read(0..columns[table].len(), &mut |_, values| {
            for value in values {
                ascends &= before < Some(*value);
                before = Some(*value);
                sum = sum.wrapping_add(mix64(order.undo(*value)));
            }
        }));
        ascends.then_some(sum)
    }

    /// Calls `seen` with the values of a table in their order, some at a time.
    pub fn each_value(&self, table: usize, seen: &mut dyn FnMut(&[u64])) {
        with!(&self.columns, columns => columns[table].read(0..columns[table].len(), &mut |_, some| seen(some)));
    }

    /// Calls `seen` with the number of each fingerprint and each of its ids, deleted ones included.
    pub fn each_owner(&self, seen: &mut dyn FnMut(u64, u64)) {
        self.owners.each_of(self.distinct(), seen);
    }

    /// Finds all fingerprints within the distance of each query, on all cores; the result does not depend on their number.
    ///
    /// Errors: more queries than 32 bits can number.
    pub fn query_batch(&self, queries: &[u64]) -> Result<Answers> {
        Answers::of(queries, |queries, seen| {
            self.find(queries, self.design.distance, &mut |query, id, distance, _| seen(query, id, distance))
        })
    }
}

/// Answers of one task: rows, and candidates of each query.
type TaskAnswers = (Vec<(u32, u64, u8)>, Vec<u64>);

impl Answers {
    /// Answers queries on all cores. `find` calls a function with the number of a query, an id and a distance for each row that it finds,
    /// and returns for each query the number of rows it was compared with. Errors: more queries than 32 bits can number.
    pub fn of(
        queries: &[u64],
        find: impl Fn(&[u64], &mut dyn FnMut(u32, u64, u32)) -> Vec<u64> + Sync,
    ) -> Result<Self> {
        check_count("queries", queries.len())?;
        let size = queries.len().div_ceil(rayon::current_num_threads()).clamp(SMALL_CHUNK, CHUNK);
        let task = |(chunk, queries): (usize, &[u64])| {
            let (first, mut rows) = ((chunk * size) as u32, Vec::new());
            let candidates = find(queries, &mut |query, id, distance| rows.push((first + query, id, distance as u8)));
            rows.sort_unstable();
            rows.dedup();
            (rows, candidates)
        };
        let parts: Vec<TaskAnswers> = queries.par_chunks(size).enumerate().map(task).collect();
        let rows = || parts.iter().flat_map(|part| &part.0);
        Ok(Self {
            queries: rows().map(|row| row.0).collect(),
            ids: rows().map(|row| row.1).collect(),
            distances: rows().map(|row| row.2).collect(),
            candidates: parts.iter().flat_map(|part| &part.1).copied().collect(),
        })
    }
}

/// Errors: positions of 32 bits cannot number so many items.
fn check_count(name: &'static str, count: usize) -> Result<()> {
    match count < MAX_VALUES {
        true => Ok(()),
        false => Err(too_many(name, count)),
    }
}

fn too_many(name: &'static str, count: usize) -> Error {
    let reason =
        format!("are too many for one table: positions have 32 bits; use fewer than {MAX_VALUES}, in several tables");
    Error::Parameter { name, value: count as i64, reason }
}

#[cfg(test)]
pub(crate) mod tests;
