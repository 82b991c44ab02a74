//! Proposes pairs from rows (key, holder) that come sorted by key and then by rank.
//!
//! The rule for crowded keys is that of `clustering`: the earlier of two holders is among the first
//! [`FIRST`](lookalike_core::clustering::FIRST) of the list, or among the last
//! [`LAST`](lookalike_core::clustering::LAST) before the later one. So of a list only these are held, however long it is.
//!
//! A rank is a string of bytes that sorts as documents are preferred. Its first byte is 0 for a reference and 1 for any
//! other row.
//!
//! Cost: at most `FIRST` + `LAST` pairs per row, and as many ranks in memory. Pairs go to a function of the caller.

use lookalike_core::clustering::Reach;
use std::collections::VecDeque;

/// The first byte of the rank of a reference.
const REFERENCE: u8 = 0;

/// What a row does in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is paired with earlier and with later ones.
    Both,
    /// It is paired with later ones only.
    Hub,
    /// It is paired with earlier ones only.
    Other,
}

impl Role {
    /// The role with a number: 1 a hub, 2 another, anything else both.
    pub fn of(number: u8) -> Self {
        match number {
            1 => Self::Hub,
            2 => Self::Other,
            _ => Self::Both,
        }
    }
}

/// The key of a list: a key of a filter, or two fingerprints.
pub type ListKey = (u64, Option<u64>);

/// A list of holders that does not propose all its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CappedList {
    /// Its key.
    pub key: u64,
    /// Its holders.
    pub documents: u64,
    /// Pairs it does not propose.
    pub untried: u64,
}

/// Strings of bytes, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankColumn {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where each string ends.
    pub ends: Vec<u32>,
}

impl RankColumn {
    /// Appends a string.
    pub fn push(&mut self, rank: &[u8]) {
        self.bytes.extend_from_slice(rank);
        self.ends.push(self.bytes.len() as u32);
    }
}

/// Takes rows in order of key and rank.
#[derive(Debug)]
pub struct HolderStream {
    reach: Reach,
    /// Whether only a reference and another row are paired.
    is_against: bool,
    key: Option<ListKey>,
    count: u64,
    first: Vec<Vec<u8>>,
    last: VecDeque<Vec<u8>>,
    capped: Vec<CappedList>,
}

impl HolderStream {
    /// Makes a stream; with `is_against` only a reference and another row are paired.
    pub fn new(reach: Reach, is_against: bool) -> Self {
        let (first, last, capped) = (Vec::new(), VecDeque::new(), Vec::new());
        Self { reach, is_against, key: None, count: 0, first, last, capped }
    }

    /// Takes the next row, and hands over the pairs it makes: the earlier and the later document.
    pub fn push(&mut self, key: ListKey, role: Role, rank: &[u8], pairs: &mut impl FnMut(&[u8], &[u8])) {
        if self.key != Some(key) {
            self.end_list();
            self.key = Some(key);
        }
        if role != Role::Hub {
            self.propose(rank, pairs);
        }
        if role != Role::Other {
            self.hold(rank);
        }
    }

    /// Ends the last list, and returns the lists that did not propose all pairs since the last call.
    pub fn capped(&mut self, is_end: bool) -> Vec<CappedList> {
        if is_end {
            self.end_list();
        }
        std::mem::take(&mut self.capped)
    }

    fn propose(&self, rank: &[u8], pairs: &mut impl FnMut(&[u8], &[u8])) {
        let is_own = rank.first() != Some(&REFERENCE);
        if self.is_against && !is_own {
            return;
        }
        for earlier in self.first.iter().chain(&self.last) {
            if !self.is_against || earlier.first() == Some(&REFERENCE) {
                pairs(earlier, rank);
            }
        }
    }

    fn hold(&mut self, rank: &[u8]) {
        self.count += 1;
        if self.first.len() < self.reach.first {
            return self.first.push(rank.to_vec());
        }
        // The memory of the one that leaves is used again.
        let is_full = self.last.len() >= self.reach.last;
        let mut next = if is_full { self.last.pop_front().unwrap_or_default() } else { Vec::new() };
        next.clear();
        next.extend_from_slice(rank);
        self.last.push_back(next);
        self.last.truncate(self.reach.last);
    }

    fn end_list(&mut self) {
        if let Some((key, other)) = self.key.take() {
            let untried = self.reach.left_out(self.count as usize);
            // Of two fingerprints only equal ones are told: all pairs of a list are then pairs of that fingerprint.
            if untried > 0 && other.is_none_or(|other| other == key) {
                self.capped.push(CappedList { key, documents: self.count, untried });
            }
        }
        self.count = 0;
        self.first.clear();
        self.last.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// The pairs of a list by the definition.
    fn naive(holders: &[Vec<u8>], reach: Reach) -> Pairs {
        let mut pairs = Vec::new();
        for (j, later) in holders.iter().enumerate() {
            for (i, earlier) in holders[..j].iter().enumerate() {
                if i < reach.first || j - i <= reach.last {
                    pairs.push((earlier.clone(), later.clone()));
                }
            }
        }
        pairs
    }

    type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

    fn into(pairs: &mut Pairs) -> impl FnMut(&[u8], &[u8]) + '_ {
        |left, right| pairs.push((left.to_vec(), right.to_vec()))
    }

    proptest! {
        #![proptest_config(fixed(200))]

        #[test]
        fn pairs_are_those_of_the_rule(lists in prop::collection::vec(0usize..12, 1..6), first in 0usize..4, last in 0usize..4) {
            let reach = Reach { first, last };
            let (mut stream, mut found) = (HolderStream::new(reach, false), Pairs::new());
            let (mut expected, mut untried) = (Vec::new(), 0);
            for (key, count) in (1u64..).zip(&lists) {
                let holders: Vec<Vec<u8>> = (0..*count).map(|i| vec![1, key as u8, i as u8]).collect();
                holders.iter().for_each(|rank| stream.push((key, None), Role::Both, rank, &mut into(&mut found)));
                let of_list = naive(&holders, reach);
                untried += (count * count.saturating_sub(1) / 2 - of_list.len()) as u64;
                expected.extend(of_list);
            }
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(stream.capped(true).iter().map(|list| list.untried).sum::<u64>(), untried);
        }
    }

    #[test]
    fn with_references_only_they_and_other_rows_are_paired() {
        let (mut stream, mut pairs) = (HolderStream::new(Reach::CROWDED, true), Pairs::new());
        for rank in [[0, 1], [0, 2], [1, 1], [1, 2]] {
            stream.push((7, None), Role::Both, &rank, &mut into(&mut pairs));
        }
        let expected = [([0, 1], [1, 1]), ([0, 2], [1, 1]), ([0, 1], [1, 2]), ([0, 2], [1, 2])];
        assert_eq!(pairs, expected.map(|(left, right)| (left.to_vec(), right.to_vec())));
    }

    #[test]
    fn hubs_and_others_are_paired_across_only() {
        let (mut stream, mut pairs) = (HolderStream::new(Reach::CROWDED, false), Pairs::new());
        for (role, rank) in [(Role::Hub, 1), (Role::Other, 2), (Role::Hub, 3), (Role::Other, 4)] {
            stream.push((7, Some(9)), role, &[rank], &mut into(&mut pairs));
        }
        assert_eq!(pairs, [(vec![1], vec![2]), (vec![1], vec![4]), (vec![3], vec![4])]);
    }
}
