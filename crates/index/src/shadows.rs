//! Shadows: rows that dedup removed. Nothing readable of them is kept.
//!
//! A shadow has the content hash, the features and the simhash of its text, its time, and two hashes: of its own id, and of the id of its
//! *leader*, the document that was kept for it. It lives as long as its leader: whoever removes or replaces a document removes the shadows
//! that follow it ([`Snapshot::followers`]). Shadows are never told; they have no id of their own, and several may have one hash.
//!
//! Segments of an earlier version have shadows with readable ids and meta data. They are read as if they had hashes, and written with them.
//!
//! Cost: the shadows of a segment are listed once, by one pass over the flags of its documents; 12 bytes of memory each.

use crate::record::{Document, Leader, SHADOW};
use crate::segment::{Segment, StoredRow};
use crate::snapshot::Snapshot;
use lookalike_table::Result;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes of the hash of an id.
pub const HASH_BYTES: usize = 16;
/// The meta data of a shadow of an earlier version.
pub(crate) const NO_META: &[u8] = b"{}";

/// The hash of an id: XXH3-64 with seed 0, by which documents are found, and XXH3-64 with seed 1.
pub fn hash_of(id: &[u8]) -> [u8; HASH_BYTES] {
    let (found_by, other) = (xxh3_64(id).to_le_bytes(), xxh3_64_with_seed(id, 1).to_le_bytes());
    std::array::from_fn(|at| if at < 8 { found_by[at] } else { other[at - 8] })
}

/// The key by which a stored id is found: XXH3-64 of the id, also if only its hash is stored.
pub(crate) fn key_of(flags: u32, id: &[u8]) -> u64 {
    match id.first_chunk() {
        Some(key) if flags & SHADOW != 0 && id.len() == HASH_BYTES => u64::from_le_bytes(*key),
        _ => xxh3_64(id),
    }
}

/// Whether a stored row is a shadow of an earlier version, whose ids can be read.
pub(crate) fn is_readable(flags: u32, id: &[u8]) -> bool {
    flags & SHADOW != 0 && id.len() != HASH_BYTES
}

/// Makes the shadow of a document. `leader` has the id of the document that was kept, `meta` names the run that added it.
pub fn shadow_of(document: &Document, meta: Vec<u8>, leader: Leader) -> Document {
    Document {
        id: hash_of(&document.id).to_vec(),
        meta,
        time: document.time,
        flags: SHADOW,
        leader: Some(Leader { id: hash_of(&leader.id).to_vec(), ..leader }),
        content: document.content,
        features: document.features.clone(),
        simhash: document.simhash,
        // Whether there is any decides which fingerprints are compared.
        shingles: document.shingles.min(1),
        ..Document::default()
    }
}

/// A shadow of an earlier version as it is stored now.
pub(crate) fn hidden(document: &Document) -> Document {
    let leader = document.leader.clone().unwrap_or_default();
    Document { flags: document.flags, ..shadow_of(document, NO_META.to_vec(), leader) }
}

impl StoredRow {
    /// The row as if a shadow had been stored with hashes alone.
    pub(crate) fn hidden(mut self) -> Self {
        if is_readable(self.flags, &self.id) {
            self.id = hash_of(&self.id).to_vec();
            self.meta = NO_META.to_vec();
            self.leader = self.leader.map(|leader| Leader { id: hash_of(&leader.id).to_vec(), ..leader });
            (self.length, self.bytes, self.shingles) = (0, 0, self.shingles.min(1));
        }
        self
    }
}

/// The shadows of a segment, in order of the keys of their leaders.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    /// The first half of the hash of the leader, and the row.
    by_leader: Vec<(u64, u32)>,
}

impl Shadows {
    /// Lists the shadows of a segment. Errors: damaged.
    pub(crate) fn of(segment: &Segment) -> Result<Self> {
        let mut by_leader = Vec::new();
        segment.each_flagged(SHADOW, |row| {
            let leader = segment.row(row)?.leader.unwrap_or_default();
            by_leader.push((key_of(SHADOW, &leader.id), row as u32));
            Ok(())
        })?;
        by_leader.sort_unstable();
        Ok(Self { by_leader })
    }

    fn following(&self, key: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.by_leader.partition_point(|(other, _)| *other < key);
        self.by_leader[first..].iter().take_while(move |(other, _)| *other == key).map(|(_, row)| u64::from(*row))
    }
}

impl Snapshot {
    /// Number of live documents, without shadows. Errors: damaged.
    pub fn documents(&self) -> Result<u64> {
        Ok(self.live().saturating_sub(self.shadows()?))
    }

    /// Number of live shadows. Errors: damaged.
    pub fn shadows(&self) -> Result<u64> {
        if let Some(known) = self.known_shadows.get() {
            return Ok(*known);
        }
        let mut count = 0;
        for part in self.parts() {
            let shadows = &part.segment().shadows()?.by_leader;
            count += shadows.iter().filter(|(_, row)| part.is_live(u64::from(*row))).count() as u64;
        }
        Ok(*self.known_shadows.get_or_init(|| count))
    }

    /// The live shadows of rows with this id, in ascending order. Errors: damaged.
    pub fn find_shadows(&self, id: &[u8]) -> Result<Vec<u64>> {
        let hash = hash_of(id);
        let mut found = Vec::new();
        self.each_with_key(key_of(SHADOW, &hash), |part, row| {
            let stored = part.segment().row(row)?;
            if stored.flags & SHADOW != 0 && stored.id == hash {
                found.push(part.first() + row);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The newest live document whose id has this hash. Errors: damaged.
    pub fn find_hash(&self, hash: &[u8]) -> Result<Option<u64>> {
        let mut found = None;
        self.each_with_key(key_of(SHADOW, hash), |part, row| {
            let segment = part.segment();
            if segment.flags(row)? & SHADOW == 0 && hash_of(&segment.id(row)?)[..] == *hash {
                found = Some(part.first() + row);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The live shadows that follow one of these documents, in ascending order. Errors: there is no such document, or damaged.
    pub fn followers(&self, documents: &[u64]) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for leader in documents {
            if self.flags(*leader)? & SHADOW != 0 {
                continue;
            }
            let hash = hash_of(&self.id(*leader)?);
            for part in self.parts() {
                for row in part.segment().shadows()?.following(key_of(SHADOW, &hash)) {
                    // A document that came later under the same id is another one.
                    let is_later = part.first() + row > *leader && part.is_live(row);
                    if is_later && part.segment().row(row)?.leader.is_some_and(|one| one.id == hash) {
                        found.push(part.first() + row);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
