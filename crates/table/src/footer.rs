//! The first and last bytes of a file of tables: what tables it has, and where their pages are.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 4 | `LATB` |
//! | | 1, 3 | version of the format, 1; zeros |
//! | | 8 | XXH3 of the 8 bytes before |
//! | pages | | `page.rs`, each starting at a multiple of 8, those of a table one after the other |
//! | footer | 8 | number of tables |
//! | | | the tables, as below |
//! | trailer | 8, 8 | where the footer starts; bytes of the file |
//! | | 8 | the *seal*: XXH3 of header, footer and the 16 bytes before |
//!
//! A table in the footer, every part filled with zeros to a multiple of 8 bytes:
//!
//! | bytes | content |
//! |---|---|
//! | 8 and more | length and bytes of its name, in UTF-8 |
//! | 8 | version of its content |
//! | 8 and more | length and bytes of its note |
//! | 8 | number of columns beside the key |
//! | 8, 8 and more each | type (1 `u32`, 2 `u64`, 3 + 256 · width, 4 bytes of any length, 5 `u64` mostly 0); length and bytes of its name |
//! | 8, 8 | rows; pages |
//! | 8 per page | its first key |
//! | 8 per page | number of rows before it |
//! | 8 per page, and 8 | where it starts; where the last one ends |
//! | 8 per page | XXH3 of its bytes |

use crate::error::{Error, Result};
use crate::page::MAX_ROWS;
use crate::schema::{ColumnType, Schema, MAX_COLUMNS};
use std::path::Path;
use xxhash_rust::xxh3::{xxh3_64, Xxh3};

/// Bytes of the header and of the trailer.
pub(crate) const HEADER: usize = 16;
pub(crate) const TRAILER: usize = 24;
/// The version of the format that is written and read.
pub const VERSION: u8 = 1;
const MAGIC: [u8; 4] = *b"LATB";

/// A table of a file: what it is, and where its pages are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    pub schema: Schema,
    /// Sections of a page.
    pub sections: usize,
    pub rows: u64,
    /// Of each page: first key, rows before it, XXH3.
    pub keys: Vec<u64>,
    pub starts: Vec<u64>,
    pub sums: Vec<u64>,
    /// Where each page starts, and where the last one ends.
    pub offsets: Vec<u64>,
    /// Pages per unit of the key and per row, by which the page of a key and of a row is guessed.
    pub scale: f64,
    pub pages_per_row: f64,
}

/// The header of every file.
pub(crate) fn header() -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = VERSION;
    let sum = xxh3_64(&bytes[..8]).to_le_bytes();
    bytes[8..].copy_from_slice(&sum);
    bytes
}

/// Footer and trailer of a file whose pages end at `start`; the second is the seal.
pub(crate) fn footer(tables: &[Directory], start: u64) -> (Vec<u8>, u64) {
    let mut out = (tables.len() as u64).to_le_bytes().to_vec();
    for table in tables {
        put_bytes(&mut out, table.schema.name.as_bytes());
        put(&mut out, &[u64::from(table.schema.version)]);
        put_bytes(&mut out, &table.schema.note);
        put(&mut out, &[table.schema.columns.len() as u64]);
        for (name, kind) in &table.schema.columns {
            put(&mut out, &[kind.to_number()]);
            put_bytes(&mut out, name.as_bytes());
        }
        put(&mut out, &[table.rows, table.keys.len() as u64]);
        [&table.keys, &table.starts, &table.offsets, &table.sums].iter().for_each(|numbers| put(&mut out, numbers));
    }
    let length = start + (out.len() + TRAILER) as u64;
    put(&mut out, &[start, length]);
    let seal = seal(&out);
    put(&mut out, &[seal]);
    (out, seal)
}

/// The seal of a file with this footer and the two numbers behind it. It identifies the file, since the footer has the sums of all pages.
fn seal(footer: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&header());
    hash.update(footer);
    hash.digest()
}

fn put(out: &mut Vec<u8>, numbers: &[u64]) {
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, &[bytes.len() as u64]);
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(8), 0);
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |number| u64::from_le_bytes(*number))
}

/// Checks the header. Errors: another kind of file, damage, another version.
pub(crate) fn check_header(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(found) = bytes.first_chunk::<HEADER>().filter(|found| found[..4] == MAGIC) else {
        return Err(Error::damaged(path, "it is not a table file"));
    };
    if number_at(found, 8) != xxh3_64(&found[..8]) {
        return Err(Error::damaged(path, "its header fails its checksum"));
    }
    match found[4] {
        VERSION => Ok(()),
        other => Err(Error::Version { path: path.to_owned(), found: other, known: VERSION }),
    }
}

/// Where the footer starts, by the trailer of a file of this length. Errors: the file is cut or damaged.
pub(crate) fn footer_start(path: &Path, trailer: &[u8], length: u64) -> Result<u64> {
    let (start, told) = (number_at(trailer, 0), number_at(trailer, 8));
    let is_inside = start >= HEADER as u64 && start.checked_add(TRAILER as u64).is_some_and(|end| end <= length);
    match told == length && is_inside && start.is_multiple_of(8) {
        true => Ok(start),
        false => Err(Error::damaged(path, "its end is missing or fails its checksum")),
    }
}

/// Reads the footer, with the trailer behind it, of a file whose pages end at `start`. The second is the seal.
///
/// Errors: damaged.
pub(crate) fn read(path: &Path, bytes: &[u8], start: u64) -> Result<(Vec<Directory>, u64)> {
    let told = bytes.len().checked_sub(8).map(|at| (&bytes[..at], number_at(bytes, at)));
    let Some((footer, told)) = told.filter(|(footer, told)| seal(footer) == *told) else {
        return Err(Error::damaged(path, "its footer fails its checksum"));
    };
    let footer = &footer[..footer.len().saturating_sub(TRAILER - 8)];
    let tables = parse(footer, start).ok_or_else(|| Error::damaged(path, "its footer is inconsistent"))?;
    Ok((tables, told))
}

/// Decodes the footer; returns `None` if it is malformed.
fn parse(mut bytes: &[u8], start: u64) -> Option<Vec<Directory>> {
    let count = take(&mut bytes)?;
    let (mut tables, mut at) = (Vec::new(), HEADER as u64);
    for _ in 0..count {
        let table = parse_table(&mut bytes)?;
        if !is_sound(&table, at) {
            return None;
        }
        at = table.offsets.last().copied()?;
        tables.push(table);
    }
    (bytes.is_empty() && at == start).then_some(tables)
}

fn parse_table(bytes: &mut &[u8]) -> Option<Directory> {
    let name = String::from_utf8(take_bytes(bytes)?.to_vec()).ok()?;
    let version = u32::try_from(take(bytes)?).ok()?;
    let note = take_bytes(bytes)?.to_vec();
    let count = usize::try_from(take(bytes)?).ok().filter(|count| *count <= MAX_COLUMNS)?;
    let mut columns = Vec::new();
    for _ in 0..count {
        let kind = ColumnType::of_number(take(bytes)?)?;
        columns.push((String::from_utf8(take_bytes(bytes)?.to_vec()).ok()?, kind));
    }
    let (rows, pages) = (take(bytes)?, usize::try_from(take(bytes)?).ok()?);
    let keys = take_numbers(bytes, pages)?;
    let starts = take_numbers(bytes, pages)?;
    let offsets = take_numbers(bytes, pages.checked_add(1)?)?;
    let sums = take_numbers(bytes, pages)?;
    let schema = Schema { name, version, note, columns };
    let range = keys.last().zip(keys.first()).map_or(0, |(last, first)| last.wrapping_sub(*first));
    let scale = pages.saturating_sub(1) as f64 / (range as f64).max(1.0);
    let (sections, pages_per_row) = (schema.sections(), pages as f64 / rows.max(1) as f64);
    Some(Directory { schema, sections, rows, keys, starts, sums, offsets, scale, pages_per_row })
}

/// Whether the numbers of a table whose pages start at `at` agree.
fn is_sound(table: &Directory, at: u64) -> bool {
    let ends = table.starts.iter().skip(1).copied().chain([table.rows]);
    let has_rows = |(start, end): (&u64, u64)| (1..=MAX_ROWS as u64).contains(&end.wrapping_sub(*start));
    let is_page = |pair: &[u64]| pair[0] < pair[1] && pair[1].is_multiple_of(8);
    table.offsets.first() == Some(&at)
        && table.offsets.windows(2).all(is_page)
        && table.keys.is_sorted()
        && table.starts.first().copied().unwrap_or(table.rows) == 0
        && table.starts.iter().zip(ends).all(has_rows)
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length.checked_next_multiple_of(8)?)?;
    *bytes = rest;
    taken[length..].iter().all(|byte| *byte == 0).then(|| &taken[..length])
}

fn take_numbers(bytes: &mut &[u8], count: usize) -> Option<Vec<u64>> {
    let (taken, rest) = bytes.split_at_checked(count.checked_mul(8)?)?;
    *bytes = rest;
    Some(taken.chunks_exact(8).map(|number| number_at(number, 0)).collect())
}
