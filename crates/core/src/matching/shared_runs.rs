//! Finds the tokens that can be in a tile at all: those in a run of t tokens that another content has too.
//!
//! Halos reach from a shared passage into material that nobody else has. In a class that shares one passage, that alone
//! would bring everybody together. So halos are weighed by these tokens only. The runs are looked up by their published
//! 32-bit order keys: keys that collide, or a crowded stretch of the table, only make a bound weaker. Cost: linear in the tokens
//! of the halos, eight to sixteen bytes for each while it is built.

use super::entry::Entry;

/// Most slots that are tried.
const PROBES: usize = 64;
const IS_SHARED: u64 = 1 << 31;

/// Which rows have a run, by its key: key, whether several rows have it, the first row plus 1.
struct Runs {
    slots: Vec<u64>,
    shift: u32,
}

impl Runs {
    fn new(runs: usize) -> Self {
        let bits = (usize::BITS - runs.leading_zeros() + 1).clamp(4, 31);
        Self { slots: vec![0; 1 << bits], shift: 32 - bits }
    }

    /// The slot of a key, or the free one where it belongs; none if too many are taken.
    fn slot(&self, key: u32) -> Option<usize> {
        let start = (key.wrapping_mul(0x9E37_79B1) >> self.shift) as usize;
        let slots = (start..start + PROBES).map(|slot| slot & (self.slots.len() - 1));
        slots.into_iter().find(|slot| self.slots[*slot] == 0 || (self.slots[*slot] >> 32) as u32 == key)
    }

    fn insert(&mut self, key: u32, row: u32) {
        let Some(slot) = self.slot(key) else { return };
        let first = u64::from(row) + 1;
        match self.slots[slot] {
            0 => self.slots[slot] = u64::from(key) << 32 | first,
            held if held & (IS_SHARED - 1) != first => self.slots[slot] |= IS_SHARED,
            _ => {}
        }
    }

    fn is_shared(&self, key: u32) -> bool {
        self.slot(key).is_none_or(|slot| self.slots[slot] & IS_SHARED != 0)
    }
}

/// The first tokens and keys of the runs of t tokens inside stretches that lie in one part each.
fn runs<'a>(
    entry: &'a Entry,
    keys: &'a [u32],
    stretches: &'a [(u32, u32)],
) -> impl Iterator<Item = (u32, u32, u32)> + 'a {
    stretches.iter().flat_map(move |(start, end)| {
        let t = entry.thresholds(*start).1;
        (*start..(*end + 1).saturating_sub(t)).map(move |at| (at, t, keys[at as usize]))
    })
}

/// Marks the tokens of each row that lie in a run of t tokens of its stretches that another row has too.
pub fn in_shared_runs(entries: &[Entry], stretches: &[Vec<(u32, u32)>]) -> Vec<Vec<bool>> {
    let size = stretches.iter().flatten().map(|(start, end)| (end - start) as usize).sum();
    let mut table = Runs::new(size);
    for (row, (entry, own)) in entries.iter().zip(stretches).enumerate() {
        runs(entry, &entry.order_keys(), own).for_each(|(_, _, key)| table.insert(key, row as u32));
    }
    let marks = entries.iter().zip(stretches).map(|(entry, own)| {
        let (mut marks, mut end, keys) = (vec![false; entry.tokens.len()], 0, entry.order_keys());
        for (at, t, _) in runs(entry, &keys, own).filter(|(_, _, key)| table.is_shared(*key)) {
            marks[at.max(end) as usize..(at + t) as usize].fill(true);
            end = at + t;
        }
        marks
    });
    marks.collect()
}
