//! A segment: signed documents in one immutable file of tables, on disk or in memory.
//!
//! ```text
//! Document ─▶ SegmentWriter ─▶ file of tables ─▶ Segment ─▶ Snapshot, compaction
//!             writer.rs        tables.rs         here        verify.rs: all of it; records.rs: documents again;
//!                                                            salvage.rs: those of a damaged file
//! ```
//!
//! **Trust.** Opening checks the footer and that every table has its columns. Pages are verified when they are first read. A row number from
//! a table is compared with the number of documents before it is used. Damage is an error, never a missing answer.
//!
//! **Cost.** Opening takes 32 bytes of memory per page of 32 KiB. Simhashes are kept in memory once they are asked for, 8 to 12 bytes each.

pub mod records;
pub mod salvage;
mod spool;
pub mod tables;
mod verify;
pub mod writer;

use crate::record::{Document, Leader};
use crate::shadows::Shadows;
use lookalike_table::disk::{Bytes, Disk};
use lookalike_table::{Access, Error, Result, Table, TableFile};
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tables::document as column;

/// Flags that are read at a time.
const FLAGS_AT_A_TIME: usize = 1 << 16;

/// A table that is searched by keys of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// Selected k-grams.
    Postings,
    /// Texts of string literals.
    Literals,
    /// Keys of the filter of resemblance.
    Features,
    /// Sampled shingles.
    Samples,
}

impl Which {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Postings, Self::Literals, Self::Features, Self::Samples];

    /// The name of the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postings => tables::POSTINGS,
            Self::Literals => tables::LITERALS,
            Self::Features => tables::FEATURES,
            Self::Samples => tables::SAMPLES,
        }
    }
}

/// What is known of a stored document, without its keys and texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRow {
    /// Its name in the index; of a shadow the hash of its id.
    pub id: Vec<u8>,
    /// A JSON object of what is shown.
    pub meta: Vec<u8>,
    /// XXH3-64 of the person's key, or 0.
    pub submitter: u64,
    /// XXH3-64 of the person's other key, or 0.
    pub known_as: u64,
    /// Seconds since 1970, or [`crate::record::NO_TIME`].
    pub time: i64,
    /// [`crate::record::SHADOW`], [`crate::record::TEMPLATE`].
    pub flags: u32,
    /// XXH3-128 of the readable text.
    pub content: u128,
    /// Number of distinct shingles.
    pub shingles: u32,
    /// Number of tokens.
    pub length: u32,
    /// Bytes of the readable text.
    pub bytes: u64,
    /// Of a shadow: the document that was kept for it.
    pub leader: Option<Leader>,
}

/// The simhashes of a segment, in order of rows.
#[derive(Debug, Default)]
pub struct Simhashes {
    /// The rows that have one.
    pub rows: Vec<u32>,
    /// Their simhashes.
    pub values: Vec<u64>,
}

/// Documents that were written together. Rows are numbered from 0 in order of arrival.
#[derive(Debug)]
pub struct Segment {
    file: Arc<TableFile>,
    rows: u64,
    parameters: Vec<u8>,
    documents: Option<Table>,
    texts: Option<Table>,
    tokens: Option<Table>,
    sketches: Option<Table>,
    ids: Option<Table>,
    contents: Option<Table>,
    keyed: [Option<Table>; 4],
    simhashes: OnceLock<Simhashes>,
    shadows: OnceLock<Shadows>,
}

impl Segment {
    /// Opens a segment; its file is mapped. Errors: it is missing, damaged, or of another version.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<Self> {
        Self::of_file(TableFile::open(disk, path, Access::Mapped)?)
    }

    /// Opens a damaged segment for [`Self::salvage`]: parameters that cannot be read are empty. Errors: as [`Self::open`].
    pub fn open_damaged(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let file = TableFile::open(disk, path, Access::Mapped)?;
        let parameters = parameters_of(&file).unwrap_or_default();
        Self::with_parameters(file, parameters)
    }

    /// Name, rows and bytes of each table.
    pub fn sizes(&self) -> Result<Vec<(String, u64, u64)>> {
        let sized = |name: String| self.file.table(&name).map(|table| (name, table.len(), table.size()));
        self.file.schemas().map(|schema| schema.name.clone()).map(sized).collect()
    }

    /// Opens the bytes of a segment; `path` names it in errors. Errors: as [`Self::open`].
    pub fn of(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        Self::of_file(TableFile::of(path, Bytes::Memory(bytes))?)
    }

    /// Makes a segment in memory. Errors: a document cannot be stored.
    pub fn of_documents(documents: &[Document], parameters: &[u8]) -> Result<Self> {
        Self::of(Path::new("segment in memory"), writer::in_memory(documents, parameters)?)
    }

    fn of_file(file: Arc<TableFile>) -> Result<Self> {
        let parameters = parameters_of(&file)?;
        Self::with_parameters(file, parameters)
    }

    fn with_parameters(file: Arc<TableFile>, parameters: Vec<u8>) -> Result<Self> {
        let documents = table(&file, tables::DOCUMENTS)?;
        let rows = documents.as_ref().map_or(0, Table::len);
        if rows > u64::from(u32::MAX) {
            return Err(Error::damaged(
                file.path(),
                format!("it has `{rows}` documents, more than a segment can hold"),
            ));
        }
        let mut keyed = [const { None }; 4];
        for (place, which) in keyed.iter_mut().zip(Which::ALL) {
            *place = table(&file, which.name())?;
        }
        Ok(Self {
            rows,
            parameters,
            documents,
            texts: table(&file, tables::TEXTS)?,
            tokens: table(&file, tables::TOKENS)?,
            sketches: table(&file, tables::SKETCHES)?,
            ids: table(&file, tables::IDS)?,
            contents: table(&file, tables::CONTENTS)?,
            keyed,
            simhashes: OnceLock::new(),
            shadows: OnceLock::new(),
            file,
        })
    }

    /// The path of the file, or a name for one in memory.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Number of documents.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.file.identity().0
    }

    /// The seal of the file, by which it is told from any other.
    pub fn seal(&self) -> u64 {
        self.file.identity().1
    }

    /// The parameters of the index, as they were given to the writer.
    pub fn parameters(&self) -> &[u8] {
        &self.parameters
    }

    /// A table by its name; none if it has no rows. Errors: it has other columns.
    pub(crate) fn table(&self, name: &str) -> Result<Option<Table>> {
        table(&self.file, name)
    }

    /// The file of tables.
    pub(crate) fn file(&self) -> &Arc<TableFile> {
        &self.file
    }

    /// A table of keys; none if no document has any.
    pub(crate) fn keyed(&self, which: Which) -> Option<&Table> {
        self.keyed[which as usize].as_ref()
    }

    pub(crate) fn ids(&self) -> Option<&Table> {
        self.ids.as_ref()
    }

    pub(crate) fn contents(&self) -> Option<&Table> {
        self.contents.as_ref()
    }

    pub(crate) fn damaged(&self, reason: impl Into<String>) -> Error {
        Error::damaged(self.file.path(), reason)
    }

    /// A row number that a table told. Errors: there is no such document.
    #[inline]
    pub(crate) fn checked(&self, row: u64) -> Result<u64> {
        match row < self.rows {
            true => Ok(row),
            false => Err(self.damaged(format!("it names document `{row}` of `{}`", self.rows))),
        }
    }

    /// The table of documents, for a row that is there. Errors: there is no such row.
    fn document(&self, row: u64) -> Result<&Table> {
        let refused = || Error::refused(format!("document `{row}` is not in a segment of `{}` documents", self.rows));
        self.documents.as_ref().filter(|_| row < self.rows).ok_or_else(refused)
    }

    /// The id of a document. Errors: there is no such row, or damaged.
    pub fn id(&self, row: u64) -> Result<Cow<'_, [u8]>> {
        self.document(row)?.bytes(column::ID, row)
    }

    /// The flags of a document. Errors: there is no such row, or damaged.
    pub fn flags(&self, row: u64) -> Result<u32> {
        self.document(row)?.number(column::FLAGS, row).map(|flags| flags as u32)
    }

    /// Number of distinct shingles of a document. Errors: there is no such row, or damaged.
    pub fn shingles(&self, row: u64) -> Result<u32> {
        self.document(row)?.number(column::SHINGLES, row).map(|shingles| shingles as u32)
    }

    /// What is shown of a document, a JSON object. Errors: there is no such row, or damaged.
    pub fn meta(&self, row: u64) -> Result<Cow<'_, [u8]>> {
        self.document(row)?.bytes(column::META, row)
    }

    /// The hash of the content of a document. Errors: there is no such row, or damaged.
    pub fn content(&self, row: u64) -> Result<u128> {
        let bytes = self.document(row)?.bytes(column::CONTENT, row)?;
        let content = bytes.first_chunk().ok_or_else(|| self.damaged("a content hash is cut"))?;
        Ok(u128::from_be_bytes(*content))
    }

    /// The shadows, which stay listed in memory. Errors: damaged.
    pub(crate) fn shadows(&self) -> Result<&Shadows> {
        if let Some(found) = self.shadows.get() {
            return Ok(found);
        }
        let read = Shadows::of(self)?;
        Ok(self.shadows.get_or_init(|| read))
    }

    /// Calls `seen` with the rows that have a flag, in ascending order. Errors: damaged, or those of `seen`.
    pub(crate) fn each_flagged(&self, flag: u32, mut seen: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let Some(table) = &self.documents else { return Ok(()) };
        let mut flags = Vec::new();
        for start in (0..self.rows).step_by(FLAGS_AT_A_TIME) {
            flags.clear();
            table.numbers(column::FLAGS, start..self.rows.min(start + FLAGS_AT_A_TIME as u64), &mut flags)?;
            let flagged = (start..).zip(&flags).filter(|(_, flags)| **flags & u64::from(flag) != 0);
            flagged.map(|(row, _)| row).try_for_each(&mut seen)?;
        }
        Ok(())
    }

    /// What is known of a document; of a shadow nothing that can be read. Errors: there is no such row, or damaged.
    pub fn row(&self, row: u64) -> Result<StoredRow> {
        let table = self.document(row)?;
        let number = |column| table.number(column, row);
        let bytes = |column| table.bytes(column, row).map(Cow::into_owned);
        let stored = StoredRow {
            id: bytes(column::ID)?,
            meta: bytes(column::META)?,
            submitter: number(column::SUBMITTER)?,
            known_as: number(column::KNOWN_AS)?,
            time: time_of(number(column::TIME)?),
            flags: number(column::FLAGS)? as u32,
            content: self.content(row)?,
            shingles: number(column::SHINGLES)? as u32,
            length: number(column::LENGTH)? as u32,
            bytes: number(column::BYTES)?,
            leader: leader_of(&bytes(column::LEADER)?).ok_or_else(|| self.damaged("a leader cannot be decoded"))?,
        };
        Ok(stored.hidden())
    }

    /// The bytes of a row in a table that does not have all rows. Errors: there is no such row, or damaged.
    fn sparse<'a>(&'a self, table: Option<&'a Table>, row: u64) -> Result<Option<Cow<'a, [u8]>>> {
        self.document(row)?;
        let Some(table) = table else { return Ok(None) };
        let found = table.find(row)?;
        match found.end - found.start {
            0 => Ok(None),
            1 => table.bytes(0, found.start).map(Some),
            _ => Err(self.damaged(format!("table `{}` has document `{row}` twice", table.schema().name))),
        }
    }

    /// The compressed text of a document; none if it is not kept. Errors: there is no such row, or damaged.
    pub fn text(&self, row: u64) -> Result<Option<Cow<'_, [u8]>>> {
        self.sparse(self.texts.as_ref(), row)
    }

    /// The tokens of a document; none for prose. Errors: there is no such row, or damaged.
    pub fn tokens(&self, row: u64) -> Result<Option<Cow<'_, [u8]>>> {
        self.sparse(self.tokens.as_ref(), row)
    }

    /// The elements of the sketch; empty if there is none. Errors: there is no such row, or damaged.
    pub fn sketch(&self, row: u64) -> Result<Vec<u32>> {
        let bytes = self.sparse(self.sketches.as_ref(), row)?.unwrap_or_default();
        let (elements, rest) = bytes.as_chunks();
        match rest.is_empty() {
            true => Ok(elements.iter().map(|element| u32::from_le_bytes(*element)).collect()),
            false => Err(self.damaged(format!("the sketch of document `{row}` is cut"))),
        }
    }

    /// All simhashes, which stay in memory. Errors: damaged.
    pub fn simhashes(&self) -> Result<&Simhashes> {
        if let Some(found) = self.simhashes.get() {
            return Ok(found);
        }
        let read = self.read_simhashes()?;
        Ok(self.simhashes.get_or_init(|| read))
    }

    fn read_simhashes(&self) -> Result<Simhashes> {
        let Some(table) = self.table(tables::SIMHASHES)? else { return Ok(Simhashes::default()) };
        let mut found = Simhashes::default();
        table.numbers(0, 0..table.len(), &mut found.values)?;
        let mut last = None;
        table.keys(0..table.len(), |rows| {
            last = last.max(rows.last().copied());
            found.rows.extend(rows.iter().map(|row| *row as u32));
        })?;
        last.map_or(Ok(0), |last| self.checked(last))?;
        match found.rows.is_sorted_by(|left, right| left < right) {
            true => Ok(found),
            false => Err(self.damaged("its simhashes are not in order")),
        }
    }

    /// Appends submitter, other submitter and flags of all documents. Errors: damaged.
    pub fn submitters(&self, submitters: &mut Vec<u64>, known_as: &mut Vec<u64>, flags: &mut Vec<u64>) -> Result<()> {
        let Some(table) = &self.documents else { return Ok(()) };
        table.numbers(column::SUBMITTER, 0..self.rows, submitters)?;
        table.numbers(column::KNOWN_AS, 0..self.rows, known_as)?;
        table.numbers(column::FLAGS, 0..self.rows, flags)
    }
}

/// What a segment says of its index. Errors: damaged, or it is not a segment.
fn parameters_of(file: &Arc<TableFile>) -> Result<Vec<u8>> {
    match table(file, tables::PARAMETERS)? {
        Some(table) if table.len() == 1 => Ok(table.bytes(0, 0)?.into_owned()),
        _ => Err(Error::damaged(file.path(), "it is not a segment: it has no parameters")),
    }
}

/// A table of a file; none if it is not there. Errors: it has other columns, or another version.
fn table(file: &Arc<TableFile>, name: &str) -> Result<Option<Table>> {
    let Some(found) = file.schemas().find(|schema| schema.name == name) else { return Ok(None) };
    let newest = tables::schema(name);
    let known = tables::earlier(name).filter(|known| known.version == found.version).unwrap_or(newest);
    if found.version != known.version {
        let found = u8::try_from(found.version).unwrap_or(u8::MAX);
        return Err(Error::Version { path: file.path().to_owned(), found, known: known.version as u8 });
    }
    match found.columns == known.columns {
        true => file.table(name).map(Some),
        false => Err(Error::damaged(file.path(), format!("table `{name}` has other columns"))),
    }
}

/// A time as a number that sorts like it.
pub(crate) fn number_of_time(time: i64) -> u64 {
    time as u64 ^ 1 << 63
}

fn time_of(number: u64) -> i64 {
    (number ^ 1 << 63) as i64
}

/// The bytes of a leader: score, link, id. Empty for none.
pub(crate) fn bytes_of_leader(leader: Option<&Leader>) -> Vec<u8> {
    let bytes = |leader: &Leader| [&leader.score.to_le_bytes()[..], &[leader.link], &leader.id].concat();
    leader.map(bytes).unwrap_or_default()
}

pub(crate) fn leader_of(bytes: &[u8]) -> Option<Option<Leader>> {
    if bytes.is_empty() {
        return Some(None);
    }
    let (score, rest) = bytes.split_first_chunk()?;
    let (link, id) = rest.split_first()?;
    Some(Some(Leader { id: id.to_vec(), score: f32::from_le_bytes(*score), link: *link }))
}
