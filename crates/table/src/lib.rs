//! Sorted tables of 64-bit keys, in memory and on disk: what every index, sort and search of the product stands on.
//!
//! ```text
//! rows ─▶ Sorter ─▶ Writer ─▶ file of tables ─▶ TableFile ─▶ Table: find, scan ─▶ Merge ─▶ Writer
//!         spill.rs   writer.rs   page.rs, footer.rs   file.rs            scan.rs    merge.rs
//! ```
//!
//! A table has rows in order of a 64-bit key and of its typed columns (`schema.rs`). A file has any number of tables; it is written once, from
//! sorted rows, in bounded memory, and never changes. FORMAT.md describes it byte by byte. Every disk access goes through [`disk::Disk`], so
//! that a test can let each call fail (`ram.rs`, with the feature `testing`). Codecs stand beside (`codec`); [`column::Column`],
//! [`plain::Plain`] and [`sort::sort`] are for columns in memory; [`key_column::KeyColumn`] is such a column of a file.
//!
//! ```
//! use lookalike_table::{disk::System, Access, Cell, ColumnType, Schema, TableFile, Writer};
//! use std::sync::Arc;
//!
//! # fn main() -> lookalike_table::Result<()> {
//! # let path = std::env::temp_dir().join(format!("lookalike-table-{}", std::process::id()));
//! let mut writer = Writer::create(Arc::new(System), &path)?;
//! writer.begin(Schema::new("postings", &[("row", ColumnType::U32), ("token", ColumnType::U32)]))?;
//! writer.push(7, &[Cell::Number(0), Cell::Number(12)])?;
//! writer.push(7, &[Cell::Number(3), Cell::Number(5)])?;
//! writer.push(9, &[Cell::Number(1), Cell::Number(0)])?;
//! assert!(writer.push(8, &[Cell::Number(0), Cell::Number(0)]).is_err(), "rows out of order are refused");
//! writer.finish()?;
//!
//! let file = TableFile::open(&System, &path, Access::Mapped)?;
//! let postings = file.table("postings")?;
//! let mut rows = Vec::new();
//! postings.numbers(0, postings.find(7)?, &mut rows)?;
//! assert_eq!(rows, [0, 3]);
//! assert!(postings.find(8)?.is_empty());
//!
//! let mut scan = postings.scan();
//! while let Some(row) = scan.next_row()? {
//!     assert!(row.key() == 7 || row.number(0) == Some(1));
//! }
//! # std::fs::remove_file(&path).ok();
//! # Ok(())
//! # }
//! ```

pub mod codec;
pub mod column;
pub mod disk;
pub mod error;
pub mod file;
mod footer;
mod join;
pub mod key_column;
#[cfg(target_arch = "x86_64")]
mod machine;
pub mod memory;
pub mod merge;
mod page;
pub mod plain;
#[cfg(any(test, feature = "testing"))]
pub mod ram;
pub mod scan;
pub mod schema;
pub mod sort;
pub mod spill;
pub mod writer;

pub use error::{Error, Result};
pub use file::{Access, Table, TableFile};
pub use footer::VERSION;
pub use merge::Merge;
pub use scan::{Row, Scan};
pub use schema::{Cell, ColumnType, Schema};
pub use writer::{Writer, Written};

// Forged files are read by the fuzz target too, which knows this crate by its name.
#[cfg(test)]
extern crate self as lookalike_table;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
