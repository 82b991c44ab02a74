//! Writes a segment: texts straight into the file, everything else sorted or spooled within a memory budget.
//!
//! Rows are numbered in the order in which documents are pushed. Keys go through sorters that spill to files beside the segment
//! (`lookalike_table::spill`); tables by row wait in spools (`spool.rs`). The names of all temporary files begin with that of the
//! segment without its suffix; they are removed when the writer ends, also after an error. The segment has its name only when it is
//! complete and durable.
//!
//! Cost: per document, one pass over its bytes and one sort of its keys; memory is the budget and some pages.

use super::spool::Spool;
use super::{bytes_of_leader, number_of_time, tables};
use crate::record::Document;
use crate::shadows::{hidden, is_readable, key_of};
use lookalike_table::disk::Disk;
use lookalike_table::spill::{OwnedKey, PairedKey, Sorted, Sorter, Spillable};
use lookalike_table::{Cell, Error, Result, Writer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// How a segment is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that keys and rows may take in memory.
    pub memory_bytes: usize,
    /// The parameters of the index, stored as they are.
    pub parameters: Vec<u8>,
}

/// What a finished segment is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Number of documents.
    pub rows: u64,
    /// Bytes of the file.
    pub length: u64,
    /// The seal of the file.
    pub seal: u64,
}

/// Errors: long work was asked to end.
#[inline]
pub(crate) fn unless(stop: &AtomicBool) -> Result<()> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Error::refused("the work was interrupted: nothing is changed")),
        false => Ok(()),
    }
}

/// Where temporary files of a segment go, and how much memory there is.
type Place<'a> = Option<(&'a Arc<dyn Disk>, &'a Path, usize)>;

/// The path of a temporary file of a segment.
pub(crate) fn beside(path: &Path, table: &str) -> PathBuf {
    path.with_extension(table)
}

/// A segment that is being written.
#[derive(Debug)]
pub struct SegmentWriter {
    writer: Writer,
    waiting: Waiting,
}

impl SegmentWriter {
    /// Begins a segment. Nothing has its name before [`Self::finish`]. Errors: the system refuses.
    pub fn new(disk: Arc<dyn Disk>, path: &Path, settings: Settings) -> Result<Self> {
        let writer = Writer::create(disk.clone(), path)?;
        let mut waiting = Waiting::new(Some((&disk, path, settings.memory_bytes)))?;
        waiting.parameters = settings.parameters;
        Ok(Self { writer, waiting })
    }

    /// Appends a document. Errors: it cannot be stored, or the system refuses; then the segment cannot be finished.
    pub fn push(&mut self, document: &Document) -> Result<()> {
        self.waiting.push(document, &mut self.writer)
    }

    /// Number of documents so far.
    pub fn rows(&self) -> u64 {
        self.waiting.rows
    }

    /// Completes the segment and gives it its name. Errors: the system refuses.
    pub fn finish(self) -> Result<Written> {
        self.finish_unless(&AtomicBool::new(false))
    }

    /// As [`Self::finish`], but ends with an error soon after `stop` is set.
    pub fn finish_unless(mut self, stop: &AtomicBool) -> Result<Written> {
        let rows = self.waiting.rows;
        self.waiting.write_to(&mut self.writer, stop)?;
        let written = self.writer.finish()?;
        Ok(Written { rows, length: written.length, seal: written.seal })
    }
}

/// Makes the bytes of a segment in memory. Errors: a document cannot be stored.
pub(crate) fn in_memory(documents: &[Document], parameters: &[u8]) -> Result<Vec<u8>> {
    Writer::in_memory(|writer| {
        let mut waiting = Waiting::new(None)?;
        waiting.parameters = parameters.to_vec();
        documents.iter().try_for_each(|document| waiting.push(document, writer))?;
        waiting.write_to(writer, &AtomicBool::new(false))
    })
}

/// What waits until the texts are written.
#[derive(Debug)]
struct Waiting {
    rows: u64,
    parameters: Vec<u8>,
    has_texts: bool,
    is_failed: bool,
    documents: Spool,
    tokens: Spool,
    sketches: Spool,
    simhashes: Spool,
    ids: Sorter<OwnedKey>,
    contents: Sorter<PairedKey>,
    postings: Sorter<OwnedKey>,
    literals: Sorter<OwnedKey>,
    features: Sorter<OwnedKey>,
    samples: Sorter<OwnedKey>,
    /// Keys of one document, to reuse the memory.
    keys: Vec<u64>,
}

/// A sorter of a table with this share of the budget, in sixteenths.
fn sorter<R: Spillable>(place: Place<'_>, name: &str, share: usize) -> Sorter<R> {
    Sorter::of(place.map(|(disk, path, memory)| (disk.clone(), memory / 16 * share, beside(path, name))))
}

/// A spool of a table with a sixteenth of the budget.
fn spool(place: Place<'_>, name: &str) -> Result<Spool> {
    let system: Arc<dyn Disk> = Arc::new(lookalike_table::disk::System);
    let (disk, path, memory) = place.unwrap_or((&system, Path::new("memory"), usize::MAX));
    Spool::new(disk.clone(), beside(path, name), memory / 16, tables::schema(name))
}

impl Waiting {
    fn new(place: Place<'_>) -> Result<Self> {
        Ok(Self {
            rows: 0,
            parameters: Vec::new(),
            has_texts: false,
            is_failed: false,
            documents: spool(place, tables::DOCUMENTS)?,
            tokens: spool(place, tables::TOKENS)?,
            sketches: spool(place, tables::SKETCHES)?,
            simhashes: spool(place, tables::SIMHASHES)?,
            ids: sorter(place, tables::IDS, 1),
            contents: sorter(place, tables::CONTENTS, 1),
            postings: sorter(place, tables::POSTINGS, 5),
            literals: sorter(place, tables::LITERALS, 1),
            features: sorter(place, tables::FEATURES, 2),
            samples: sorter(place, tables::SAMPLES, 2),
            keys: Vec::new(),
        })
    }

    /// Takes a document. After an error nothing more is taken: some of its rows may be there, others not.
    fn push(&mut self, document: &Document, writer: &mut Writer) -> Result<()> {
        if self.is_failed {
            return Err(Error::refused("the segment could not be written before: begin again"));
        }
        let row = u32::try_from(self.rows).ok().filter(|row| *row < u32::MAX);
        let row = row.ok_or_else(|| Error::refused("a segment holds less than 2^32 documents: begin another"))?;
        self.is_failed = true;
        let hashed = is_readable(document.flags, &document.id).then(|| hidden(document));
        let document = hashed.as_ref().unwrap_or(document);
        self.push_rows(row, document, writer)?;
        self.push_keys(row, document)?;
        self.is_failed = false;
        self.rows += 1;
        Ok(())
    }

    /// Takes what is stored by row.
    fn push_rows(&mut self, row: u32, document: &Document, writer: &mut Writer) -> Result<()> {
        let key = u64::from(row);
        if !document.text.is_empty() {
            if !self.has_texts {
                writer.begin(tables::schema(tables::TEXTS))?;
                self.has_texts = true;
            }
            writer.push(key, &[Cell::Bytes(&document.text)])?;
        }
        let (content, leader) = (document.content.to_be_bytes(), bytes_of_leader(document.leader.as_ref()));
        self.documents.push(key, &cells(document, &content, &leader))?;
        if !document.tokens.is_empty() {
            self.tokens.push(key, &[Cell::Bytes(&document.tokens)])?;
        }
        if !document.sketch.is_empty() {
            let bytes: Vec<u8> = document.sketch.iter().flat_map(|element| element.to_le_bytes()).collect();
            self.sketches.push(key, &[Cell::Bytes(&bytes)])?;
        }
        document.simhash.map_or(Ok(()), |simhash| self.simhashes.push(key, &[Cell::Number(simhash)]))
    }

    /// Takes the keys by which the document is found.
    fn push_keys(&mut self, row: u32, document: &Document) -> Result<()> {
        self.ids.push(row, &[key_of(document.flags, &document.id)])?;
        let (upper, lower) = ((document.content >> 64) as u64, document.content as u64);
        self.contents.add(PairedKey { key: upper, owner: row, rest: lower })?;
        let Self { keys, postings, literals, features, samples, .. } = self;
        for (sorter, some) in [
            (postings, &document.postings),
            (literals, &document.literals),
            (features, &document.features),
            (samples, &document.samples),
        ] {
            keys.clear();
            keys.extend_from_slice(some);
            keys.sort_unstable();
            keys.dedup();
            sorter.push(row, keys)?;
        }
        Ok(())
    }

    /// Writes all tables but the texts. Errors: the system refuses.
    fn write_to(self, writer: &mut Writer, stop: &AtomicBool) -> Result<()> {
        if self.is_failed {
            return Err(Error::refused("the segment could not be written before: begin again"));
        }
        write_spool(self.documents, tables::DOCUMENTS, writer, stop)?;
        write_spool(self.tokens, tables::TOKENS, writer, stop)?;
        write_spool(self.sketches, tables::SKETCHES, writer, stop)?;
        write_spool(self.simhashes, tables::SIMHASHES, writer, stop)?;
        write_sorted(self.ids, tables::IDS, writer, stop)?;
        write_sorted(self.contents, tables::CONTENTS, writer, stop)?;
        write_sorted(self.postings, tables::POSTINGS, writer, stop)?;
        write_sorted(self.literals, tables::LITERALS, writer, stop)?;
        write_sorted(self.features, tables::FEATURES, writer, stop)?;
        write_sorted(self.samples, tables::SAMPLES, writer, stop)?;
        write_parameters(&self.parameters, writer)
    }
}

/// Writes the table of parameters. Errors: the system refuses.
pub(crate) fn write_parameters(parameters: &[u8], writer: &mut Writer) -> Result<()> {
    writer.begin(tables::schema(tables::PARAMETERS))?;
    writer.push(0, &[Cell::Bytes(parameters)])
}

fn write_spool(spool: Spool, name: &str, writer: &mut Writer, stop: &AtomicBool) -> Result<()> {
    unless(stop)?;
    if spool.is_empty() {
        return Ok(());
    }
    writer.begin(tables::schema(name))?;
    spool.write_to(name, writer)
}

fn write_sorted<R: Spillable>(sorter: Sorter<R>, name: &str, writer: &mut Writer, stop: &AtomicBool) -> Result<()> {
    unless(stop)?;
    if sorter.is_empty() {
        return Ok(());
    }
    writer.begin(tables::schema(name))?;
    let mut rows: Sorted<R> = sorter.finish()?;
    while let Some(row) = rows.next_row()? {
        unless(stop)?;
        row.write(writer)?;
    }
    Ok(())
}

/// The columns of a document.
fn cells<'a>(document: &'a Document, content: &'a [u8], leader: &'a [u8]) -> [Cell<'a>; 11] {
    [
        Cell::Bytes(&document.id),
        Cell::Bytes(&document.meta),
        Cell::Number(document.submitter),
        Cell::Number(document.known_as),
        Cell::Number(number_of_time(document.time)),
        Cell::Number(u64::from(document.flags)),
        Cell::Bytes(content),
        Cell::Number(u64::from(document.shingles)),
        Cell::Number(u64::from(document.length)),
        Cell::Number(document.bytes),
        Cell::Bytes(leader),
    ]
}
