//! A run: the tables of some rows (`lookalike_core::hamming::tables`), and the file they are in.

use crate::manifest::RunEntry;
use crate::run_file::{self, RunFile};
use lookalike_core::hamming::design::{Arrangement, Design};
use lookalike_core::hamming::owners::Owners;
pub use lookalike_core::hamming::tables::FingerprintRow;
use lookalike_core::hamming::tables::{Columns, Tables};
use lookalike_table::disk::Disk;
use lookalike_table::error::{Error, Result};
use lookalike_table::key_column::KeyColumn;
use lookalike_table::{TableFile, Written};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

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

/// Tables, which may be in a file.
#[derive(Debug)]
pub struct Run {
    tables: Tables,
    /// The mapped file.
    mapped: Option<Arc<TableFile>>,
    /// The entry of its file; its deletions are those of the last commit.
    pub file: Option<RunEntry>,
}

impl Deref for Run {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl DerefMut for Run {
    fn deref_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

impl Run {
    /// Sorts rows into tables; repeated rows count once. Errors: 2^32 rows or more.
    pub fn build(design: &Design, rows: Vec<FingerprintRow>, hold: Hold) -> Result<Self> {
        let tables = Tables::build(design, rows, hold == Hold::Compressed)?;
        Ok(Self { tables, mapped: None, file: None })
    }

    /// Opens the run in a file and marks its deleted rows. Errors: the file is damaged.
    pub fn open(file: &RunFile, entry: &RunEntry, hold: Hold) -> Result<Self> {
        let (design, rows) = (file.design(), file.distinct());
        let (columns, owners, mapped) = match (hold, file) {
            (Hold::Mapped, RunFile::Tables(run)) => {
                let column = |(table, arrangement): (_, &Arrangement)| {
                    KeyColumn::new(Clone::clone(table), arrangement.depth(rows as u64))
                };
                let columns = run.tables.iter().zip(&design.arrangements).map(column).collect::<Result<_>>()?;
                (Columns::Mapped(columns), Some(Owners::mapped(run.owners.clone())), Some(run.file.clone()))
            }
            // Files of the first versions can only be read into memory.
            _ => {
                let (ids, starts) = file.owners()?;
                let columns = Columns::hold(design, hold != Hold::Plain, rows, |table| file.ascending(table))?;
                (columns, Owners::loaded(&ids, starts.as_deref()), None)
            }
        };
        let owners = owners.ok_or_else(|| Error::damaged(file.path(), "it has more rows than 32 bits can number"))?;
        let mut tables = Tables::of(design, columns, owners.from_file(file.path()));
        entry.deleted.iter().for_each(|place| tables.delete(*place as usize));
        Ok(Self { tables, mapped, file: Some(entry.clone()) })
    }

    /// Reads everything: checks every page, and that tables and ids are sound. Errors: damaged.
    pub fn verify(&self) -> Result<()> {
        self.mapped.as_ref().map_or(Ok(()), TableFile::verify)?;
        self.tables.verify()
    }

    /// Writes a file with all rows, deleted ones included. Errors: the system refuses, or this run is damaged.
    pub fn write(&self, disk: Arc<dyn Disk>, path: &Path) -> Result<Written> {
        // Damage is found while reading, so a file that was made of it is removed again.
        let written = run_file::write(
            disk.clone(),
            path,
            self.design(),
            |seen| self.each_owner(seen),
            |table, seen| self.each_value(table, seen),
        )?;
        if let Err(error) = self.checked() {
            let _ = disk.remove(path);
            return Err(error);
        }
        Ok(written)
    }
}
