//! The mark of a document: its content hash, and a hash of everything else that is stored and that its source said.
//!
//! Two documents with one id and one mark are the same; another mark is a change. Where a row stood when it was read (source, line, and
//! the run of dedup that added it) is not part of the mark: a row that moves to another line is not changed.
//!
//! Cost: one pass over the meta data.

use crate::record::Document;
use crate::segment::StoredRow;
use lookalike_json::members;
use xxhash_rust::xxh3::Xxh3;

/// Bytes of a mark: the content hash, the highest byte first, and the other hash, the lowest first.
pub const MARK_BYTES: usize = 24;
/// Fields of the meta data that tell where a row stood.
const PLACES: [&str; 4] = ["source", "line", "row", "run"];

/// What a mark is made of, beside the content.
#[derive(Clone, Copy, Debug)]
pub struct Marked<'a> {
    /// The meta data.
    pub meta: &'a [u8],
    /// The time.
    pub time: i64,
    /// The hashed keys of the person.
    pub persons: [u64; 2],
    /// The flags.
    pub flags: u32,
}

impl Marked<'_> {
    /// The mark of a document with this content.
    pub fn mark(self, content: u128) -> [u8; MARK_BYTES] {
        let mut state = Xxh3::new();
        let mut put = |bytes: &[u8]| {
            state.update(&(bytes.len() as u64).to_le_bytes());
            state.update(bytes);
        };
        let read = members(
            self.meta,
            |key| !PLACES.contains(&key),
            |key, value| {
                put(key.as_bytes());
                put(value.as_bytes());
            },
        );
        if read.is_err() {
            put(self.meta);
        }
        put(&self.time.to_le_bytes());
        self.persons.iter().for_each(|person| put(&person.to_le_bytes()));
        put(&self.flags.to_le_bytes());
        let (content, rest) = (content.to_be_bytes(), state.digest().to_le_bytes());
        std::array::from_fn(|at| if at < 16 { content[at] } else { rest[at - 16] })
    }
}

impl Document {
    /// Its mark.
    pub fn mark(&self) -> [u8; MARK_BYTES] {
        let persons = [self.submitter, self.known_as];
        Marked { meta: &self.meta, time: self.time, persons, flags: self.flags }.mark(self.content)
    }
}

impl StoredRow {
    /// Its mark.
    pub fn mark(&self) -> [u8; MARK_BYTES] {
        let persons = [self.submitter, self.known_as];
        Marked { meta: &self.meta, time: self.time, persons, flags: self.flags }.mark(self.content)
    }
}
