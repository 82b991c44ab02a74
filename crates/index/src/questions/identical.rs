//! Which documents have the same text. Complete: content hashes of 128 bits find them, and their texts are compared.
//!
//! XXH3 is no cryptographic hash: different texts with one hash can be crafted. So a hash proposes, and the text decides.
//! Without texts the hash alone is left, and the answer is marked as not verified.
//!
//! Cost: one probe; the flags of each document with that hash; one text each for the first [`COMPARED`] of them. The others are
//! counted and told as not compared.

use super::candidates::{may_be_told, Group};
use super::{Asked, Asker, Found, Measure, SameHash, Wish, Work};
use crate::snapshot::Snapshot;
use lookalike_table::Result;

/// Documents whose texts are compared, after which further ones are only counted.
pub const COMPARED: usize = 1024;

impl Asker {
    /// Finds the documents with the text of the asked one. Errors: damaged.
    pub fn identical(&mut self, snapshot: &Snapshot, asked: &Asked, wish: Wish<'_>) -> Result<Found> {
        let mut work = Work::default();
        if asked.is_starter() {
            return Ok(Found::default());
        }
        let (found, same_hash) = self.with_its_text(snapshot, asked, wish, COMPARED, &mut work)?;
        Ok(Found { same_hash, ..Found::of(snapshot, found.into_iter().collect(), wish.top, work)? })
    }

    /// The documents with the text of the asked one, told as one. At most `compared` texts are compared after the first
    /// that is equal. Errors: damaged.
    pub(super) fn with_its_text(
        &mut self,
        snapshot: &Snapshot,
        asked: &Asked,
        wish: Wish<'_>,
        compared: usize,
        work: &mut Work,
    ) -> Result<(Option<(Group, Measure)>, SameHash)> {
        let (mut first, mut is_verified) = (None::<Group>, false);
        let (mut same_hash, mut left) = (SameHash::default(), compared);
        for number in snapshot.find_content(asked.document.content)? {
            work.holders += 1;
            if !may_be_told(snapshot, number, wish.conditions, work)? {
                continue;
            }
            let is_same = match first.is_some() && left == 0 {
                true => None,
                false => self.exact.is_text(snapshot, &asked.texts, number)?,
            };
            (work.texts, left) = (work.texts + u64::from(is_same.is_some()), left.saturating_sub(1));
            match (is_same, &mut first) {
                (Some(false), _) => same_hash.other_text += 1,
                (_, Some(group)) => {
                    group.copies += 1;
                    same_hash.uncompared += u64::from(is_same.is_none());
                }
                (_, None) => {
                    is_verified = is_same.is_some();
                    first = Some(Group { number, copies: 1, shared: 0 });
                }
            }
        }
        Ok((first.map(|group| (group, Measure::Identical { is_verified })), same_hash))
    }
}
