//! Tests of files of tables against sorted rows in memory, on sound, damaged and failing disks.

mod columns;
mod damage;
mod faults;
mod forge;
mod merging;
mod reading;
mod writing;

use crate::disk::{Bytes, Disk};
use crate::error::Result;
use crate::ram::Ram;
use crate::scan::Row;
use crate::schema::{Cell, ColumnType, Schema};
use crate::testing::mix64;
use crate::writer::Writer;
use crate::{Access, Table, TableFile};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A row of the table that most tests use: key, `u32`, `u64`, three bytes, bytes of any length. A last column, mostly 0, follows from these.
type Known = (u64, u32, u64, [u8; 3], Vec<u8>);

const ACCESSES: [Access; 3] = [Access::Mapped, Access::Loaded, Access::Streamed];

fn path() -> &'static Path {
    Path::new("/table")
}

fn schema(name: &str) -> Schema {
    let columns = [
        ("small", ColumnType::U32),
        ("large", ColumnType::U64),
        ("three", ColumnType::Fixed(3)),
        ("text", ColumnType::Bytes),
        ("rare", ColumnType::Sparse),
    ];
    Schema { version: 7, note: b"a note".to_vec(), ..Schema::new(name, &columns) }
}

/// The last column of a row.
fn rare(small: u32, large: u64) -> u64 {
    if small % 7 == 1 {
        large
    } else {
        0
    }
}

fn cells(row: &Known) -> [Cell<'_>; 5] {
    let rare = Cell::Number(rare(row.1, row.2));
    [Cell::Number(row.1.into()), Cell::Number(row.2), Cell::Bytes(&row.3), Cell::Bytes(&row.4), rare]
}

fn known(row: &Row<'_>) -> Known {
    let bytes = |column| row.bytes(column).expect("a column of bytes").to_vec();
    let three = bytes(2).try_into().expect("three bytes");
    let number = |column| row.number(column).expect("a column of numbers");
    assert_eq!(number(4), rare(number(0) as u32, number(1)));
    (row.key(), number(0) as u32, number(1), three, bytes(3))
}

/// Writes rows as a table after an empty one and before one of keys alone.
fn write(disk: &Ram, rows: &[Known], page: usize) -> Result<()> {
    let mut writer = Writer::create(Arc::new(disk.clone()), path())?.with_page(page);
    writer.begin(Schema::new("empty", &[("none", ColumnType::Bytes)]))?;
    writer.begin(schema("rows"))?;
    for row in rows {
        writer.push(row.0, &cells(row))?;
    }
    writer.begin(Schema::new("keys", &[]))?;
    for row in rows {
        writer.push(row.0, &[])?;
    }
    writer.finish().map(drop)
}

fn written(rows: &[Known], page: usize) -> Ram {
    let disk = Ram::default();
    write(&disk, rows, page).expect("written");
    disk
}

fn rows_of(table: &Table) -> Result<Vec<Known>> {
    let (mut rows, mut scan) = (Vec::new(), table.scan());
    while let Some(row) = scan.next_row()? {
        rows.push(known(&row));
    }
    Ok(rows)
}

fn opened(disk: &Ram, access: Access) -> Result<Arc<TableFile>> {
    TableFile::open(disk as &dyn Disk, path(), access)
}

fn opened_bytes(bytes: Vec<u8>) -> Result<Arc<TableFile>> {
    TableFile::of(path(), Bytes::Memory(bytes))
}

/// Keys that are spread, crowded, equal and extreme.
fn keys() -> impl Strategy<Value = u64> {
    prop_oneof![3 => any::<u64>(), 3 => 0u64..30, 1 => Just(0), 1 => Just(u64::MAX), 1 => (0u64..9).prop_map(|low| u64::MAX - low)]
}

/// Sorted rows of much and of little entropy, one key only among them.
fn known_rows(most: usize) -> impl Strategy<Value = Vec<Known>> {
    let bytes = prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..12);
    let row = (keys(), prop_oneof![0u32..3, any::<u32>()], prop_oneof![0u64..3, any::<u64>()], any::<[u8; 3]>(), bytes);
    (prop::collection::vec(row, 0..most), prop::option::weighted(0.2, keys())).prop_map(|(mut rows, only)| {
        rows.iter_mut().for_each(|row| row.0 = only.unwrap_or(row.0));
        rows.sort();
        rows
    })
}

/// Some thousand rows of a fixed seed.
fn many(count: u64) -> Vec<Known> {
    let row = |i: u64| {
        let bits = mix64(i);
        let text = bits.to_le_bytes()[..(bits % 8) as usize].to_vec();
        (mix64(bits % (count / 2 + 1)), bits as u32 % 1000, bits >> 20, [bits as u8, 0, 1], text)
    };
    let mut rows: Vec<Known> = (0..count).map(row).collect();
    rows.sort();
    rows
}
