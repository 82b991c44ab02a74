//! Submissions with the same content are one class and are compared once.

use super::entry::Entry;
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3;

/// Pairs of one or two classes that are written out; of larger ones each member is in one pair at least, with a hub of the others.
const WRITTEN: usize = 1024;

/// Which submissions are the same.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// First member of each submission's class.
    first: Vec<u32>,
    /// Members of the class of each first one, ascending; empty for the others.
    members: Vec<Vec<u32>>,
}

impl Classes {
    /// Groups by hash, then by content. An empty submission is the same as no other.
    pub fn new(entries: &[Entry]) -> Self {
        let mut by_hash: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut classes = Self { first: Vec::new(), members: vec![Vec::new(); entries.len()] };
        for (i, entry) in entries.iter().enumerate() {
            let firsts = by_hash.entry(content_hash(entry)).or_default();
            let same = |first: &&u32| !entry.parts.is_empty() && entries[**first as usize].is_same(entry);
            let first = firsts.iter().find(same).copied().unwrap_or(i as u32);
            if first == i as u32 {
                firsts.push(first);
            }
            classes.first.push(first);
            classes.members[first as usize].push(i as u32);
        }
        classes
    }

    /// Whether a submission speaks for its class.
    pub fn is_first(&self, entry: u32) -> bool {
        self.first[entry as usize] == entry
    }

    /// Members of the class that `first` speaks for.
    pub fn members(&self, first: u32) -> &[u32] {
        &self.members[first as usize]
    }

    /// Classes of which not all pairs are written out: their first members.
    pub fn large(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.members.len()).filter(|i| self.members[*i].len().pow(2) > WRITTEN).map(|i| i as u32)
    }
}

fn content_hash(entry: &Entry) -> u64 {
    let mut hash = Xxh3::new();
    for column in [&entry.tokens, &entry.verbatim] {
        for number in column {
            hash.update(&number.to_le_bytes());
        }
    }
    hash.digest()
}

/// Pairs within one class, of those that `may_pair`.
pub fn within(members: &[u32], may_pair: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    if members.len().pow(2) > WRITTEN {
        let mut links: Vec<(u32, u32)> = links(members, members, may_pair).map(|(a, b)| (a.min(b), a.max(b))).collect();
        links.sort_unstable();
        links.dedup();
        return links;
    }
    let after = |i: usize| members[i + 1..].iter().map(move |other| (members[i], *other));
    (0..members.len()).flat_map(after).filter(|(a, b)| may_pair(*a, *b)).collect()
}

/// Pairs between two classes, of those that `may_pair`.
pub fn between(left: &[u32], right: &[u32], may_pair: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    if left.len() * right.len() > WRITTEN {
        let back = links(right, left, &may_pair).map(|(b, a)| (a, b));
        let mut links: Vec<(u32, u32)> = links(left, right, &may_pair).chain(back).collect();
        links.sort_unstable();
        links.dedup();
        return links;
    }
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| may_pair(*a, *b)).collect()
}

/// Each of `left` with one of `right`: the one that the last took if it will do, else the first that will.
fn links<'a>(
    left: &'a [u32],
    right: &'a [u32],
    may_pair: impl Fn(u32, u32) -> bool + 'a,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let mut hub = None;
    left.iter().filter_map(move |a| {
        hub = hub.filter(|b| may_pair(*a, *b)).or_else(|| right.iter().copied().find(|b| may_pair(*a, *b)));
        hub.map(|b| (*a, b))
    })
}
