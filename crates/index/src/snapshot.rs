//! Segments in order of arrival, asked as one, without their removed rows.
//!
//! The *number* of a document is its row plus the rows of all earlier segments, so the order of numbers is the order of arrival. Removed
//! rows keep their numbers. A snapshot never changes; it may be asked from several threads.
//!
//! Cost: a key is looked up once per segment, several keys at a time. Holders are read in runs, one page at a time.

use crate::bitmap::Bitmap;
use crate::record::{SHADOW, TEMPLATE};
use crate::segment::{tables, Segment, StoredRow, Which};
use lookalike_table::{Error, Result, Table};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_64;

/// Keys whose rows are looked up in all segments before any is read.
const BATCH: usize = 1 << 10;
/// Rows read at a time.
const CHUNK: u64 = 1 << 12;

/// Takes the place of a key, its first and last holders, ascending, and the number of all.
pub type SeenEnds<'a> = &'a mut dyn FnMut(usize, &[u64], u64) -> Result<()>;

/// A segment of a snapshot.
#[derive(Clone, Debug)]
pub struct Part {
    segment: Arc<Segment>,
    removed: Option<Bitmap>,
    /// The number of its first document.
    first: u64,
}

impl Part {
    /// A segment of which nothing is removed.
    pub fn of(segment: Arc<Segment>) -> Self {
        Self { segment, removed: None, first: 0 }
    }

    /// A segment without some rows. Errors: the bitmap is of a segment with another number of rows.
    pub fn without(segment: Arc<Segment>, removed: Bitmap) -> Result<Self> {
        if removed.rows() != segment.rows() {
            return Err(segment.damaged(format!(
                "it has `{}` documents, but `{}` are known to the index",
                segment.rows(),
                removed.rows()
            )));
        }
        let removed = Some(removed).filter(|removed| removed.count() > 0);
        Ok(Self { segment, removed, first: 0 })
    }

    /// The segment.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The removed rows; none if nothing is removed.
    pub fn removed(&self) -> Option<&Bitmap> {
        self.removed.as_ref()
    }

    /// The number of its first document.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Whether a row is not removed.
    #[inline]
    pub(crate) fn is_live(&self, row: u64) -> bool {
        self.removed.as_ref().is_none_or(|removed| !removed.contains(row))
    }

    /// Calls `seen` with the live documents at some places of a table of keys, each once; the order of places is that of documents.
    fn live(&self, table: &Table, places: Range<u64>, buffer: &mut Vec<u64>, mut seen: impl FnMut(u64)) -> Result<()> {
        let (mut at, mut before) = (places.start, None);
        while at < places.end {
            let end = places.end.min(at + CHUNK);
            buffer.clear();
            table.numbers(0, at..end, buffer)?;
            for row in &*buffer {
                let row = self.segment.checked(*row)?;
                if before.replace(row) != Some(row) && self.is_live(row) {
                    seen(self.first + row);
                }
            }
            at = end;
        }
        Ok(())
    }
}

/// Persons of all live documents that are no shadows, in order of number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submitters {
    /// Numbers of the documents.
    pub numbers: Vec<u64>,
    /// Their submitters.
    pub submitters: Vec<u64>,
    /// Their other submitters; 0 for none.
    pub known_as: Vec<u64>,
    /// Their flags.
    pub flags: Vec<u32>,
}

/// Segments in order of arrival, without their removed rows.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    parts: Vec<Part>,
    rows: u64,
    /// The number of live shadows, once it is known.
    pub(crate) known_shadows: OnceLock<u64>,
}

impl Snapshot {
    /// Makes a snapshot of parts in order of arrival. Errors: there are too many documents to number.
    pub fn new(mut parts: Vec<Part>) -> Result<Self> {
        let mut rows = 0u64;
        for part in &mut parts {
            part.first = rows;
            rows += part.segment.rows();
        }
        Ok(Self { parts, rows, known_shadows: OnceLock::new() })
    }

    /// The snapshot of an index that knows how many live shadows it has.
    pub fn with_shadows(self, shadows: u64) -> Self {
        Self { known_shadows: OnceLock::from(shadows), ..self }
    }

    /// The parts, in order of arrival.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Number of documents with the removed ones: all numbers are below it.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of live documents, shadows included.
    pub fn live(&self) -> u64 {
        self.rows - self.parts.iter().filter_map(Part::removed).map(Bitmap::count).sum::<u64>()
    }

    /// The part of a document, and its row there. Errors: there is no such number.
    pub fn place(&self, number: u64) -> Result<(usize, u64)> {
        if number >= self.rows {
            return Err(Error::refused(format!("document `{number}` is not among the `{}` of the index", self.rows)));
        }
        // Empty parts have the number of the next one, so the last part that begins here has it.
        let part = self.parts.partition_point(|part| part.first <= number) - 1;
        Ok((part, number - self.parts[part].first))
    }

    fn part(&self, number: u64) -> Result<(&Part, u64)> {
        self.place(number).map(|(part, row)| (&self.parts[part], row))
    }

    /// Whether there is such a document and it is not removed.
    pub fn is_live(&self, number: u64) -> bool {
        self.part(number).is_ok_and(|(part, row)| part.is_live(row))
    }

    /// Calls `seen` with the live rows whose id has this hash, shadows included, in ascending order. Errors: damaged, or those of `seen`.
    pub(crate) fn each_with_key(&self, key: u64, mut seen: impl FnMut(&Part, u64) -> Result<()>) -> Result<()> {
        let mut rows = Vec::new();
        for part in &self.parts {
            let Some(table) = part.segment.ids() else { continue };
            rows.clear();
            table.numbers(0, table.find(key)?, &mut rows)?;
            for row in &rows {
                let row = part.segment.checked(*row)?;
                if part.is_live(row) {
                    seen(part, row)?;
                }
            }
        }
        Ok(())
    }

    /// The newest live document with this id; shadows have none. Errors: damaged.
    pub fn find_id(&self, id: &[u8]) -> Result<Option<u64>> {
        let mut rows = Vec::new();
        for part in self.parts.iter().rev() {
            let Some(table) = part.segment.ids() else { continue };
            rows.clear();
            table.numbers(0, table.find(xxh3_64(id))?, &mut rows)?;
            for row in rows.iter().rev() {
                let row = part.segment.checked(*row)?;
                let is_it = part.is_live(row) && *part.segment.id(row)? == *id;
                if is_it && part.segment.flags(row)? & SHADOW == 0 {
                    return Ok(Some(part.first + row));
                }
            }
        }
        Ok(None)
    }

    /// The live documents with this content, shadows included, in ascending order. Errors: damaged.
    pub fn find_content(&self, content: u128) -> Result<Vec<u64>> {
        let (mut found, mut rows, mut lower) = (Vec::new(), Vec::new(), Vec::new());
        for part in &self.parts {
            let Some(table) = part.segment.contents() else { continue };
            let places = table.find((content >> 64) as u64)?;
            rows.clear();
            lower.clear();
            table.numbers(0, places.clone(), &mut rows)?;
            table.numbers(1, places, &mut lower)?;
            for (row, _) in rows.iter().zip(&lower).filter(|(_, lower)| **lower == content as u64) {
                let row = part.segment.checked(*row)?;
                found.extend(part.is_live(row).then_some(part.first + row));
            }
        }
        Ok(found)
    }

    /// Calls `work` with the place of each key, and each part and table that has it with its places there. Keys come in order, and the
    /// parts of a key in order of arrival. Errors: the keys do not ascend, damaged, or those of `work`.
    fn each_key(
        &self,
        which: Which,
        keys: &[u64],
        mut work: impl FnMut(usize, &Part, &Table, Range<u64>) -> Result<()>,
    ) -> Result<()> {
        let parts: Vec<(&Part, &Table)> =
            self.parts.iter().filter_map(|part| Some((part, part.segment.keyed(which)?))).collect();
        if !keys.is_sorted() {
            return Err(Error::refused("keys of a batch must ascend: sort them first"));
        }
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            let mut found = Vec::with_capacity(parts.len());
            for (_, table) in &parts {
                let mut places = Vec::with_capacity(keys.len());
                table.find_sorted(keys, |_, rows| places.push(rows))?;
                found.push(places);
            }
            for i in 0..keys.len() {
                for ((part, table), places) in parts.iter().zip(&found) {
                    if let Some(places) = places.get(i).filter(|places| !places.is_empty()) {
                        work(batch * BATCH + i, part, table, places.clone())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `seen` with the place of each key and the number of each live document that has it, shadows included. Keys come in order;
    /// numbers ascend within a key, each once. Errors: the keys do not ascend, or damaged.
    pub fn holders(&self, which: Which, keys: &[u64], mut seen: impl FnMut(usize, u64)) -> Result<()> {
        let mut buffer = Vec::new();
        self.each_key(which, keys, |place, part, table, places| {
            part.live(table, places, &mut buffer, |number| seen(place, number))
        })
    }

    /// Appends the first and the last live holders of a key in ascending order, each once, and returns the number of all. Where nothing is
    /// removed, the holders in between are not read, except in tables that may name one several times. Errors: damaged.
    pub fn first_and_last(&self, which: Which, key: u64, first: usize, last: usize, out: &mut Vec<u64>) -> Result<u64> {
        let mut count = 0;
        self.ends(which, &[key], first, last, &mut |_, numbers, all| {
            out.extend_from_slice(numbers);
            count = all;
            Ok(())
        })?;
        Ok(count)
    }

    /// As [`Snapshot::first_and_last`] for several keys, which ascend: calls `seen` with the place of each key that has holders, the first
    /// and last of these, and the number of all. Errors: the keys do not ascend, damaged, or those of `seen`.
    pub fn ends(&self, which: Which, keys: &[u64], first: usize, last: usize, seen: SeenEnds<'_>) -> Result<()> {
        let mut ends = Ends { first, last, heads: Vec::new(), tail: Vec::new(), all: 0 };
        let (mut buffer, mut current) = (Vec::new(), 0);
        self.each_key(which, keys, |place, part, table, places| {
            if place != current {
                ends.hand_over(current, seen)?;
                current = place;
            }
            if part.removed.is_some() || tables::may_repeat(table.schema()) {
                return part.live(table, places, &mut buffer, |number| ends.push(number));
            }
            let count = places.end - places.start;
            let wanted = (first.saturating_sub(ends.heads.len()) as u64).min(count);
            let after = count.saturating_sub(last as u64).max(wanted);
            part.live(table, places.start..places.start + wanted, &mut buffer, |number| ends.push(number))?;
            ends.all += after - wanted;
            part.live(table, places.start + after..places.end, &mut buffer, |number| ends.push(number))
        })?;
        ends.hand_over(current, seen)
    }

    /// What is known of a document, removed or not. Errors: there is no such number, or damaged.
    pub fn row(&self, number: u64) -> Result<StoredRow> {
        let (part, row) = self.part(number)?;
        part.segment.row(row)
    }

    /// The id of a document. Errors: there is no such number, or damaged.
    pub fn id(&self, number: u64) -> Result<Cow<'_, [u8]>> {
        let (part, row) = self.part(number)?;
        part.segment.id(row)
    }

    /// The flags of a document. Errors: there is no such number, or damaged.
    pub fn flags(&self, number: u64) -> Result<u32> {
        let (part, row) = self.part(number)?;
        part.segment.flags(row)
    }

    /// Number of distinct shingles of a document. Errors: there is no such number, or damaged.
    pub fn shingles(&self, number: u64) -> Result<u32> {
        let (part, row) = self.part(number)?;
        part.segment.shingles(row)
    }

    /// What is shown of a document, a JSON object. Errors: there is no such number, or damaged.
    pub fn meta(&self, number: u64) -> Result<Cow<'_, [u8]>> {
        let (part, row) = self.part(number)?;
        part.segment.meta(row)
    }

    /// The hash of the content of a document. Errors: there is no such number, or damaged.
    pub fn content(&self, number: u64) -> Result<u128> {
        let (part, row) = self.part(number)?;
        part.segment.content(row)
    }

    /// The elements of the sketch of a document; empty if it has none. Errors: there is no such number, or damaged.
    pub fn sketch(&self, number: u64) -> Result<Vec<u32>> {
        let (part, row) = self.part(number)?;
        part.segment.sketch(row)
    }

    /// The tokens of a document; none for prose. Errors: there is no such number, or damaged.
    pub fn tokens(&self, number: u64) -> Result<Option<Cow<'_, [u8]>>> {
        let (part, row) = self.part(number)?;
        part.segment.tokens(row)
    }

    /// The compressed text of a document; none if it is not kept. Errors: there is no such number, or damaged.
    pub fn text(&self, number: u64) -> Result<Option<Cow<'_, [u8]>>> {
        let (part, row) = self.part(number)?;
        part.segment.text(row)
    }

    /// Number and simhash of all live documents that have one, shadows included, in ascending order. Errors: damaged.
    pub fn simhashes(&self) -> Result<impl Iterator<Item = (u64, u64)> + '_> {
        let columns = self.parts.iter().map(|part| Ok((part, part.segment.simhashes()?)));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(columns.into_iter().flat_map(|(part, simhashes)| {
            let rows = simhashes.rows.iter().map(|row| u64::from(*row)).zip(simhashes.values.iter().copied());
            rows.filter(|(row, _)| part.is_live(*row)).map(|(row, value)| (part.first + row, value))
        }))
    }

    /// The numbers of all live starter code, ascending. Cost: the flags of all documents. Errors: damaged.
    pub fn templates(&self) -> Result<Vec<u64>> {
        let all = self.submitters()?;
        let is_template = |(_, flags): &(&u64, &u32)| **flags & TEMPLATE != 0;
        Ok(all.numbers.iter().zip(&all.flags).filter(is_template).map(|(number, _)| *number).collect())
    }

    /// The persons of all live documents that are no shadows. Errors: damaged.
    pub fn submitters(&self) -> Result<Submitters> {
        let mut found = Submitters::default();
        let [mut submitters, mut known_as, mut flags] = [const { Vec::new() }; 3];
        for part in &self.parts {
            [&mut submitters, &mut known_as, &mut flags].into_iter().for_each(Vec::clear);
            part.segment.submitters(&mut submitters, &mut known_as, &mut flags)?;
            let columns = submitters.iter().zip(&known_as).zip(&flags);
            for (row, ((submitter, known_as), flags)) in columns.enumerate() {
                if part.is_live(row as u64) && flags & u64::from(SHADOW) == 0 {
                    found.numbers.push(part.first + row as u64);
                    found.submitters.push(*submitter);
                    found.known_as.push(*known_as);
                    found.flags.push(*flags as u32);
                }
            }
        }
        Ok(found)
    }
}

/// The first and the last of a sequence of numbers.
struct Ends {
    first: usize,
    last: usize,
    heads: Vec<u64>,
    /// The latest numbers behind the first ones, at most twice as many as wanted.
    tail: Vec<u64>,
    all: u64,
}

impl Ends {
    fn push(&mut self, number: u64) {
        self.all += 1;
        if self.heads.len() < self.first {
            return self.heads.push(number);
        }
        self.tail.push(number);
        if self.tail.len() > self.last.saturating_mul(2) {
            self.tail.drain(..self.tail.len() - self.last);
        }
    }

    /// Hands over the numbers of a key, if there are any, and begins with the next key.
    fn hand_over(&mut self, place: usize, seen: SeenEnds<'_>) -> Result<()> {
        if self.all > 0 {
            self.tail.drain(..self.tail.len().saturating_sub(self.last));
            self.heads.append(&mut self.tail);
            seen(place, &self.heads, self.all)?;
        }
        self.heads.clear();
        self.tail.clear();
        self.all = 0;
        Ok(())
    }
}
