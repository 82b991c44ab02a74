//! A page: some thousand rows of a table, column by column, the unit of checksums and of reading.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | number of rows, 1 to 4096 |
//! | 4 per section | where it ends in the page |
//! | | sections, each starting at a multiple of 8 |
//!
//! The first section is the keys (`codec/keys.rs`). A column of numbers is one section (`codec/packed.rs`, any order; `codec/sparse.rs` if
//! they are mostly 0), a column of fixed width its values one after the other. A column of varying length has two: where each value ends (packed, ascending), and the bytes.
//!
//! Everything that a page says is checked before it is used; what cannot be is [`None`].

use crate::codec::keys::{self, Keys};
use crate::codec::packed::{pack, Order, Packed};
use crate::codec::sparse::{self, Sparse};
use crate::schema::{Cell, ColumnType, Schema};
use std::ops::Range;

/// The most rows of a page.
pub const MAX_ROWS: usize = 4096;

/// The values of a column of a page that is being made.
#[derive(Debug)]
pub(crate) enum ColumnBuffer {
    Numbers(Vec<u64>),
    Sparse(Vec<u64>),
    Fixed(Vec<u8>, usize),
    Bytes { ends: Vec<u64>, data: Vec<u8> },
}

impl ColumnBuffer {
    pub fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::U32 | ColumnType::U64 => Self::Numbers(Vec::new()),
            ColumnType::Sparse => Self::Sparse(Vec::new()),
            ColumnType::Fixed(width) => Self::Fixed(Vec::new(), width as usize),
            ColumnType::Bytes => Self::Bytes { ends: Vec::new(), data: Vec::new() },
        }
    }

    /// Appends a value. REQUIRES: one that the column can hold; another one is ignored.
    #[inline]
    pub fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Numbers(numbers) | Self::Sparse(numbers), Cell::Number(number)) => numbers.push(number),
            (Self::Fixed(data, _), Cell::Bytes(bytes)) => data.extend_from_slice(bytes),
            (Self::Bytes { ends, data }, Cell::Bytes(bytes)) => {
                data.extend_from_slice(bytes);
                ends.push(data.len() as u64);
            }
            _ => {}
        }
    }

    /// The last value; `None` without any.
    pub fn last(&self) -> Option<Cell<'_>> {
        match self {
            Self::Numbers(numbers) | Self::Sparse(numbers) => numbers.last().copied().map(Cell::Number),
            Self::Fixed(data, width) => data.len().checked_sub(*width).map(|start| Cell::Bytes(&data[start..])),
            Self::Bytes { ends, data } => {
                let start = ends.len().checked_sub(2).map_or(0, |before| ends[before] as usize);
                ends.last().map(|end| Cell::Bytes(&data[start..*end as usize]))
            }
        }
    }

    pub fn clear(&mut self) {
        match self {
            Self::Numbers(numbers) | Self::Sparse(numbers) => numbers.clear(),
            Self::Fixed(data, _) => data.clear(),
            Self::Bytes { ends, data } => {
                ends.clear();
                data.clear();
            }
        }
    }
}

/// Writes a page to `out`, from its beginning. REQUIRES: as many values in each column as keys, which ascend.
pub(crate) fn encode(keys: &[u64], columns: &[ColumnBuffer], sections: usize, out: &mut Vec<u8>) {
    out.clear();
    out.extend((keys.len() as u32).to_le_bytes());
    out.resize((4 + sections * 4).next_multiple_of(8), 0);
    let mut number = 0;
    let mut section = |out: &mut Vec<u8>, write: &mut dyn FnMut(&mut Vec<u8>)| {
        write(out);
        let end = (out.len() as u32).to_le_bytes();
        out[4 + number * 4..8 + number * 4].copy_from_slice(&end);
        out.resize(out.len().next_multiple_of(8), 0);
        number += 1;
    };
    section(out, &mut |out| keys::encode(keys, out));
    for column in columns {
        match column {
            ColumnBuffer::Numbers(numbers) => {
                section(out, &mut |out| out.extend_from_slice(&pack(numbers, Order::Any)))
            }
            ColumnBuffer::Sparse(numbers) => section(out, &mut |out| sparse::encode(numbers, out)),
            ColumnBuffer::Fixed(data, _) => section(out, &mut |out| out.extend_from_slice(data)),
            ColumnBuffer::Bytes { ends, data } => {
                section(out, &mut |out| out.extend_from_slice(&pack(ends, Order::Ascending)));
                section(out, &mut |out| out.extend_from_slice(data));
            }
        }
    }
}

/// The bytes of a page, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    bytes: &'a [u8],
    sections: usize,
    pub rows: usize,
}

impl<'a> Page<'a> {
    /// Opens a page with this number of rows and sections.
    #[inline]
    pub fn open(bytes: &'a [u8], rows: usize, sections: usize) -> Option<Self> {
        let told = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
        (told == rows && rows <= MAX_ROWS).then_some(Self { bytes, sections, rows })
    }

    fn end(&self, section: usize) -> Option<usize> {
        self.bytes.get(4 + section * 4..)?.first_chunk().map(|end| u32::from_le_bytes(*end) as usize)
    }

    #[inline]
    pub fn section(&self, section: usize) -> Option<Range<usize>> {
        let start = match section {
            0 => (4 + self.sections * 4).next_multiple_of(8),
            _ => self.end(section - 1)?.next_multiple_of(8),
        };
        let end = self.end(section)?;
        (section < self.sections && start <= end && end <= self.bytes.len()).then_some(start..end)
    }

    /// The bytes of a page from its keys on.
    #[inline(always)]
    pub fn keys_of(bytes: &'a [u8], sections: usize) -> Option<&'a [u8]> {
        bytes.get((4 + sections * 4).next_multiple_of(8)..)
    }

    #[inline]
    pub fn keys(&self) -> Option<Keys<'a>> {
        Keys::open(self.bytes.get(self.section(0)?)?, self.rows)
    }

    fn packed(&self, section: usize, order: Order) -> Option<Packed<&'a [u8]>> {
        let bytes = self.bytes.get(self.section(section)?)?;
        Packed::open(bytes, 0..bytes.len(), order).filter(|column| column.len() == self.rows)
    }

    fn sparse(&self, section: usize) -> Option<Sparse<'a>> {
        Sparse::open(self.bytes.get(self.section(section)?)?, self.rows)
    }

    /// The number in a row of a column of numbers.
    pub fn number(&self, schema: &Schema, column: usize, row: usize) -> Option<u64> {
        let (_, kind) = schema.columns.get(column)?;
        let section = schema.section(column);
        let number = match kind {
            ColumnType::Sparse => self.sparse(section)?.get(row)?,
            _ => self.packed(section, Order::Any)?.get(row)?,
        };
        kind.holds(Cell::Number(number)).then_some(number)
    }

    /// Appends the numbers in rows of a column of numbers.
    pub fn numbers(&self, schema: &Schema, column: usize, rows: Range<usize>, out: &mut Vec<u64>) -> Option<()> {
        let (_, kind) = schema.columns.get(column)?;
        let (from, section) = (out.len(), schema.section(column));
        match kind {
            ColumnType::Sparse => self.sparse(section)?.read(rows, out)?,
            _ => self.packed(section, Order::Any)?.read(rows, &mut |_, some| out.extend_from_slice(some))?,
        }
        let all = out[from..].iter().fold(0, |all, number| all | number);
        (*kind != ColumnType::U32 || all <= u64::from(u32::MAX)).then_some(())
    }

    /// Where the bytes in a row of a column of bytes are in the page.
    pub fn bytes(&self, schema: &Schema, column: usize, row: usize) -> Option<Range<usize>> {
        let (section, (_, kind)) = (schema.section(column), schema.columns.get(column)?);
        let (start, end, data) = match kind {
            ColumnType::Fixed(width) => {
                (row.checked_mul(*width as usize)?, (row + 1).checked_mul(*width as usize)?, self.section(section)?)
            }
            ColumnType::Bytes => {
                let ends = self.packed(section, Order::Ascending)?;
                let end = |row: usize| ends.get(row).and_then(|end| usize::try_from(end).ok());
                let start = if row == 0 { 0 } else { end(row - 1)? };
                (start, end(row)?, self.section(section + 1)?)
            }
            _ => return None,
        };
        (start <= end && end <= data.len()).then(|| data.start + start..data.start + end)
    }

    /// Where the values of a column of bytes end, counted from where its bytes start, which is the second.
    pub fn ends(&self, schema: &Schema, column: usize, out: &mut Vec<u64>) -> Option<usize> {
        let (section, (_, kind)) = (schema.section(column), schema.columns.get(column)?);
        let data = match kind {
            ColumnType::Fixed(width) => {
                out.extend((1..=self.rows as u64).map(|row| row * u64::from(*width)));
                self.section(section)?
            }
            ColumnType::Bytes => {
                self.packed(section, Order::Ascending)?.decode(out)?;
                self.section(section + 1)?
            }
            _ => return None,
        };
        (out.is_sorted() && out.last() == Some(&(data.len() as u64))).then_some(data.start)
    }
}
