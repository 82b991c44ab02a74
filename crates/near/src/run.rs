//! A run: rows that are sorted once, in the tables of a design, and never changed; only marked as gone.
//!
//! A row is a fingerprint with an id. The first table has the ids beside it; a fingerprint that is found in another one finds
//! its ids by its value in the first. Tables are held as they are asked for: compressed in memory, or packed in the file they were
//! written to, mapped.
//!
//! Cost of a query: the lookups and candidates of the design (`lookalike_core::hamming::design`), and one lookup for each
//! fingerprint found.

use crate::error::Result;
use crate::file::{self, RunFile};
use crate::manifest::{Entry, Plan};
use crate::pages::{Body, Pages};
use lookalike_core::hamming::solve::solve;
use lookalike_core::hamming::{Design, BITS};
use lookalike_core::hash::mix64;
use lookalike_core::table::codec::elias_fano::EliasFano;
use lookalike_core::table::codec::packed::{pack, Order, Packed};
use lookalike_core::table::column::Column;
use std::ops::Range;
use std::sync::Arc;

/// A fingerprint with an id.
pub type Row = (u64, u64);

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// In how many bits its fingerprint differs from the query.
    pub distance: u32,
    /// The id of the row.
    pub id: u64,
    /// The fingerprint of the row.
    pub value: u64,
}

/// How the tables of files are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Read into memory, compressed.
    Memory,
    /// Left in the file, which is mapped.
    Mapped,
}

/// One table.
#[derive(Debug)]
enum Table {
    Memory(EliasFano),
    Mapped { packed: Packed<Body>, pages: Arc<Pages>, depth: u32 },
}

impl Table {
    /// What a damaged file gives instead of an answer; it is remembered that there was none.
    fn or_damaged<T>(pages: &Pages, found: Option<T>, instead: T) -> T {
        found.unwrap_or_else(|| {
            pages.report();
            instead
        })
    }
}

impl Column for Table {
    fn len(&self) -> usize {
        match self {
            Self::Memory(column) => column.len(),
            Self::Mapped { packed, .. } => packed.len(),
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Self::Memory(column) => column.depth(),
            Self::Mapped { depth, .. } => *depth,
        }
    }

    fn hint(&self, prefix: u64) {
        if let Self::Memory(column) = self {
            column.hint(prefix);
        }
    }

    fn bucket(&self, prefix: u64) -> Range<usize> {
        match self {
            Self::Memory(column) => column.bucket(prefix),
            Self::Mapped { packed, depth: 0, .. } => match prefix {
                0 => 0..packed.len(),
                _ => packed.len()..packed.len(),
            },
            Self::Mapped { packed, depth, .. } if prefix.checked_shr(*depth).unwrap_or(0) > 0 => {
                packed.len()..packed.len()
            }
            Self::Mapped { packed, pages, depth } => {
                let (low, below) = (prefix << (BITS - depth), u64::MAX.checked_shr(*depth).unwrap_or(0));
                Self::or_damaged(pages, packed.rows(low, low | below), 0..0)
            }
        }
    }

    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        match self {
            Self::Memory(column) => column.read(rows, seen),
            Self::Mapped { packed, pages, .. } => Self::or_damaged(pages, packed.read(rows, seen), ()),
        }
    }
}

/// The ids in the order of the first table.
#[derive(Debug)]
enum Ids {
    Memory(Packed<Vec<u8>>),
    Mapped(Packed<Body>),
}

/// Rows in sorted tables.
#[derive(Debug)]
pub struct Run {
    design: Design,
    tables: Vec<Table>,
    ids: Ids,
    rows: usize,
    /// A bit for each place of the first table whose row is gone; empty while none is.
    gone: Vec<u64>,
    gone_count: usize,
    /// What tells that a file is damaged.
    pages: Option<Arc<Pages>>,
    /// The file it was written to or read from; its deletions are those of the last commit.
    pub file: Option<Entry>,
}

impl Run {
    /// Sorts rows into tables. REQUIRES: no row is there twice, and fewer than 2^32. Errors: a plan that cannot be.
    pub fn build(plan: Plan, mut rows: Vec<Row>) -> Result<Self> {
        let design = solve(BITS, plan.distance, rows.len() as u64, plan.limit)?;
        let first = &design.arrangements[0].order;
        rows.sort_unstable_by_key(|(value, id)| (first.apply(*value), *id));
        let ids: Vec<u64> = rows.iter().map(|(_, id)| *id).collect();
        let column = |table: usize| {
            let order = &design.arrangements[table].order;
            let mut values: Vec<u64> = rows.iter().map(|(value, _)| order.apply(*value)).collect();
            values.sort_unstable();
            Self::held(&design, table, &values)
        };
        let tables = (0..design.arrangements.len()).map(column).collect();
        let ids = Ids::Memory(in_memory(&ids)?);
        let rows = rows.len();
        Ok(Self { design, tables, ids, rows, gone: Vec::new(), gone_count: 0, pages: None, file: None })
    }

    /// A table in memory.
    fn held(design: &Design, table: usize, values: &[u64]) -> Table {
        Table::Memory(EliasFano::new(values, design.arrangements[table].depth(values.len() as u64)))
    }

    /// The run in a file, without the rows that are gone. Errors: the file is damaged.
    pub fn open(file: &RunFile, entry: &Entry, hold: Hold) -> Result<Self> {
        let (design, rows) = (file.design.clone(), file.rows());
        let packed = |table: usize| file.column(table);
        let count = design.arrangements.len();
        let (ids, tables) = match hold {
            Hold::Memory => {
                let table = |table: usize| Ok(Self::held(&design, table, &file.decode(&packed(table)?)?));
                let ids = file.decode(&file.ids()?)?;
                (Ids::Memory(in_memory(&ids)?), (0..count).map(table).collect::<Result<_>>()?)
            }
            Hold::Mapped => {
                let depth = |table: usize| design.arrangements[table].depth(rows as u64);
                let pages = file.pages();
                let table = |i: usize| Ok(Table::Mapped { packed: packed(i)?, pages: pages.clone(), depth: depth(i) });
                (Ids::Mapped(file.ids()?), (0..count).map(table).collect::<Result<_>>()?)
            }
        };
        let pages = (hold == Hold::Mapped).then(|| file.pages().clone());
        let mut run =
            Self { design, tables, ids, rows, gone: Vec::new(), gone_count: 0, pages, file: Some(entry.clone()) };
        entry.deleted.iter().for_each(|place| run.delete(*place as usize));
        Ok(run)
    }

    /// Rows that are there.
    pub fn len(&self) -> usize {
        self.rows - self.gone_count
    }

    /// Whether all are gone.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows that were there at first.
    pub fn size(&self) -> usize {
        self.rows
    }

    /// Bytes of tables and ids in memory.
    pub fn bytes(&self) -> usize {
        let of = |table: &Table| match table {
            Table::Memory(column) => column.bytes(),
            Table::Mapped { .. } => 0,
        };
        let ids = match &self.ids {
            Ids::Memory(ids) => ids.bytes(),
            Ids::Mapped(_) => 0,
        };
        self.tables.iter().map(of).sum::<usize>() + ids + self.gone.len() * 8
    }

    /// Errors: something of the file that was read so far is damaged.
    pub fn checked(&self) -> Result<()> {
        self.pages.as_ref().map_or(Ok(()), |pages| pages.checked())
    }

    fn is_gone(&self, place: usize) -> bool {
        self.gone.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// The id at a place of the first table.
    fn id(&self, place: usize) -> u64 {
        let id = match &self.ids {
            Ids::Memory(ids) => ids.get(place),
            Ids::Mapped(ids) => ids.get(place),
        };
        if let (None, Some(pages)) = (id, &self.pages) {
            pages.report();
        }
        id.unwrap_or(0)
    }

    /// Calls `seen` with place and id of every row of a fingerprint that is there.
    fn ids_of(&self, value: u64, seen: &mut dyn FnMut(usize, u64)) {
        let Some(first) = self.tables.first() else { return };
        let asked = self.design.arrangements[0].order.apply(value);
        first.visit(asked, asked, &mut |start, values| {
            (start..start + values.len())
                .filter(|place| !self.is_gone(*place))
                .for_each(|place| seen(place, self.id(place)));
        });
    }

    /// Where a row stands, if it is there.
    pub fn place(&self, (value, id): Row) -> Option<usize> {
        let mut found = None;
        self.ids_of(value, &mut |place, other| found = if other == id { Some(place) } else { found });
        found
    }

    /// Marks the row at a place as gone. REQUIRES: it is there.
    pub fn delete(&mut self, place: usize) {
        if place < self.rows && !self.is_gone(place) {
            self.gone.resize(self.rows.div_ceil(64), 0);
            self.gone[place / 64] |= 1 << (place % 64);
            self.gone_count += 1;
        }
    }

    /// Places of rows that are gone, ascending.
    pub fn deleted(&self) -> Vec<u64> {
        (0..self.rows).filter(|place| self.is_gone(*place)).map(|place| place as u64).collect()
    }

    /// Appends all rows within a distance. REQUIRES: a distance that the design finds.
    pub fn find(&self, query: u64, distance: u32, out: &mut Vec<Hit>) {
        let mut values = Vec::new();
        for (arrangement, table) in self.design.arrangements.iter().zip(&self.tables) {
            let asked = arrangement.order.apply(query);
            let (depth, radius) = (table.depth(), arrangement.radius.min(distance));
            let prefix = asked.checked_shr(BITS - depth).unwrap_or(0);
            within(depth, radius, &mut |pattern| {
                table.read(table.bucket(prefix ^ pattern), &mut |_, candidates| {
                    let near = candidates.iter().filter(|value| (*value ^ asked).count_ones() <= distance);
                    values.extend(near.map(|value| arrangement.order.undo(*value)));
                });
            });
        }
        values.sort_unstable();
        values.dedup();
        for value in values {
            let distance = (value ^ query).count_ones();
            self.ids_of(value, &mut |_, id| out.push(Hit { distance, id, value }));
        }
    }

    /// All rows that are there, in the order of the first table.
    pub fn live(&self) -> Vec<Row> {
        let mut rows = Vec::with_capacity(self.len());
        if let (Some(table), Some(arrangement)) = (self.tables.first(), self.design.arrangements.first()) {
            table.read(0..self.rows, &mut |first, values| {
                for (place, value) in values.iter().enumerate().map(|(i, value)| (first + i, value)) {
                    if !self.is_gone(place) {
                        rows.push((arrangement.order.undo(*value), self.id(place)));
                    }
                }
            });
        }
        rows
    }

    /// Reads everything: every page, and whether the tables ascend and hold the same fingerprints. Errors: damaged.
    pub fn verify(&self) -> Result<()> {
        let Some(pages) = &self.pages else { return Ok(()) };
        pages.verify()?;
        let mut sums = Vec::new();
        for (arrangement, table) in self.design.arrangements.iter().zip(&self.tables) {
            let (mut before, mut sum) = (0, 0u64);
            table.read(0..self.rows, &mut |_, values| {
                for value in values {
                    if *value < before {
                        pages.report();
                    }
                    before = *value;
                    // A sum that does not depend on the order.
                    sum = sum.wrapping_add(mix64(arrangement.order.undo(*value)));
                }
            });
            sums.push(sum);
        }
        (0..self.rows).for_each(|place| {
            self.id(place);
        });
        if sums.windows(2).any(|pair| pair[0] != pair[1]) {
            pages.report();
        }
        pages.checked()
    }

    /// The bytes of a file of all rows, also those that are gone.
    pub fn image(&self, number: u64) -> Vec<u8> {
        let ids: Vec<u64> = (0..self.rows).map(|place| self.id(place)).collect();
        file::image(number, &self.design, &ids, |table| {
            let mut values = Vec::with_capacity(self.rows);
            self.tables[table].read(0..self.rows, &mut |_, some| values.extend_from_slice(some));
            values
        })
    }
}

/// Ids in memory.
fn in_memory(ids: &[u64]) -> Result<Packed<Vec<u8>>> {
    let bytes = pack(ids, Order::Any);
    let length = bytes.len();
    let refused = || crate::error::Error::Refused { reason: "a run has `2^32` rows or more: divide them".to_owned() };
    Packed::open(bytes, 0..length, Order::Any).ok_or_else(refused)
}

/// Calls `seen` with every number of `bits` bits that has at most `radius` ones.
fn within(bits: u32, radius: u32, seen: &mut dyn FnMut(u64)) {
    seen(0);
    for ones in 1..=radius.min(bits) {
        let mut pattern = u64::MAX >> (BITS - ones);
        while pattern.checked_shr(bits).unwrap_or(0) == 0 {
            seen(pattern);
            // The next greater number with as many ones (Gosper).
            let low = pattern & pattern.wrapping_neg();
            let Some(ripple) = pattern.checked_add(low) else { break };
            pattern = ripple | ((pattern ^ ripple) >> 2) / low;
        }
    }
}
