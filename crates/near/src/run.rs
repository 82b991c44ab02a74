//! A run: rows that are sorted once into the tables of a design. They never change; they are only marked as deleted.
//!
//! A row is a fingerprint with an id. Each table has every fingerprint once, however many ids it has. The ids are
//! stored once, in the order of the first table. Tables are plain, compressed, or packed in a mapped file; the same
//! code searches all three (`lookalike_core::hamming::search`).
//!
//! Cost: that of the design, and one lookup in the first table for each fingerprint that another table finds.

use crate::manifest::RunEntry;
use crate::owners::RunOwners;
use crate::run_file::{self, RunFile};
use lookalike_core::hamming::design::{Arrangement, Design};
use lookalike_core::hamming::search::{locate, HammingHit, HammingSearch};
use lookalike_core::hash::mix64;
use lookalike_table::codec::elias_fano::EliasFano;
use lookalike_table::column::Column;
use lookalike_table::disk::Disk;
use lookalike_table::error::Result;
use lookalike_table::key_column::KeyColumn;
use lookalike_table::memory::reserve;
use lookalike_table::plain::Plain;
use lookalike_table::sort::sort;
use lookalike_table::{TableFile, Written};
use std::path::Path;
use std::sync::Arc;

/// A fingerprint with an id.
pub type FingerprintRow = (u64, u64);

/// How tables are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// In memory, uncompressed: fastest.
    Plain,
    /// In memory, compressed: about 5 bytes per fingerprint and table instead of 9.
    Compressed,
    /// Mapped from the file; plain until there is one.
    Mapped,
}

/// The tables of a design, all held in the same way.
#[derive(Debug)]
enum RunTables {
    Plain(Vec<Plain>),
    Compressed(Vec<EliasFano>),
    Mapped(Vec<KeyColumn>),
}

/// Runs an expression with the columns of any kind.
macro_rules! with {
    ($tables:expr, $columns:ident => $what:expr) => {
        match $tables {
            RunTables::Plain($columns) => $what,
            RunTables::Compressed($columns) => $what,
            RunTables::Mapped($columns) => $what,
        }
    };
}

impl RunTables {
    /// Holds in memory the values that `column` returns for each table.
    fn hold(design: &Design, hold: Hold, rows: usize, column: impl Fn(usize) -> Result<Vec<u64>>) -> Result<Self> {
        let depth = |table: usize| design.arrangements[table].depth(rows as u64);
        let all = 0..design.arrangements.len();
        Ok(match hold {
            Hold::Compressed => {
                let compress = |table| Ok(EliasFano::new(&column(table)?, depth(table)));
                Self::Compressed(all.map(compress).collect::<Result<_>>()?)
            }
            _ => Self::Plain(all.map(|table| Ok(Plain::new(column(table)?, depth(table)))).collect::<Result<_>>()?),
        })
    }
}

/// Rows in sorted tables.
#[derive(Debug)]
pub struct Run {
    design: Design,
    search: HammingSearch,
    tables: RunTables,
    owners: RunOwners,
    /// The mapped file.
    mapped: Option<Arc<TableFile>>,
    /// The entry of its file; its deletions are those of the last commit.
    pub file: Option<RunEntry>,
}

impl Run {
    /// Sorts rows into tables; repeated rows count once. Errors: 2^32 rows or more.
    pub fn build(design: &Design, mut rows: Vec<FingerprintRow>, hold: Hold) -> Result<Self> {
        let order = &design.arrangements[0].order;
        rows.iter_mut().for_each(|row| row.0 = order.apply(row.0));
        sort(&mut rows);
        rows.dedup();
        let mut first: Vec<u64> = rows.iter().map(|row| row.0).collect();
        first.dedup();
        let owners = RunOwners::of(&rows, first.len())?;
        drop(rows);
        let tables = RunTables::hold(design, hold, first.len(), |table| {
            let other = &design.arrangements[table].order;
            let mut column = reserve(first.len());
            column.extend(first.iter().map(|row| other.apply(order.undo(*row))));
            if table > 0 {
                sort(&mut column);
            }
            Ok(column)
        })?;
        let search = HammingSearch::new(design, first.len() as u64);
        Ok(Self { design: design.clone(), search, tables, owners, mapped: None, file: None })
    }

    /// Opens the run in a file and marks its deleted rows. Errors: the file is damaged.
    pub fn open(file: &RunFile, entry: &RunEntry, hold: Hold) -> Result<Self> {
        let (design, rows) = (file.design().clone(), file.distinct());
        let (tables, mut owners, mapped) = match (hold, file) {
            (Hold::Mapped, RunFile::Tables(run)) => {
                let column = |(table, arrangement): (_, &Arrangement)| {
                    KeyColumn::new(Clone::clone(table), arrangement.depth(rows as u64))
                };
                let columns = run.tables.iter().zip(&design.arrangements).map(column).collect::<Result<_>>()?;
                (RunTables::Mapped(columns), RunOwners::mapped(run.owners.clone()), Some(run.file.clone()))
            }
            // Files of the first versions can only be read into memory.
            _ => {
                let hold = if hold == Hold::Mapped { Hold::Compressed } else { hold };
                let (ids, starts) = file.owners()?;
                let tables = RunTables::hold(&design, hold, rows, |table| file.ascending(table))?;
                (tables, RunOwners::loaded(&ids, starts.as_deref())?, None)
            }
        };
        owners = owners.from_file(file.path());
        entry.deleted.iter().for_each(|place| owners.delete(*place as usize));
        let search = HammingSearch::new(&design, rows as u64);
        Ok(Self { design, search, tables, owners, mapped, file: Some(entry.clone()) })
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
    fn distinct(&self) -> usize {
        with!(&self.tables, columns => columns.first().map_or(0, |column| column.len()))
    }

    /// Bytes in memory of tables with their directories, and of ids.
    pub fn bytes(&self) -> (usize, usize) {
        let tables = match &self.tables {
            RunTables::Plain(columns) => columns.iter().map(Plain::bytes).sum(),
            RunTables::Compressed(columns) => columns.iter().map(EliasFano::bytes).sum(),
            RunTables::Mapped(_) => 0,
        };
        (tables, self.owners.bytes())
    }

    /// The places of deleted rows, ascending.
    pub fn deleted(&self) -> Vec<u64> {
        self.owners.deleted()
    }

    /// Errors: a part of the file that was read so far is damaged.
    pub fn checked(&self) -> Result<()> {
        if let RunTables::Mapped(columns) = &self.tables {
            columns.iter().try_for_each(KeyColumn::checked)?;
        }
        self.owners.checked()
    }

    /// Calls `seen` for each row within a distance of a query: number of the query, id, distance, number of the
    /// fingerprint. Returns for each query the number of fingerprints it was compared with. REQUIRES: a distance of at
    /// most the design's.
    pub fn find(&self, queries: &[u64], distance: u32, seen: &mut dyn FnMut(u32, u64, u32, usize)) -> Vec<u64> {
        let findings = with!(&self.tables, columns => self.search.run(columns, queries));
        for found in findings.found.iter().filter(|found| u32::from(found.distance) <= distance) {
            let row = found.row as usize;
            self.owners.each(row, &mut |_, id| seen(found.query, id, found.distance.into(), row));
        }
        findings.candidates
    }

    /// The fingerprint with this number.
    pub fn value(&self, row: usize) -> u64 {
        let mut value = 0;
        with!(&self.tables, columns => if let Some(first) = columns.first() {
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
        with!(&self.tables, columns => if let Some(first) = columns.first() {
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
        with!(&self.tables, columns => if let Some(first) = columns.first() {
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

    /// Reads everything: checks every page, that all tables ascend and hold the same fingerprints, and that the ids are
    /// sound. Errors: damaged.
    pub fn verify(&self) -> Result<()> {
        if let Some(file) = &self.mapped {
            file.verify()?;
        }
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
        with!(&self.tables, columns => columns[table].read(0..columns[table].len(), &mut |_, values| {
            for value in values {
                ascends &= before < Some(*value);
                before = Some(*value);
                sum = sum.wrapping_add(mix64(order.undo(*value)));
            }
        }));
        ascends.then_some(sum)
    }

    /// Writes a file with all rows, deleted ones included. Errors: the system refuses, or this run is damaged.
    pub fn write(&self, disk: Arc<dyn Disk>, path: &Path) -> Result<Written> {
        // Damage is found while reading, so a file that was made of it is removed again.
        let written = run_file::write(
            disk.clone(),
            path,
            &self.design,
            |seen| self.owners.each_of(self.distinct(), seen),
            |table, seen| {
                with!(&self.tables, columns => columns[table].read(0..columns[table].len(), &mut |_, some| seen(some)));
            },
        )?;
        if let Err(error) = self.checked() {
            let _ = disk.remove(path);
            return Err(error);
        }
        Ok(written)
    }
}
