//! The columns of a table: their types, and the order of rows.
//!
//! Rows are ordered by key, then by the columns from left to right: numbers by value, bytes as strings of bytes. Equal rows may repeat.

use crate::error::{Error, Result};

/// The most columns of a table, beside the key.
pub const MAX_COLUMNS: usize = 64;
/// The most bytes of one value, so that a page stays below 4 GiB.
pub const MAX_BYTES: usize = 1 << 30;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Numbers below 2^32.
    U32,
    /// Numbers below 2^64.
    U64,
    /// Numbers below 2^64 that are mostly 0, which then cost nothing.
    Sparse,
    /// Strings of this many bytes each.
    Fixed(u32),
    /// Strings of any number of bytes up to [`MAX_BYTES`].
    Bytes,
}

impl ColumnType {
    /// Whether its values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::U32 | Self::U64 | Self::Sparse)
    }

    /// Its number in a file, with the width of [`ColumnType::Fixed`] above the lowest byte.
    pub(crate) fn to_number(self) -> u64 {
        match self {
            Self::U32 => 1,
            Self::U64 => 2,
            Self::Fixed(width) => 3 | u64::from(width) << 8,
            Self::Bytes => 4,
            Self::Sparse => 5,
        }
    }

    /// The type with this number.
    pub(crate) fn of_number(number: u64) -> Option<Self> {
        match (number & 0xFF, number >> 8) {
            (1, 0) => Some(Self::U32),
            (2, 0) => Some(Self::U64),
            (3, width) => {
                u32::try_from(width).ok().filter(|width| (1..=MAX_BYTES as u32).contains(width)).map(Self::Fixed)
            }
            (4, 0) => Some(Self::Bytes),
            (5, 0) => Some(Self::Sparse),
            _ => None,
        }
    }

    /// Bytes that a value takes in memory while a page is made.
    pub(crate) fn size(self, cell: Cell<'_>) -> usize {
        match (self, cell) {
            (Self::U32 | Self::Sparse, _) => 4,
            (Self::U64, _) => 8,
            (Self::Fixed(width), _) => width as usize,
            (Self::Bytes, Cell::Bytes(bytes)) => bytes.len() + 4,
            (Self::Bytes, Cell::Number(_)) => 4,
        }
    }

    /// Whether a column of this type can hold the value.
    pub(crate) fn holds(self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::U32, Cell::Number(number)) => number <= u64::from(u32::MAX),
            (Self::U64 | Self::Sparse, Cell::Number(_)) => true,
            (Self::Fixed(width), Cell::Bytes(bytes)) => bytes.len() == width as usize,
            (Self::Bytes, Cell::Bytes(bytes)) => bytes.len() <= MAX_BYTES,
            _ => false,
        }
    }
}

/// A value of a row, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell<'a> {
    /// Of a column of numbers.
    Number(u64),
    /// Of a column of bytes.
    Bytes(&'a [u8]),
}

/// What a table is: its name, the version and description of its content, and its columns beside the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// The name, by which it is found in its file.
    pub name: String,
    /// The version of its content, which its user defines.
    pub version: u32,
    /// What its user wants to know about the table before reading it; may be empty.
    pub note: Vec<u8>,
    /// Names and types of the columns.
    pub columns: Vec<(String, ColumnType)>,
}

impl Schema {
    /// Makes a schema of version 1 without a note.
    pub fn new(name: &str, columns: &[(&str, ColumnType)]) -> Self {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Self { name: name.to_owned(), version: 1, note: Vec::new(), columns }
    }

    /// Errors: too many columns, or a fixed width that is out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let is_known = |kind: ColumnType| ColumnType::of_number(kind.to_number()) == Some(kind);
        if self.columns.len() > MAX_COLUMNS || self.columns.iter().any(|(_, kind)| !is_known(*kind)) {
            return Err(Error::refused(format!(
                "table `{}` cannot be made: use at most {MAX_COLUMNS} columns, with 1 to {MAX_BYTES} bytes per fixed value",
                self.name
            )));
        }
        Ok(())
    }

    /// The first section of a column in a page. The key is section 0; columns of varying length take two.
    pub(crate) fn section(&self, column: usize) -> usize {
        1 + self.columns.iter().take(column).map(|(_, kind)| 1 + usize::from(*kind == ColumnType::Bytes)).sum::<usize>()
    }

    /// Number of sections of a page.
    pub(crate) fn sections(&self) -> usize {
        self.section(self.columns.len())
    }

    /// Whether the key and the first column, if that is a number, decide the order of all rows.
    pub(crate) fn is_narrow(&self) -> bool {
        matches!(self.columns[..], [] | [(_, ColumnType::U32 | ColumnType::U64)])
    }
}
