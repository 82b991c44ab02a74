//! Merges neighbouring segments into one, without their removed rows.
//!
//! Rows are numbered again in order of arrival: a row becomes the number of live rows before it. That keeps the order, so tables by row are
//! read one after the other, and tables by key are merged by key and segment. Nothing is sorted and nothing is spilled.
//!
//! Cost: each table is read and written once; two pages in memory per segment. More segments than [`FAN_IN`] are first merged in
//! groups, to temporary files beside the new segment.

use crate::bitmap::Bitmap;
use crate::segment::writer::{beside, unless, write_parameters, Written};
use crate::segment::{bytes_of_leader, tables, Segment, StoredRow};
use crate::shadows::is_readable;
use lookalike_table::disk::Disk;
use lookalike_table::merge::FAN_IN;
use lookalike_table::{Cell, Error, Merge, Result, Row, Table, Writer};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// A segment, and its rows that are left out.
pub type MergePart<'a> = (Arc<Segment>, Option<&'a Bitmap>);

/// Merges segments in order of arrival into a new one. Nothing has its name unless it is complete.
///
/// Errors: a bitmap is of another segment, a segment is damaged, there are too many documents, or the system refuses.
pub fn merge(disk: &Arc<dyn Disk>, parts: &[MergePart<'_>], path: &Path, parameters: &[u8]) -> Result<Written> {
    merge_unless(disk, parts, path, parameters, &AtomicBool::new(false))
}

/// As [`merge`], but ends with an error soon after `stop` is set.
pub fn merge_unless(
    disk: &Arc<dyn Disk>,
    parts: &[MergePart<'_>],
    path: &Path,
    parameters: &[u8],
    stop: &AtomicBool,
) -> Result<Written> {
    let mut temporary = Temporary { disk: disk.clone(), paths: Vec::new() };
    let mut parts = parts.to_vec();
    while parts.len() > FAN_IN {
        let mut merged = Vec::with_capacity(parts.len().div_ceil(FAN_IN));
        for group in parts.chunks(FAN_IN) {
            let file = beside(path, &format!("merge-{:06}", temporary.paths.len()));
            temporary.paths.push(file.clone());
            write(group, Writer::temporary(disk.clone(), &file)?, parameters, stop)?;
            merged.push((Arc::new(Segment::open(&**disk, &file)?), None));
        }
        parts = merged;
    }
    write(&parts, Writer::create(disk.clone(), path)?, parameters, stop)
}

/// Files that are removed when this is dropped.
struct Temporary {
    disk: Arc<dyn Disk>,
    paths: Vec<PathBuf>,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed only takes space.
        self.paths.iter().for_each(|path| drop(self.disk.remove(path)));
    }
}

/// How the rows of a segment are numbered in the new one.
struct Numbering<'a> {
    segment: &'a Segment,
    removed: Option<&'a Bitmap>,
    /// The new number of its first live row.
    first: u64,
}

impl Numbering<'_> {
    /// The new number of a row; none if it is left out. Errors: there is no such row.
    #[inline]
    fn number(&self, row: u64) -> Result<Option<u64>> {
        let row = self.segment.checked(row)?;
        let Some(removed) = self.removed else { return Ok(Some(self.first + row)) };
        Ok((!removed.contains(row)).then(|| self.first + row - removed.below(row)))
    }
}

/// The numberings of all segments, and the number of live rows. Errors: a bitmap is of another segment, or there are too many rows.
fn numberings<'a>(parts: &'a [MergePart<'a>]) -> Result<(Vec<Numbering<'a>>, u64)> {
    let (mut found, mut first) = (Vec::with_capacity(parts.len()), 0);
    for (segment, removed) in parts {
        if removed.is_some_and(|removed| removed.rows() != segment.rows()) {
            let reason = format!("a bitmap of another number of rows than `{}` belongs to no segment", segment.rows());
            return Err(Error::refused(reason));
        }
        found.push(Numbering { segment, removed: *removed, first });
        first += segment.rows() - removed.map_or(0, Bitmap::count);
    }
    match first <= u64::from(u32::MAX) {
        true => Ok((found, first)),
        false => Err(Error::refused(format!("a segment cannot hold `{first}` documents: merge fewer segments"))),
    }
}

/// Writes all tables of the new segment.
fn write(parts: &[MergePart<'_>], mut writer: Writer, parameters: &[u8], stop: &AtomicBool) -> Result<Written> {
    let (numberings, rows) = numberings(parts)?;
    for name in tables::BY_ROW {
        append_rows(&numberings, Lazy::new(name, &mut writer, stop))?;
    }
    for name in tables::BY_KEY {
        merge_keys(&numberings, Lazy::new(name, &mut writer, stop))?;
    }
    write_parameters(parameters, &mut writer)?;
    let written = writer.finish()?;
    Ok(Written { rows, length: written.length, seal: written.seal })
}

/// A table that is begun with its first row, so that none is empty.
struct Lazy<'a> {
    name: &'a str,
    columns: usize,
    is_begun: bool,
    writer: &'a mut Writer,
    stop: &'a AtomicBool,
}

impl<'a> Lazy<'a> {
    fn new(name: &'a str, writer: &'a mut Writer, stop: &'a AtomicBool) -> Self {
        Self { name, columns: tables::schema(name).columns.len(), is_begun: false, writer, stop }
    }

    /// Appends a row with another key, or another number in its first column.
    fn push(&mut self, row: &Row<'_>, key: u64, first: Option<u64>) -> Result<()> {
        match first {
            Some(first) => self.push_cells(row, key, &[(0, Cell::Number(first))]),
            None => self.push_cells(row, key, &[]),
        }
    }

    /// Appends a row with another key, and with other values in some columns.
    fn push_cells(&mut self, row: &Row<'_>, key: u64, others: &[(usize, Cell<'_>)]) -> Result<()> {
        unless(self.stop)?;
        if !self.is_begun {
            self.writer.begin(tables::schema(self.name))?;
            self.is_begun = true;
        }
        let mut cells = [Cell::Number(0); tables::MOST_COLUMNS];
        for (column, cell) in cells.iter_mut().enumerate().take(self.columns) {
            *cell = row.cell(column).unwrap_or(Cell::Number(0));
        }
        others.iter().for_each(|(column, cell)| cells[*column] = *cell);
        self.writer.push(key, &cells[..self.columns])
    }

    /// Appends a shadow of an earlier version as it is stored now.
    fn push_hidden(&mut self, row: &Row<'_>, hidden: &StoredRow, key: u64) -> Result<()> {
        let leader = bytes_of_leader(hidden.leader.as_ref());
        let stored = [
            (tables::document::ID, Cell::Bytes(&hidden.id)),
            (tables::document::META, Cell::Bytes(&hidden.meta)),
            (tables::document::LEADER, Cell::Bytes(&leader)),
            (tables::document::SHINGLES, Cell::Number(u64::from(hidden.shingles))),
            (tables::document::LENGTH, Cell::Number(0)),
            (tables::document::BYTES, Cell::Number(0)),
        ];
        self.push_cells(row, key, &stored)
    }
}

/// Copies a table by row of all segments.
fn append_rows(parts: &[Numbering<'_>], mut out: Lazy<'_>) -> Result<()> {
    for part in parts {
        let Some(mut scan) = part.segment.table(out.name)?.map(|table| table.scan()) else { continue };
        while let Some(row) = scan.next_row()? {
            match part.number(row.key())? {
                Some(number) if out.name == tables::DOCUMENTS && is_readable_shadow(&row) => {
                    out.push_hidden(&row, &part.segment.row(row.key())?, number)?;
                }
                Some(number) => out.push(&row, number, None)?,
                None => {}
            }
        }
    }
    Ok(())
}

/// Whether a row of the table of documents is a shadow of an earlier version.
fn is_readable_shadow(row: &Row<'_>) -> bool {
    let id = match row.cell(tables::document::ID) {
        Some(Cell::Bytes(id)) => id,
        _ => &[],
    };
    is_readable(row.number(tables::document::FLAGS).unwrap_or(0) as u32, id)
}

/// Merges a table by key of all segments.
fn merge_keys(parts: &[Numbering<'_>], mut out: Lazy<'_>) -> Result<()> {
    let mut tables: Vec<(&Numbering<'_>, Table)> = Vec::with_capacity(parts.len());
    for part in parts {
        part.segment.table(out.name)?.into_iter().for_each(|table| tables.push((part, table)));
    }
    let mut merge = Merge::by_input(tables.iter().map(|(_, table)| table.scan()).collect())?;
    let mut before = None;
    while let Some((input, row)) = merge.next_from()? {
        let (part, _) = &tables[input];
        let Some(number) = part.number(row.number(0).unwrap_or(u64::MAX))? else { continue };
        // A table of an earlier version may have a key of a document several times.
        if before.replace((row.key(), number)) != Some((row.key(), number)) {
            out.push(&row, row.key(), Some(number))?;
        }
    }
    Ok(())
}
