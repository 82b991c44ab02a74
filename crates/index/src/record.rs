//! A signed document, and its record: the bytes in which it waits in the catalogue and travels between programs.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | version of the record, 2 |
//! | | the fields in the order of [`Document`], as below |
//! | 8 | XXH3-64 of everything before |
//!
//! All numbers are little-endian. Bytes and lists start with their length as a *short number*: 7 bits per byte, the lowest first, with the
//! highest bit set in all bytes but the last. Keys, elements and samples have their full width. An optional field is one byte, 0 or 1, and
//! then its value if that is 1. A score is the four bytes of the number.
//!
//! In version 1, which is still read, two short numbers followed each posting: where the k-gram stood. No question needs them.
//!
//! Cost: linear; a million postings per 10 ms. A record that is cut, changed or longer than its fields is refused.

use lookalike_core::sketch::shingle::into_set;
use lookalike_table::{Error, Result};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// The version of records that is written.
pub const VERSION: u8 = 2;
/// The version before, which is read too.
const PLACED: u8 = 1;
/// The flag of a document that dedup removed: it has a content hash and keys, and stands for its leader.
pub const SHADOW: u32 = 1;
/// The flag of a document that is starter code.
pub const TEMPLATE: u32 = 2;
/// The time of a document without one.
pub const NO_TIME: i64 = i64::MIN;
/// Bytes of the checksum at the end.
const SUM: usize = 8;

/// A signed document: everything that any question needs of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its name in the index, unique among live documents; of a shadow the hash of its id (`shadows.rs`).
    pub id: Vec<u8>,
    /// A JSON object of what is shown; never searched here.
    pub meta: Vec<u8>,
    /// XXH3-64 of the person's key; 0 for rows of a corpus.
    pub submitter: u64,
    /// XXH3-64 of the person's other key; 0 for none.
    pub known_as: u64,
    /// Seconds since 1970; [`NO_TIME`] for none.
    pub time: i64,
    /// [`SHADOW`], [`TEMPLATE`].
    pub flags: u32,
    /// Of a shadow: the document that was kept for it.
    pub leader: Option<Leader>,
    /// XXH3-128 of the readable text.
    pub content: u128,
    /// Identities of the selected k-grams of all parts, ascending and distinct.
    pub postings: Vec<u64>,
    /// Hashes of the exact texts of string literals.
    pub literals: Vec<u64>,
    /// Keys of the filter of resemblance.
    pub features: Vec<u64>,
    /// Elements of the sketch; empty if the document is too short.
    pub sketch: Vec<u32>,
    /// Ids of sampled shingles, ascending and distinct.
    pub samples: Vec<u64>,
    /// The simhash; none without features.
    pub simhash: Option<u64>,
    /// Number of distinct shingles.
    pub shingles: u32,
    /// Number of tokens.
    pub length: u32,
    /// Bytes of the readable text.
    pub bytes: u64,
    /// Tokens of source code as `compare` stores them; opaque here. Empty for prose.
    pub tokens: Vec<u8>,
    /// Readable texts, compressed; empty if they are not kept.
    pub text: Vec<u8>,
}

/// The document that was kept for a shadow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leader {
    /// Its id; in a stored shadow the hash of it.
    pub id: Vec<u8>,
    /// The exact score.
    pub score: f32,
    /// How the two are linked, as dedup numbers it.
    pub link: u8,
}

impl Document {
    /// Whether it is a shadow.
    pub fn is_shadow(&self) -> bool {
        self.flags & SHADOW != 0
    }

    /// Makes the record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size());
        out.push(VERSION);
        put_bytes(&mut out, &self.id);
        put_bytes(&mut out, &self.meta);
        out.extend(self.submitter.to_le_bytes());
        out.extend(self.known_as.to_le_bytes());
        out.extend(self.time.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        put_leader(&mut out, self.leader.as_ref());
        out.extend(self.content.to_le_bytes());
        put_keys(&mut out, &self.postings);
        put_keys(&mut out, &self.literals);
        put_keys(&mut out, &self.features);
        put_number(&mut out, self.sketch.len() as u64);
        out.extend(self.sketch.iter().flat_map(|element| element.to_le_bytes()));
        put_keys(&mut out, &self.samples);
        out.push(u8::from(self.simhash.is_some()));
        self.simhash.iter().for_each(|simhash| out.extend(simhash.to_le_bytes()));
        out.extend(self.shingles.to_le_bytes());
        out.extend(self.length.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        put_bytes(&mut out, &self.tokens);
        put_bytes(&mut out, &self.text);
        let sum = xxh3_64(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// About how many bytes the record takes.
    fn size(&self) -> usize {
        let bytes = self.id.len() + self.meta.len() + self.tokens.len() + self.text.len();
        let keys = self.postings.len() + self.literals.len() + self.features.len() + self.samples.len();
        160 + bytes + keys * 8 + self.sketch.len() * 4
    }

    /// Reads a record. Errors: it is cut, damaged, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let path = Path::new("record");
        let told = bytes.len().checked_sub(SUM).and_then(|at| bytes.split_at_checked(at));
        let Some((body, sum)) = told.filter(|(body, _)| !body.is_empty()) else {
            return Err(Error::damaged(path, "it is cut"));
        };
        if xxh3_64(body).to_le_bytes() != sum {
            return Err(Error::damaged(path, "it fails its checksum"));
        }
        let (version, fields) = (body[0], &body[1..]);
        if ![VERSION, PLACED].contains(&version) {
            return Err(Error::Version { path: path.to_owned(), found: version, known: VERSION });
        }
        let mut reader = Reader(fields);
        let document = reader.document(version).filter(|_| reader.0.is_empty());
        document.ok_or_else(|| Error::damaged(path, "its fields are inconsistent"))
    }
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_keys(out: &mut Vec<u8>, keys: &[u64]) {
    put_number(out, keys.len() as u64);
    out.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
}

fn put_leader(out: &mut Vec<u8>, leader: Option<&Leader>) {
    out.push(u8::from(leader.is_some()));
    if let Some(leader) = leader {
        put_bytes(out, &leader.id);
        out.extend(leader.score.to_le_bytes());
        out.push(leader.link);
    }
}

/// The bytes that were not read yet. Every method returns `None` if they do not hold what is read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn is_there(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A short number. One with more bytes than it needs is refused, so that equal documents have equal records.
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 || shift > 63 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return (byte != 0 || shift == 0).then_some(number);
            }
            shift += 7;
        }
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = self.number()?;
        self.take(length).map(<[u8]>::to_vec)
    }

    fn keys(&mut self) -> Option<Vec<u64>> {
        let bytes = self.number()?.checked_mul(8)?;
        let (keys, _) = self.take(bytes)?.as_chunks();
        Some(keys.iter().map(|key| u64::from_le_bytes(*key)).collect())
    }

    fn elements(&mut self) -> Option<Vec<u32>> {
        let bytes = self.number()?.checked_mul(4)?;
        let (elements, _) = self.take(bytes)?.as_chunks();
        Some(elements.iter().map(|element| u32::from_le_bytes(*element)).collect())
    }

    fn leader(&mut self) -> Option<Option<Leader>> {
        if !self.is_there()? {
            return Some(None);
        }
        let (id, score, link) = (self.bytes()?, f32::from_le_bytes(self.array()?), self.byte()?);
        Some(Some(Leader { id, score, link }))
    }

    /// Postings of version 1: each key with the places where it stood, which are left out.
    fn placed_keys(&mut self) -> Option<Vec<u64>> {
        let count = usize::try_from(self.number()?).ok()?;
        // Each takes ten bytes or more, so a large count without them takes no memory.
        let mut keys = Vec::with_capacity(count.min(self.0.len() / 10));
        for _ in 0..count {
            keys.push(self.u64()?);
            for _ in ["token", "last - token"] {
                u32::try_from(self.number()?).ok()?;
            }
        }
        into_set(&mut keys);
        Some(keys)
    }

    /// All fields, in the order of the record.
    fn document(&mut self, version: u8) -> Option<Document> {
        Some(Document {
            id: self.bytes()?,
            meta: self.bytes()?,
            submitter: self.u64()?,
            known_as: self.u64()?,
            time: self.array().map(i64::from_le_bytes)?,
            flags: self.u32()?,
            leader: self.leader()?,
            content: self.array().map(u128::from_le_bytes)?,
            postings: if version == PLACED { self.placed_keys()? } else { self.keys()? },
            literals: self.keys()?,
            features: self.keys()?,
            sketch: self.elements()?,
            samples: self.keys()?,
            simhash: if self.is_there()? { Some(self.u64()?) } else { None },
            shingles: self.u32()?,
            length: self.u32()?,
            bytes: self.u64()?,
            tokens: self.bytes()?,
            text: self.bytes()?,
        })
    }
}
