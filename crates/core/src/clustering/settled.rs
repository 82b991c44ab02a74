//! Earlier documents, whose clusters are settled: new documents are decided after them.
//!
//! Star clustering in order of rank knows no later document. So a corpus can be clustered in parts: of an earlier part
//! only its leaders can claim new documents, and its other documents, the *shadows*, matter only because they take
//! places in the lists of holders. Of an earlier list with `h` holders only the first [`FIRST`](super::FIRST) and the
//! last [`LAST`](super::LAST) can reach a new document. A list without the holders between them therefore proposes the
//! same pairs: no position below `FIRST` and no distance of up to `LAST` to a new document changes.
//!
//! Cost: that of the new documents and of the earlier holders that are looked at; nothing else of the earlier part is
//! read.

use super::{Capped, Reach};
use lookalike_table::Result;
use std::collections::HashMap;

/// Takes the place of a key, its first and last holders, ascending, and the number of all.
pub type SeenHolders<'a> = &'a mut dyn FnMut(usize, &[u64], u64) -> Result<()>;

/// Earlier documents with keys, by their numbers in order of rank.
pub trait Earlier {
    /// Calls `seen` for each of the keys, which ascend, that has holders: with the first `reach.first` and the last
    /// `reach.last` of them, each once. Errors: they cannot be read, or those of `seen`.
    fn holders(&self, keys: &[u64], reach: Reach, seen: SeenHolders<'_>) -> Result<()>;

    /// Whether a document leads; otherwise it is a shadow. Errors: it cannot be read.
    fn leads(&self, number: u64) -> Result<bool>;

    /// Whether there are no documents.
    fn is_empty(&self) -> bool {
        false
    }
}

/// No earlier documents.
pub struct NoEarlier;

impl Earlier for NoEarlier {
    fn holders(&self, _keys: &[u64], _reach: Reach, _seen: SeenHolders<'_>) -> Result<()> {
        Ok(())
    }

    fn leads(&self, _number: u64) -> Result<bool> {
        Ok(true)
    }

    fn is_empty(&self) -> bool {
        true
    }
}

/// The earlier documents of a clustering. They are numbered before all new ones.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Whether each of them leads.
    pub leads: Vec<bool>,
    /// The number of all earlier holders of a key, where the clustering does not have all of them.
    pub crowds: HashMap<u64, u64>,
}

impl Settled {
    /// The number of the first new document.
    pub fn count(&self) -> u32 {
        self.leads.len() as u32
    }

    /// Whether a document may lead: it is new, or it leads already.
    pub fn may_lead(&self, document: u32) -> bool {
        self.leads.get(document as usize).copied().unwrap_or(true)
    }

    /// What a key leaves out if documents `holders` hold it, ascending; only pairs with a new document count.
    pub(super) fn capped(&self, key: u64, holders: &[u32], reach: Reach) -> Option<Capped> {
        let known = holders.partition_point(|document| *document < self.count());
        let before = self.crowds.get(&key).map_or(known, |all| *all as usize);
        let all = before + holders.len() - known;
        let untried = reach.left_out(all) - reach.left_out(before);
        (untried > 0).then_some(Capped { key, documents: all.min(u32::MAX as usize) as u32, untried })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{candidates, small, table, World, THRESHOLD};
    use super::super::{cluster, Candidates, Clustering, Glance, Judge, Method, PrintGroups};
    use super::*;
    use crate::hash::mix64;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// Documents that were clustered before, with their keys and leaders.
    struct Before<'a> {
        keys: &'a [Vec<u64>],
        leader: &'a [u32],
    }

    impl Earlier for Before<'_> {
        fn holders(&self, keys: &[u64], reach: Reach, seen: SeenHolders<'_>) -> Result<()> {
            assert!(keys.is_sorted_by(|left, right| left < right));
            for (place, key) in keys.iter().enumerate() {
                let all: Vec<u64> = (0..).zip(self.keys).filter(|(_, own)| own.contains(key)).map(|(i, _)| i).collect();
                // Numbers need not be without gaps: a removed document leaves one.
                let reached = |at: &usize| *at < reach.first || *at + reach.last >= all.len();
                let ends: Vec<u64> = (0..all.len()).filter(reached).map(|at| 3 * all[at]).collect();
                if !all.is_empty() {
                    seen(place, &ends, all.len() as u64)?;
                }
            }
            Ok(())
        }

        fn leads(&self, number: u64) -> Result<bool> {
            Ok(u64::from(self.leader[number as usize / 3]) == number / 3)
        }
    }

    /// Clusters the documents from `start` on after those before, whose leaders are known.
    fn later(keys: &[Vec<u64>], start: usize, leader: &mut Vec<u32>, reach: Reach, judge: &impl Judge) -> Clustering {
        let before = Before { keys: &keys[..start], leader };
        let (candidates, numbers) =
            Candidates::after(table(&keys[start..]), keys.len() - start, reach, &before).expect("in memory");
        let count = numbers.len();
        let own = |document: u32| {
            numbers.get(document as usize).map_or(start as u32 + document - count as u32, |number| *number as u32 / 3)
        };
        let found = cluster(&candidates, THRESHOLD, Method::Star, &Renumbered { own: &own, judge });
        leader.extend(found.leader[count..].iter().map(|document| own(*document)));
        found
    }

    /// A judge of documents with other numbers.
    struct Renumbered<'a, F, J> {
        own: &'a F,
        judge: &'a J,
    }

    impl<F: Fn(u32) -> u32 + Sync, J: Judge> Judge for Renumbered<'_, F, J> {
        fn glance(&self, hub: u32, other: u32) -> Glance {
            self.judge.glance((self.own)(hub), (self.own)(other))
        }

        fn exact(&self, hub: u32, others: &[u32], least: f64, scores: &mut Vec<Option<f64>>) {
            let others: Vec<u32> = others.iter().map(|other| (self.own)(*other)).collect();
            self.judge.exact((self.own)(hub), &others, least, scores);
        }
    }

    proptest! {
        #![proptest_config(fixed(400))]

        #[test]
        fn days_one_by_one_are_all_days_at_once(
            (keys, scores, margin, noise, reach) in small(), cuts in prop::collection::vec(0usize..25, 0..4),
        ) {
            let documents = keys.len();
            let judge = World { score: |i: u32, j: u32| scores[i as usize * documents + j as usize], noise, margin };
            let whole = cluster(&candidates(&keys, reach), THRESHOLD, Method::Star, &judge);
            let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(documents)).chain([documents]).collect();
            ends.sort_unstable();
            let (mut leader, mut untried) = (Vec::new(), 0);
            for end in ends {
                let start = leader.len();
                let found = later(&keys[..end], start, &mut leader, reach, &judge);
                untried += found.capped.iter().map(|capped| capped.untried).sum::<u64>();
            }
            prop_assert_eq!(leader, whole.leader);
            prop_assert_eq!(untried, whole.capped.iter().map(|capped| capped.untried).sum::<u64>());
        }

        #[test]
        fn fingerprints_too(
            seeds in prop::collection::vec((0u64..3, prop::option::weighted(0.7, 0u32..64)), 1..40), distance in 0u32..4, cut in 0usize..40,
        ) {
            let prints: Vec<Option<u64>> =
                seeds.iter().map(|(seed, flip)| Some(mix64(*seed) ^ flip.map_or(0, |bit| 1 << bit))).collect();
            let score = |i: u32, j: u32| {
                let bits = (prints[i as usize]? ^ prints[j as usize]?).count_ones();
                Some(if bits <= distance { 1.0 - f64::from(bits) / 64.0 } else { 0.0 })
            };
            let judge = World { score, noise: 0.0, margin: 0.0 };
            let of = |settled, to: usize| {
                let groups = PrintGroups::new(&prints[..to], distance, settled, || false).expect("in range");
                cluster(&groups, THRESHOLD, Method::Star, &judge).leader
            };
            let (cut, whole) = (cut.min(prints.len()), of(Settled::default(), prints.len()));
            let leads = (0..).zip(&whole[..cut]).map(|(i, leader)| i == *leader).collect();
            let later = of(Settled { leads, ..Settled::default() }, prints.len());
            prop_assert_eq!(&later[cut..], &whole[cut..]);
            // Settled documents are not compared again.
            prop_assert_eq!(&later[..cut], &(0..cut as u32).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn the_first_and_last_holders_of_a_crowd_are_enough() {
        let keys = vec![vec![7]; 1_000];
        let judge = World { score: |_, _| Some(0.5), noise: 0.0, margin: 2.0 };
        let mut leader: Vec<u32> = (0..900).collect();
        let found = later(&keys, 900, &mut leader, Reach::CROWDED, &judge);
        assert_eq!(leader, (0..1_000).collect::<Vec<u32>>());
        let left_out = Reach::CROWDED.left_out(1_000) - Reach::CROWDED.left_out(900);
        assert_eq!(found.capped, [Capped { key: 7, documents: 1_000, untried: left_out }]);
        assert!(found.glances <= 100 * 128, "{}", found.glances);
    }
}
