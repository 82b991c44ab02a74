//! Merges sorted tables into one sorted sequence of rows: the only merge, for spilled rows and for compaction.
//!
//! A tree of losers finds the smallest of the first rows of all inputs: each inner node keeps the loser of its match, so that the next
//! row needs one match per level, against known losers. Rows are compared by key and the first column as one number, and only in
//! full if that leaves a tie. Of equal rows, that of the earlier input comes first.
//!
//! Cost: log₂ k comparisons per row for k inputs; two pages in memory per input. More inputs than [`FAN_IN`] are merged in several passes
//! ([`reduce`]), so that memory and open files stay bounded.
//!
//! **Source.** Knuth 1998, *The Art of Computer Programming 3*, §5.4.1, replacement selection by a tree of losers.

use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::file::{Access, TableFile};
use crate::scan::{Row, Scan};
use crate::schema::Cell;
use crate::writer::Writer;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files merged at a time.
pub const FAN_IN: usize = 64;

/// The rows of several tables in order.
#[derive(Debug)]
pub struct Merge {
    scans: Vec<Scan>,
    /// The beginning of the current row of each scan, as a number that sorts like it; `None` at the end.
    heads: Vec<Option<u128>>,
    /// Inner nodes: losers of the matches; the first is the winner of all.
    tree: Vec<u32>,
    /// Whether equal beginnings mean equal rows.
    is_narrow: bool,
    /// Whether rows with one key are in the order of the inputs.
    is_by_input: bool,
    is_begun: bool,
}

/// The beginning of a row as a number: its key, then the input if that decides, or the first column, of which bytes count up to the
/// eighth.
#[inline]
fn head(row: &Row<'_>, input: Option<usize>) -> u128 {
    let rest = match row.cell(0).filter(|_| input.is_none()) {
        Some(Cell::Number(number)) => number,
        Some(Cell::Bytes(bytes)) => {
            let mut first = [0; 8];
            first.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u64::from_be_bytes(first)
        }
        None => input.unwrap_or(0) as u64,
    };
    u128::from(row.key()) << 64 | u128::from(rest)
}

impl Merge {
    /// Merges tables. Errors: their columns differ, a file is damaged or cannot be read.
    pub fn new(scans: Vec<Scan>) -> Result<Self> {
        let types = |scan: &Scan| scan.schema().columns.iter().map(|(_, kind)| *kind).collect::<Vec<_>>();
        if scans.windows(2).any(|pair| types(&pair[0]) != types(&pair[1])) {
            return Err(Error::refused("tables with different columns cannot be merged"));
        }
        Self::ordered(scans, false)
    }

    /// As [`Self::new`], but rows with one key are in the order of the inputs, and in each of them as they are there: for rows whose first
    /// column will be numbered through all inputs. Columns may differ, because they are not compared.
    pub fn by_input(scans: Vec<Scan>) -> Result<Self> {
        Self::ordered(scans, true)
    }

    fn ordered(mut scans: Vec<Scan>, is_by_input: bool) -> Result<Self> {
        let mut heads = Vec::with_capacity(scans.len());
        for (input, scan) in scans.iter_mut().enumerate() {
            heads.push(scan.next_row()?.map(|row| head(&row, is_by_input.then_some(input))));
        }
        let is_narrow = is_by_input || scans.first().is_none_or(|scan| scan.schema().is_narrow());
        let tree = vec![0; heads.len().max(1)];
        let mut merge = Self { tree, scans, heads, is_narrow, is_by_input, is_begun: false };
        merge.tree[0] = merge.play(1);
        Ok(merge)
    }

    /// Plays all matches below a node, and returns the winner. Leaf i is node k + i.
    fn play(&mut self, node: usize) -> u32 {
        let inputs = self.scans.len();
        if node >= inputs {
            return node.saturating_sub(inputs) as u32;
        }
        let (left, right) = (self.play(node * 2), self.play(node * 2 + 1));
        let (winner, loser) = if self.is_first(left, right) { (left, right) } else { (right, left) };
        self.tree[node] = loser;
        winner
    }

    /// Whether the row of one input comes before that of another.
    #[inline]
    fn is_first(&self, one: u32, other: u32) -> bool {
        let order = match (self.heads[one as usize], self.heads[other as usize]) {
            (Some(left), Some(right)) if left == right && !self.is_narrow => self.in_full(one, other),
            (Some(left), Some(right)) => left.cmp(&right),
            (left, right) => right.is_some().cmp(&left.is_some()),
        };
        order.then(one.cmp(&other)).is_lt()
    }

    #[cold]
    fn in_full(&self, one: u32, other: u32) -> Ordering {
        match (self.scans[one as usize].row(), self.scans[other as usize].row()) {
            (Some(left), Some(right)) => left.order(&right),
            _ => Ordering::Equal,
        }
    }

    /// Number of rows that were not returned yet.
    pub fn left(&self) -> u64 {
        let current = self.heads.iter().filter(|head| head.is_some()).count() as u64;
        let passed = u64::from(self.is_begun && !self.heads.is_empty() && self.heads[self.tree[0] as usize].is_some());
        self.scans.iter().map(Scan::left).sum::<u64>() + current - passed
    }

    /// Returns the next row. Errors: a file is damaged or cannot be read.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>> {
        Ok(self.next_from()?.map(|(_, row)| row))
    }

    /// Returns the next row and the number of its input. Errors: as [`Self::next_row`].
    #[inline]
    pub fn next_from(&mut self) -> Result<Option<(usize, Row<'_>)>> {
        if self.scans.is_empty() {
            return Ok(None);
        }
        if self.is_begun {
            self.advance()?;
        }
        self.is_begun = true;
        let winner = self.tree[0] as usize;
        Ok(self.heads[winner].and_then(|_| self.scans[winner].row()).map(|row| (winner, row)))
    }

    /// Replaces the row that was returned by the next one of its input, and finds the first of all.
    #[inline]
    fn advance(&mut self) -> Result<()> {
        let mut winner = self.tree[0];
        let scan = &mut self.scans[winner as usize];
        if self.heads[winner as usize].is_none() {
            return Ok(());
        }
        let input = self.is_by_input.then_some(winner as usize);
        self.heads[winner as usize] = if scan.step()? { scan.row().map(|row| head(&row, input)) } else { None };
        let mut node = (winner as usize + self.scans.len()) / 2;
        while node > 0 {
            let loser = self.tree[node];
            if self.is_first(loser, winner) {
                (self.tree[node], winner) = (winner, loser);
            }
            node /= 2;
        }
        self.tree[0] = winner;
        Ok(())
    }

    /// Writes all rows to a table that was begun. Errors: as [`Self::next_row`], or the system refuses to write.
    pub fn write_to(mut self, writer: &mut Writer) -> Result<()> {
        while let Some(row) = self.next_row()? {
            writer.push_row(&row)?;
        }
        Ok(())
    }
}

/// Merges files with one table each, made by one schema, until at most `fan_in` are left: the oldest first and the result last, so that all
/// rows are merged about equally often. Merged files are removed. `next` names new files; pages have `page` bytes of rows.
///
/// Errors: a file is damaged, or the system refuses.
pub fn reduce(
    disk: &Arc<dyn Disk>,
    files: &mut Vec<PathBuf>,
    fan_in: usize,
    page: usize,
    mut next: impl FnMut() -> PathBuf,
) -> Result<()> {
    let fan_in = fan_in.max(2);
    while files.len() > fan_in {
        let excess = (files.len() - fan_in + 1).min(fan_in);
        let merge = open(&**disk, &files[..excess])?;
        let path = next();
        let mut writer = Writer::temporary(disk.clone(), &path)?.with_page(page);
        if let Some(scan) = merge.scans.first() {
            writer.begin(scan.schema().clone())?;
        }
        merge.write_to(&mut writer)?;
        writer.finish()?;
        files.push(path);
        let old: Vec<PathBuf> = files.drain(..excess).collect();
        old.iter().try_for_each(|path| disk.remove(path).map_err(|error| Error::io(path, error)))?;
    }
    Ok(())
}

/// Merges the first tables of files, which are read page by page. Errors: a file is damaged or cannot be read.
pub fn open(disk: &dyn Disk, files: &[impl AsRef<Path>]) -> Result<Merge> {
    let scan = |path: &Path| {
        let file = TableFile::open(disk, path, Access::Streamed)?;
        let name = file.schemas().next().map(|schema| schema.name.clone()).unwrap_or_default();
        Ok(file.table(&name)?.scan())
    };
    Merge::new(files.iter().map(|path| scan(path.as_ref())).collect::<Result<_>>()?)
}
