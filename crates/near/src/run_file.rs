//! The file of a run: a file of tables (`lookalike_table`), written row by row.
//!
//! | table | key | column | note |
//! |---|---|---|---|
//! | `owners` | number of a fingerprint in the first table, from 0 | `id`, 64 bits | distance, 8 bytes |
//! | `0`, `1` … | a fingerprint in the order of that table | | bits at its top as a mask, radius: 8 bytes each |
//!
//! Each table has every fingerprint once. Files of versions 1 and 2 (`packed_run.rs`) are still read.

use crate::packed_run::PackedRun;
use lookalike_core::hamming::design::MAX_TABLES;
use lookalike_core::hamming::{Arrangement, Design, MAX_DISTANCE};
use lookalike_table::disk::{Bytes, Disk};
use lookalike_table::error::{Error, Result};
use lookalike_table::{Cell, ColumnType, Schema, Table, TableFile, Writer, Written};
use std::path::Path;
use std::sync::Arc;

const OWNERS: &str = "owners";
/// The first bytes of a file of versions 1 and 2.
const PACKED: &[u8] = b"LAHT";

/// Numbers as a note.
fn note(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The numbers of a note of this many.
fn noted<const N: usize>(table: &Table) -> Option<[u64; N]> {
    let note = &table.schema().note;
    let number = |i: usize| note.get(i * 8..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let mut numbers = [0; N];
    for (i, to) in numbers.iter_mut().enumerate() {
        *to = number(i)?;
    }
    (note.len() == N * 8).then_some(numbers)
}

/// Writes a run. `owners` gives number and id of each row in order to a function, `column` the values of a table by its number.
/// Errors: the system refuses.
pub fn write(
    disk: Arc<dyn Disk>,
    path: &Path,
    design: &Design,
    owners: impl FnOnce(&mut dyn FnMut(u64, u64)),
    column: impl Fn(usize, &mut dyn FnMut(&[u64])),
) -> Result<Written> {
    let mut writer = Writer::create(disk, path)?;
    let schema = Schema::new(OWNERS, &[("id", ColumnType::U64)]);
    writer.begin(Schema { note: note(&[u64::from(design.distance)]), ..schema })?;
    let mut done = Ok(());
    owners(&mut |number, id| {
        if done.is_ok() {
            done = writer.push(number, &[Cell::Number(id)]);
        }
    });
    for (table, arrangement) in design.arrangements.iter().enumerate() {
        done?;
        let schema = Schema::new(&table.to_string(), &[]);
        let note = note(&[arrangement.order.chosen(), u64::from(arrangement.radius)]);
        writer.begin(Schema { note, ..schema })?;
        done = Ok(());
        column(table, &mut |values| {
            for value in values {
                if done.is_ok() {
                    done = writer.push(*value, &[]);
                }
            }
        });
    }
    done?;
    writer.finish()
}

/// A file that was opened: of tables, or of version 1 or 2.
#[derive(Debug)]
pub enum RunFile {
    /// A file of tables.
    Tables(TableRun),
    /// A file of version 1 or 2.
    Packed(PackedRun),
}

/// A run in a file of tables.
#[derive(Debug)]
pub struct TableRun {
    design: Design,
    /// The file.
    pub file: Arc<TableFile>,
    /// Number of a fingerprint → id.
    pub owners: Table,
    /// The tables of the design.
    pub tables: Vec<Table>,
}

impl RunFile {
    /// Opens a file. Errors: it is damaged, cut, or of another version.
    pub fn open(path: &Path, bytes: Bytes) -> Result<Self> {
        match bytes.starts_with(PACKED) {
            true => PackedRun::open(path, bytes).map(Self::Packed),
            false => TableRun::open(path, bytes).map(Self::Tables),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Tables(run) => run.file.path(),
            Self::Packed(run) => run.path(),
        }
    }

    /// The tables in it.
    pub fn design(&self) -> &Design {
        match self {
            Self::Tables(run) => &run.design,
            Self::Packed(run) => &run.design,
        }
    }

    /// What it is known by: rows, bytes, seal.
    pub fn identity(&self) -> (u64, u64, u64) {
        match self {
            Self::Tables(run) => (run.owners.len(), run.file.identity().0, run.file.identity().1),
            Self::Packed(run) => (run.header.rows, run.header.length, run.seal),
        }
    }

    /// Number of distinct fingerprints.
    pub fn distinct(&self) -> usize {
        match self {
            Self::Tables(run) => run.tables.first().map_or(0, |table| table.len() as usize),
            Self::Packed(run) => run.distinct(),
        }
    }

    /// The ids in the order of the first table, and where those of each fingerprint start, if one has several. Errors: damaged.
    pub fn owners(&self) -> Result<(Vec<u64>, Option<Vec<u64>>)> {
        match self {
            Self::Tables(run) => run.owners(),
            Self::Packed(run) => run.owners(),
        }
    }

    /// The values of a table, read into memory. Errors: damaged, or they do not ascend.
    pub fn ascending(&self, table: usize) -> Result<Vec<u64>> {
        match self {
            Self::Tables(run) => run.ascending(table),
            Self::Packed(run) => run.ascending(table),
        }
    }
}

impl TableRun {
    fn open(path: &Path, bytes: Bytes) -> Result<Self> {
        let file = TableFile::of(path, bytes)?;
        let owners = file.table(OWNERS)?;
        let count = file.schemas().count() - 1;
        let tables =
            (0..count).map(|table| file.table(&table.to_string())).collect::<lookalike_table::Result<Vec<_>>>()?;
        let distance = noted::<1>(&owners).and_then(|[distance]| u32::try_from(distance).ok());
        let arrangement = |table: &Table| {
            let [chosen, radius] = noted::<2>(table)?;
            Some(Arrangement::new(chosen, radius.min(u64::from(MAX_DISTANCE)) as u32))
        };
        let arrangements: Option<Vec<Arrangement>> = tables.iter().map(arrangement).collect();
        let is_even = tables.windows(2).all(|pair| pair[0].len() == pair[1].len());
        let is_id = matches!(owners.schema().columns[..], [(_, ColumnType::U64)]);
        let distinct = tables.first().map_or(0, Table::len);
        let is_sound = is_even && is_id && (1..=MAX_TABLES).contains(&count) && distinct <= owners.len();
        match (distance.filter(|distance| *distance <= MAX_DISTANCE), arrangements) {
            (Some(distance), Some(arrangements)) if is_sound && owners.len() < 1 << 32 => {
                Ok(Self { design: Design { distance, arrangements }, file, owners, tables })
            }
            _ => Err(Error::damaged(path, "its tables are inconsistent")),
        }
    }

    fn owners(&self) -> Result<(Vec<u64>, Option<Vec<u64>>)> {
        let (mut ids, mut starts, mut place) = (Vec::new(), Vec::new(), 0u64);
        self.owners.numbers(0, 0..self.owners.len(), &mut ids)?;
        let mut is_sound = true;
        self.owners.keys(0..self.owners.len(), |numbers| {
            for number in numbers {
                if *number == starts.len() as u64 {
                    starts.push(place);
                }
                is_sound &= *number + 1 == starts.len() as u64;
                place += 1;
            }
        })?;
        if !is_sound || starts.len() as u64 != self.tables[0].len() {
            return Err(Error::damaged(self.file.path(), "a fingerprint has no id, or an id no fingerprint"));
        }
        let has_several = starts.len() < ids.len();
        starts.push(ids.len() as u64);
        Ok((ids, has_several.then_some(starts)))
    }

    fn ascending(&self, table: usize) -> Result<Vec<u64>> {
        let table = &self.tables[table];
        let mut values = Vec::with_capacity(table.len() as usize);
        table.keys(0..table.len(), |keys| values.extend_from_slice(keys))?;
        match values.is_sorted() {
            true => Ok(values),
            false => Err(Error::damaged(self.file.path(), "a table is not sorted")),
        }
    }
}
