//! Groups submissions with the same content into classes, so that each content is compared once.

use super::entry::Entry;
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3;

/// Most pairs of one or two classes that are all listed. In larger ones each member is in at least one pair.
const WRITTEN: usize = 1024;

/// Classes of submissions with the same content.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// First member of each submission's class.
    first: Vec<u32>,
    /// The members of each class by its first member, ascending; empty for other submissions.
    members: Vec<Vec<u32>>,
}

impl Classes {
    /// Groups by hash, then by content. An empty submission is alone.
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

    /// Whether a submission is the first of its class.
    pub fn is_first(&self, entry: u32) -> bool {
        self.first[entry as usize] == entry
    }

    /// The members of the class of `first`.
    pub fn members(&self, first: u32) -> &[u32] {
        &self.members[first as usize]
    }

    /// The first members of classes of which not all pairs are listed.
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

/// The pairs within one class that `may_pair` allows.
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

/// The pairs between two classes that `may_pair` allows.
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

/// Pairs each of `left` with one of `right`: the one used last if it is allowed, otherwise the first that is.
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
