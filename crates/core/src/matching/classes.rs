//! Groups submissions with the same content into classes, so that each content is compared once.
//!
//! All pairs of small classes are listed. A class of more than [`LISTED`] is one group: it has one row for itself and one
//! row with each other class, that of the first pair by name, which stands for all the others.

use super::entry::Entry;
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3;

/// Most members of a class whose pairs are all listed.
pub const LISTED: usize = 32;

/// Classes of submissions with the same content.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// First member of each submission's class.
    first: Vec<u32>,
    /// The members of each class by its first member, in the order of names; empty for other submissions.
    members: Vec<Vec<u32>>,
}

/// Pairs of two classes, or of one, that have the same score.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Those that are listed; the first of each comes first by name.
    pub pairs: Vec<(u32, u32)>,
    /// How many pairs each of them stands for.
    pub stands_for: u64,
}

impl Classes {
    /// Groups by hash, then by content. An empty submission is alone. `places` are those of the names.
    pub fn new(entries: &[Entry], places: &[u32]) -> Self {
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
        classes.members.iter_mut().for_each(|members| members.sort_unstable_by_key(|i| places[*i as usize]));
        classes
    }

    /// The first member of a submission's class.
    pub fn of(&self, entry: u32) -> u32 {
        self.first[entry as usize]
    }

    /// Whether a submission is the first of its class.
    pub fn is_first(&self, entry: u32) -> bool {
        self.first[entry as usize] == entry
    }

    /// The members of the class of `first`.
    pub fn members(&self, first: u32) -> &[u32] {
        &self.members[first as usize]
    }

    /// Whether not all pairs of a member of the class of `first` are listed.
    pub fn is_group(&self, first: u32) -> bool {
        self.members(first).len() > LISTED
    }

    /// The first members of all groups.
    pub fn groups(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.members.len() as u32).filter(|first| self.is_group(*first))
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

/// Whether two submissions are compared at all.
pub fn may_pair(a: &Entry, b: &Entry) -> bool {
    a.submitter != b.submitter && !(a.old && b.old)
}

/// Submissions of a set by submitter: how many, and how many of them are old.
pub struct Submitters {
    by: HashMap<u32, [u64; 2]>,
    all: [u64; 2],
}

impl Submitters {
    /// Counts.
    pub fn of(entries: &[Entry], members: &[u32]) -> Self {
        let mut counted = Self { by: HashMap::new(), all: [0; 2] };
        for entry in members.iter().map(|i| &entries[*i as usize]) {
            let one = [1, u64::from(entry.old)];
            let mine = counted.by.entry(entry.submitter).or_default();
            *mine = [mine[0] + one[0], mine[1] + one[1]];
            counted.all = [counted.all[0] + one[0], counted.all[1] + one[1]];
        }
        counted
    }

    /// Number of them that may be paired with `entry`.
    pub fn may_pair(&self, entry: &Entry) -> u64 {
        let mine = self.by.get(&entry.submitter).copied().unwrap_or_default();
        self.all[0] - mine[0] - if entry.old { self.all[1] - mine[1] } else { 0 }
    }
}

/// Number of pairs among `members` that are compared.
pub fn count_within(entries: &[Entry], members: &[u32]) -> u64 {
    let counted = Submitters::of(entries, members);
    members.iter().map(|i| counted.may_pair(&entries[*i as usize])).sum::<u64>() / 2
}

impl Classes {
    /// The pairs within the class of `first`.
    pub fn within(&self, entries: &[Entry], first: u32) -> Rows {
        let members = self.members(first);
        let pairs = members.iter().enumerate().flat_map(|(i, a)| members[i + 1..].iter().map(move |b| (*a, *b)));
        let mut pairs = pairs.filter(|(a, b)| may_pair(&entries[*a as usize], &entries[*b as usize]));
        if self.is_group(first) {
            return Rows { pairs: pairs.next().into_iter().collect(), stands_for: count_within(entries, members) };
        }
        Rows { pairs: pairs.collect(), stands_for: 1 }
    }

    /// The pairs between two classes: those in which a member of `left` comes first by name, and the others.
    pub fn between(&self, entries: &[Entry], places: &[u32], left: u32, right: u32) -> [Rows; 2] {
        let [ours, theirs] = [left, right].map(|first| self.members(first));
        let is_first = |a: u32, b: u32| places[a as usize] < places[b as usize];
        let pairs = |of: &[u32], with: &[u32], stop: bool| {
            let mut found = Vec::new();
            for a in of {
                let after = with.partition_point(|b| !is_first(*a, *b));
                let partners = with[after..].iter().filter(|b| may_pair(&entries[*a as usize], &entries[**b as usize]));
                found.extend(partners.map(|b| (*a, *b)).take(if stop { 1 } else { usize::MAX }));
                if stop && !found.is_empty() {
                    break;
                }
            }
            found
        };
        let is_group = self.is_group(left) || self.is_group(right);
        let [mut one, mut other] = [pairs(ours, theirs, is_group), pairs(theirs, ours, is_group)];
        if !is_group {
            return [one, other].map(|pairs| Rows { pairs, stands_for: 1 });
        }
        if let ([(a, _)], [(b, _)]) = (&one[..], &other[..]) {
            if is_first(*a, *b) { &mut other } else { &mut one }.clear();
        }
        let counted = Submitters::of(entries, ours);
        let stands_for = theirs.iter().map(|i| counted.may_pair(&entries[*i as usize])).sum();
        [one, other].map(|pairs| Rows { pairs, stands_for })
    }
}
