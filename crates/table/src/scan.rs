//! Reads the rows of a table in order, one page in memory at a time.

use crate::error::Result;
use crate::file::Table;
use crate::page::Page;
use crate::schema::{Cell, Schema};

/// A page that was decoded.
#[derive(Debug, Default)]
struct Decoded {
    /// The bytes of the page, for columns of bytes.
    bytes: Vec<u8>,
    keys: Vec<u64>,
    columns: Vec<DecodedColumn>,
}

/// A column of numbers, or where the values of a column of bytes end, and where they start in the page.
#[derive(Debug, Default)]
struct DecodedColumn {
    numbers: Vec<u64>,
    start: Option<usize>,
}

impl Decoded {
    fn fill(&mut self, schema: &Schema, page: Page<'_>) -> Option<()> {
        self.keys.clear();
        page.keys()?.read(0..page.rows, &mut |_, keys| self.keys.extend_from_slice(keys))?;
        self.columns.resize_with(schema.columns.len(), DecodedColumn::default);
        for (number, (column, (_, kind))) in self.columns.iter_mut().zip(&schema.columns).enumerate() {
            column.numbers.clear();
            column.start = match kind {
                kind if kind.is_number() => {
                    page.numbers(schema, number, 0..page.rows, &mut column.numbers)?;
                    None
                }
                _ => Some(page.ends(schema, number, &mut column.numbers)?),
            };
            if column.numbers.len() != page.rows {
                return None;
            }
        }
        self.keys.is_sorted().then_some(())
    }

    #[inline]
    fn cell(&self, column: usize, at: usize) -> Option<Cell<'_>> {
        let column = self.columns.get(column)?;
        let number = *column.numbers.get(at)?;
        let Some(start) = column.start else { return Some(Cell::Number(number)) };
        let from = at.checked_sub(1).map_or(0, |before| column.numbers[before] as usize);
        self.bytes.get(start + from..start + number as usize).map(Cell::Bytes)
    }
}

/// A row, borrowed from the page that was decoded.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    page: &'a Decoded,
    at: usize,
}

impl<'a> Row<'a> {
    /// The key.
    #[inline]
    pub fn key(&self) -> u64 {
        self.page.keys[self.at]
    }

    /// The value of a column; `None` if there is no such column.
    #[inline]
    pub fn cell(&self, column: usize) -> Option<Cell<'a>> {
        self.page.cell(column, self.at)
    }

    /// The number of a column; `None` if that is no column of numbers.
    #[inline]
    pub fn number(&self, column: usize) -> Option<u64> {
        match self.cell(column) {
            Some(Cell::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The bytes of a column; `None` if that is no column of bytes.
    pub fn bytes(&self, column: usize) -> Option<&'a [u8]> {
        match self.cell(column) {
            Some(Cell::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Compares two rows of tables with the same columns.
    pub(crate) fn order(&self, other: &Row<'_>) -> std::cmp::Ordering {
        let columns = 0..self.page.columns.len();
        let cells = columns.clone().map(|column| self.cell(column));
        self.key().cmp(&other.key()).then_with(|| cells.cmp(columns.map(|column| other.cell(column))))
    }
}

/// The rows of a table in order.
#[derive(Debug)]
pub struct Scan {
    table: Table,
    /// The next page to decode.
    next: usize,
    page: Decoded,
    /// The place of the current row in the page, and 1; 0 before the first row.
    at: usize,
    /// The last page, of which the last row is compared with the next row.
    before: Decoded,
}

impl Scan {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, next: 0, page: Decoded::default(), at: 0, before: Decoded::default() }
    }

    /// What the table is.
    pub fn schema(&self) -> &Schema {
        self.table.schema()
    }

    /// Number of rows that were not passed yet.
    pub fn left(&self) -> u64 {
        let rows = if self.next == 0 { 0 } else { self.table.rows_of(self.next - 1).start };
        self.table.len() - rows - self.at as u64
    }

    /// Goes to the next row; returns whether there is one. Errors: damaged, or the file cannot be read.
    #[inline]
    pub fn step(&mut self) -> Result<bool> {
        if self.at < self.page.keys.len() {
            self.at += 1;
            return Ok(true);
        }
        self.turn()
    }

    /// Decodes the next page, and goes to its first row.
    #[cold]
    fn turn(&mut self) -> Result<bool> {
        if self.next == self.table.pages() {
            return Ok(false);
        }
        let schema = self.table.schema();
        std::mem::swap(&mut self.page, &mut self.before);
        let last = self.before.keys.last().copied();
        let mut bytes = std::mem::take(&mut self.page.bytes);
        let page = &mut self.page;
        let filled = self.table.copy_page(self.next, &mut bytes, |found| {
            page.fill(schema, found)?;
            (last <= page.keys.first().copied()).then_some(())
        });
        self.page.bytes = bytes;
        if let Err(error) = filled {
            self.page.keys.clear();
            self.at = 0;
            return Err(error);
        }
        (self.next, self.at) = (self.next + 1, 1);
        Ok(true)
    }

    /// Passes over the next page, which could not be read; returns how many rows it has. The order of the rows before and
    /// after it is not compared.
    pub fn skip_page(&mut self) -> u64 {
        if self.next == self.table.pages() {
            return 0;
        }
        let rows = self.table.rows_of(self.next);
        self.page.keys.clear();
        (self.next, self.at) = (self.next + 1, 0);
        rows.end - rows.start
    }

    /// The current row; `None` before the first one.
    #[inline]
    pub fn row(&self) -> Option<Row<'_>> {
        self.at.checked_sub(1).map(|at| Row { page: &self.page, at })
    }

    /// Whether the current row is not before the one before it.
    pub(crate) fn is_ascending(&self) -> bool {
        let before = match self.at {
            0 => return true,
            1 if self.before.keys.is_empty() => return true,
            1 => Row { page: &self.before, at: self.before.keys.len() - 1 },
            at => Row { page: &self.page, at: at - 2 },
        };
        self.row().is_none_or(|row| before.order(&row).is_le())
    }

    /// Goes to the next row and returns it. Errors: as [`Self::step`].
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>> {
        Ok(if self.step()? { self.row() } else { None })
    }
}
