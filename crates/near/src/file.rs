//! The file of a run: fingerprints sorted once for each table, and the ids beside the first of them.
//!
//! | part | bytes | what |
//! |---|---|---|
//! | header | 64 | `header.rs` |
//! | body | | ids, then tables, each packed as `table/codec/packed.rs` says and beginning at a multiple of 8 |
//! | directory | 16 | where the ids begin in the file, and how many bytes they take |
//! | | 32 a table | bits that stand at its top, radius, where it begins, how many bytes it takes |
//! | sums | 8 a page | XXH3 of each 16 KiB of the body |
//! | seal | 8 | XXH3 of header, directory and sums |
//!
//! Opening reads header, directory and sums, and compares them with the length of the file; pages of the body are verified when they
//! are first read. Numbers that come from a file are checked before they are used.
//!
//! Cost: a file is made in memory and written in one piece; opening takes 8 bytes for 16 KiB of it.

use crate::disk::Bytes;
use crate::error::{Error, Result};
use crate::header::{number_at, Header, Kind, HEADER};
use crate::pages::{Body, Pages, PAGE};
use lookalike_core::hamming::design::MAX_TABLES;
use lookalike_core::hamming::{Arrangement, Design, MAX_DISTANCE};
use lookalike_core::table::codec::packed::{pack, Order, Packed};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Bytes of the directory for the ids, and for each table.
const IDS_ENTRY: usize = 16;
const TABLE_ENTRY: usize = 32;

/// The bytes of a file that holds these rows. `column` gives the sorted values of a table, by its number.
pub fn image(number: u64, design: &Design, ids: &[u64], mut column: impl FnMut(usize) -> Vec<u64>) -> Vec<u8> {
    let tables = design.arrangements.len();
    let mut bytes = vec![0; HEADER];
    let mut directory = Vec::with_capacity(IDS_ENTRY + tables * TABLE_ENTRY);
    append(&mut bytes, &mut directory, pack(ids, Order::Any));
    for (i, arrangement) in design.arrangements.iter().enumerate() {
        directory.extend(arrangement.order.chosen().to_le_bytes());
        directory.extend(u64::from(arrangement.radius).to_le_bytes());
        append(&mut bytes, &mut directory, pack(&column(i), Order::Ascending));
    }
    let body = bytes.len() - HEADER;
    let sums: Vec<u8> = Pages::sums(&bytes[HEADER..]).collect();
    let header = Header {
        kind: Kind::Run,
        number,
        rows: ids.len() as u64,
        length: (bytes.len() + directory.len() + sums.len() + 8) as u64,
        body: body as u64,
        distance: design.distance,
        count: tables as u32,
        next: 0,
    };
    let header = header.to_bytes();
    bytes[..HEADER].copy_from_slice(&header);
    bytes.extend(&directory);
    bytes.extend(&sums);
    bytes.extend(seal(&header, &[directory, sums].concat()).to_le_bytes());
    bytes
}

/// Appends a column, and to the directory where it stands.
fn append(bytes: &mut Vec<u8>, directory: &mut Vec<u8>, column: Vec<u8>) {
    directory.extend((bytes.len() as u64).to_le_bytes());
    directory.extend((column.len() as u64).to_le_bytes());
    bytes.extend(column);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// What names a file in the manifest: it says everything about it, and no other file has it.
fn seal(header: &[u8], footer: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(header);
    hash.update(footer);
    hash.digest()
}

/// Makes all checksums of a file right, as far as its header lets them be found: for tests that forge files.
pub fn reseal(bytes: &mut [u8]) {
    crate::header::reseal(bytes);
    let Some(end) = bytes.len().checked_sub(8).filter(|end| *end >= HEADER) else { return };
    let (body, tables) = (number_at(bytes, 32) as usize, number_at(bytes, 44) as u32 as usize);
    let stop = HEADER.saturating_add(body).min(end);
    let right: Vec<u8> = Pages::sums(&bytes[HEADER..stop]).collect();
    let at = stop.saturating_add(IDS_ENTRY).saturating_add(tables.saturating_mul(TABLE_ENTRY));
    if let Some(place) = bytes.get_mut(at..at.saturating_add(right.len()).min(end)) {
        place.copy_from_slice(&right[..place.len()]);
    }
    let sealed = seal(&bytes[..HEADER], &bytes[stop..end]);
    bytes[end..].copy_from_slice(&sealed.to_le_bytes());
}

/// The seal of a file, as it says itself.
pub fn seal_of(bytes: &[u8]) -> u64 {
    number_at(bytes, bytes.len().saturating_sub(8))
}

/// A file that was opened.
#[derive(Debug)]
pub struct RunFile {
    /// Its header.
    pub header: Header,
    /// Its seal.
    pub seal: u64,
    /// The tables in it, in order.
    pub design: Design,
    pages: Arc<Pages>,
    ids: Range<usize>,
    columns: Vec<Range<usize>>,
}

impl RunFile {
    /// Opens a file. Errors: it is damaged, cut, of another kind or version.
    pub fn open(path: &Path, bytes: Bytes) -> Result<Self> {
        let header = Header::read(path, &bytes, Kind::Run)?;
        let damaged = |reason: &str| Error::damaged(path, reason);
        let tables = header.count as usize;
        let body = usize::try_from(header.body).ok().and_then(|body| body.checked_add(HEADER));
        let Some(end) = body.filter(|end| *end < bytes.len() && (1..=MAX_TABLES).contains(&tables)) else {
            return Err(damaged("its header makes no sense"));
        };
        let sums = end + IDS_ENTRY + tables * TABLE_ENTRY;
        let footer_end = sums + (end - HEADER).div_ceil(PAGE) * 8;
        if footer_end + 8 != bytes.len() || header.distance > MAX_DISTANCE || header.rows >= 1 << 32 {
            return Err(damaged("its header makes no sense"));
        }
        let footer = &bytes[end..footer_end];
        let seal = seal(&bytes[..HEADER], footer);
        if seal != number_at(&bytes, footer_end) {
            return Err(damaged("its footer fails its checksum"));
        }
        let range = |at: usize| {
            let (start, length) = (number_at(footer, at), number_at(footer, at + 8));
            let (start, stop) = (usize::try_from(start).ok()?, usize::try_from(start.checked_add(length)?).ok()?);
            (start >= HEADER && stop <= end).then_some(start..stop)
        };
        let entry = |table: usize| IDS_ENTRY + table * TABLE_ENTRY;
        let ids = range(0).ok_or_else(|| damaged("its ids lie elsewhere"))?;
        let columns = (0..tables).map(|table| range(entry(table) + 16)).collect::<Option<Vec<_>>>();
        let columns = columns.ok_or_else(|| damaged("a table of it lies elsewhere"))?;
        let arrangement = |table: usize| {
            let radius = number_at(footer, entry(table) + 8).min(u64::from(MAX_DISTANCE)) as u32;
            Arrangement::new(number_at(footer, entry(table)), radius)
        };
        let design = Design { distance: header.distance, arrangements: (0..tables).map(arrangement).collect() };
        let pages = Pages::new(path, bytes, HEADER..end, sums);
        Ok(Self { header, seal, design, pages, ids, columns })
    }

    /// Rows in it.
    pub fn rows(&self) -> usize {
        self.header.rows as usize
    }

    /// Tells what was found damaged while it was read.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// The ids, in the order of the first table. Errors: damaged.
    pub fn ids(&self) -> Result<Packed<Body>> {
        self.packed(self.ids.clone(), Order::Any)
    }

    /// The values of a table. Errors: damaged, or there is no such table.
    pub fn column(&self, table: usize) -> Result<Packed<Body>> {
        self.packed(self.columns.get(table).cloned().unwrap_or(0..0), Order::Ascending)
    }

    fn packed(&self, range: Range<usize>, order: Order) -> Result<Packed<Body>> {
        let column = Packed::open(Body(self.pages.clone()), range, order).filter(|column| column.len() == self.rows());
        if column.is_none() {
            self.pages.report();
            self.pages.checked()?;
        }
        column.ok_or_else(|| Error::Refused { reason: "a column cannot be read".to_owned() })
    }

    /// All numbers of a column. Errors: damaged.
    pub fn decode(&self, column: &Packed<Body>) -> Result<Vec<u64>> {
        let mut values = Vec::new();
        if column.decode(&mut values).is_none() {
            self.pages.report();
        }
        self.pages.checked()?;
        Ok(values)
    }
}
