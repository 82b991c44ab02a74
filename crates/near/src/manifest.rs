//! The manifest lists the files of a table, their deleted rows, and the rows that are in no file yet.
//!
//! It is the only file that is ever replaced, by a rename. So the manifest defines the table in a folder, and a commit
//! is one rename.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 64 | `header.rs` |
//! | limit | 16 | how designs are chosen: kind (0 compact, 1 fast, 2 a number of tables), that number |
//! | runs | 40 each | number, rows, bytes of its file, its seal, bytes of its deletions |
//! | tail | 8 | number of rows in no file |
//! | | 8 each, 8 each | their fingerprints, then their ids; ascending by (fingerprint, id) |
//! | deletions | | for each run that has some: places among its ids, ascending, packed as `table/codec/packed.rs` says |
//! | names | 8 | version 3 only: 1 if ids are strings, otherwise 0, and nothing follows |
//! | | 8 | number of files with strings |
//! | | 32 each | number, strings, bytes of the file, its seal |
//! | seal | 8 | XXH3 of everything before |
//!
//! Version 1 has no part of the names, and version 2, for strings, has no first number there. They are still read; version 3 is written.

use crate::header::{number_at, FileHeader, FileKind, HEADER, VERSION};
use lookalike_core::hamming::solve::Limit;
use lookalike_core::hamming::MAX_DISTANCE;
use lookalike_table::codec::packed::{pack, Order, Packed};
use lookalike_table::error::{Error, Result};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const LIMIT: usize = 16;
const ENTRY: usize = 40;
const NAME_ENTRY: usize = 32;

/// Parameters of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablePlan {
    /// The largest distance of queries.
    pub distance: u32,
    /// The limit on the design of a run.
    pub limit: Limit,
}

/// A run file as the manifest lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEntry {
    /// Its number, which is part of its file name.
    pub number: u64,
    /// Number of rows in the file.
    pub rows: u64,
    /// Length of the file in bytes.
    pub length: u64,
    /// The seal of the file.
    pub seal: u64,
    /// Places of deleted rows among its ids, ascending.
    pub deleted: Vec<u64>,
}

/// A file of strings as the manifest lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameEntry {
    /// Its number, which is part of its file name.
    pub number: u64,
    /// Number of strings in the file.
    pub rows: u64,
    /// Length of the file in bytes.
    pub length: u64,
    /// The seal of the file.
    pub seal: u64,
}

/// The state of a table after a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Number of commits.
    pub generation: u64,
    /// Parameters of the table.
    pub plan: TablePlan,
    /// The number of the next run.
    pub next: u64,
    /// The runs.
    pub runs: Vec<RunEntry>,
    /// Rows in no file: fingerprints and ids.
    pub tail: (Vec<u64>, Vec<u64>),
    /// The files of strings; none if ids are numbers.
    pub names: Option<Vec<NameEntry>>,
}

impl Manifest {
    /// Number of rows that are not deleted.
    pub fn rows(&self) -> u64 {
        self.runs.iter().map(|run| run.rows - run.deleted.len() as u64).sum::<u64>() + self.tail.0.len() as u64
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        let (kind, count) = match self.plan.limit {
            Limit::Fast => (1, 0),
            Limit::Tables(tables) => (2u64, tables),
            _ => (0, 0),
        };
        bytes.extend([kind, count].iter().flat_map(|number| number.to_le_bytes()));
        let mut deletions = Vec::new();
        for run in &self.runs {
            let before = deletions.len();
            if !run.deleted.is_empty() {
                deletions.extend(pack(&run.deleted, Order::Ascending));
            }
            let entry = [run.number, run.rows, run.length, run.seal, (deletions.len() - before) as u64];
            bytes.extend(entry.iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes.extend((self.tail.0.len() as u64).to_le_bytes());
        bytes.extend(self.tail.0.iter().chain(&self.tail.1).flat_map(|number| number.to_le_bytes()));
        bytes.extend(deletions);
        bytes.extend(u64::from(self.names.is_some()).to_le_bytes());
        if let Some(names) = &self.names {
            bytes.extend((names.len() as u64).to_le_bytes());
            let numbers = names.iter().flat_map(|file| [file.number, file.rows, file.length, file.seal]);
            bytes.extend(numbers.flat_map(u64::to_le_bytes));
        }
        let header = FileHeader {
            kind: FileKind::Manifest,
            version: VERSION,
            number: self.generation,
            rows: self.rows(),
            length: bytes.len() as u64 + 8,
            body: (bytes.len() - HEADER) as u64,
            distance: self.plan.distance,
            count: self.runs.len() as u32,
            more: self.next,
        };
        bytes[..HEADER].copy_from_slice(&header.to_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a manifest. Errors: it is damaged or of another version.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let header = FileHeader::read(path, bytes, FileKind::Manifest)?;
        let end = bytes.len().saturating_sub(8).max(HEADER);
        if header.body != (end - HEADER) as u64 || xxh3_64(&bytes[..end]) != number_at(bytes, end) {
            return Err(Error::damaged(path, "it fails its checksum"));
        }
        let manifest = parse(&header, &bytes[HEADER..end]);
        let manifest = manifest.filter(|manifest| manifest.is_sound() && manifest.rows() == header.rows);
        manifest.ok_or_else(|| Error::damaged(path, "its content is inconsistent"))
    }

    /// Whether the numbers are consistent.
    fn is_sound(&self) -> bool {
        let ascend = |places: &[u64]| places.windows(2).all(|pair| pair[0] < pair[1]);
        let names = self.names.iter().flatten();
        let mut numbers: Vec<u64> =
            self.runs.iter().map(|run| run.number).chain(names.map(|file| file.number)).collect();
        numbers.sort_unstable();
        let is_run_sound = |run: &RunEntry| {
            run.rows < 1 << 32 && ascend(&run.deleted) && run.deleted.last().is_none_or(|last| *last < run.rows)
        };
        let tail: Vec<(&u64, &u64)> = self.tail.0.iter().zip(&self.tail.1).collect();
        ascend(&numbers)
            && numbers.last().is_none_or(|last| *last < self.next)
            && self.runs.iter().all(is_run_sound)
            && tail.windows(2).all(|pair| pair[0] < pair[1])
            && self.plan.distance <= MAX_DISTANCE
    }
}

/// Takes `count` bytes from the front. Returns `None` if there are fewer.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes, 8).map(|bytes| number_at(bytes, 0))
}

fn take_numbers(bytes: &mut &[u8], count: u64) -> Option<Vec<u64>> {
    let taken = take(bytes, usize::try_from(count).ok()?.checked_mul(8)?)?;
    Some(taken.chunks_exact(8).map(|number| number_at(number, 0)).collect())
}

/// Decodes the manifest body; returns `None` if it is malformed.
fn parse(header: &FileHeader, mut bytes: &[u8]) -> Option<Manifest> {
    let mut limit = take(&mut bytes, LIMIT)?;
    let limit = match (take_number(&mut limit)?, take_number(&mut limit)?) {
        (0, _) => Limit::Compact,
        (1, _) => Limit::Fast,
        (2, tables) => Limit::Tables(tables),
        _ => return None,
    };
    let entries = take(&mut bytes, (header.count as usize).checked_mul(ENTRY)?)?;
    let tail = take_number(&mut bytes)?;
    let tail = (take_numbers(&mut bytes, tail)?, take_numbers(&mut bytes, tail)?);
    let mut runs = Vec::new();
    for entry in entries.chunks_exact(ENTRY) {
        let numbers = |i: usize| number_at(entry, i * 8);
        let mut deleted = Vec::new();
        if numbers(4) > 0 {
            let packed = take(&mut bytes, usize::try_from(numbers(4)).ok()?)?;
            Packed::open(packed, 0..packed.len(), Order::Ascending)?.decode(&mut deleted)?;
        }
        runs.push(RunEntry { number: numbers(0), rows: numbers(1), length: numbers(2), seal: numbers(3), deleted });
    }
    let has_names = match header.version {
        1 => 0,
        2 => 1,
        _ => take_number(&mut bytes)?,
    };
    let names = match has_names {
        0 => None,
        1 => Some(parse_names(&mut bytes)?),
        _ => return None,
    };
    let plan = TablePlan { distance: header.distance, limit };
    bytes.is_empty().then_some(Manifest { generation: header.number, plan, next: header.more, runs, tail, names })
}

/// Decodes the list of files of strings; returns `None` if it is malformed.
fn parse_names(bytes: &mut &[u8]) -> Option<Vec<NameEntry>> {
    let count = usize::try_from(take_number(bytes)?).ok()?;
    let entries = take(bytes, count.checked_mul(NAME_ENTRY)?)?;
    let entry = |entry: &[u8]| {
        let numbers = |i: usize| number_at(entry, i * 8);
        NameEntry { number: numbers(0), rows: numbers(1), length: numbers(2), seal: numbers(3) }
    };
    Some(entries.chunks_exact(NAME_ENTRY).map(entry).collect())
}
