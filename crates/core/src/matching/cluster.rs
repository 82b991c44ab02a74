//! Clusters pairs without chains: every member is paired with the representative itself.
//!
//! Submissions become leaders in order of the sum of their scores at or above the threshold, then by name. A leader
//! claims all its free neighbours. Scores are added in units of 10⁻⁹, so the order of addition does not matter. All
//! pairs count, also those that no list shows. Cost: O(pairs log pairs); a group of identical submissions counts as one
//! pair until a leader claims its members.

use super::classes::{may_pair, Submitters};
use super::Cohort;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A cluster around a representative.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchCluster {
    /// The submission all others were compared with.
    pub representative: u32,
    /// The other submissions with their scores, best first.
    pub members: Vec<(u32, f64)>,
}

/// A pair with a score. If one of its classes is a group, it stands for all pairs of the two classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The first by name.
    pub left: u32,
    /// The second by name.
    pub right: u32,
    /// The score.
    pub score: f64,
}

/// Neighbours of submissions, and of classes of which one is a group.
struct Neighbours<'a> {
    cohort: &'a Cohort,
    single: Vec<Vec<(u32, f64)>>,
    /// By first member of a class: first member of another (or the same) class.
    classes: HashMap<u32, Vec<(u32, f64)>>,
    submitters: HashMap<u32, Submitters>,
}

impl<'a> Neighbours<'a> {
    fn new(cohort: &'a Cohort, links: &[Link]) -> Self {
        let single = vec![Vec::new(); cohort.entries().len()];
        let mut all = Self { cohort, single, classes: HashMap::new(), submitters: HashMap::new() };
        for link in links {
            let classes = cohort.classes();
            let [left, right] = [link.left, link.right].map(|i| classes.of(i));
            if !classes.is_group(left) && !classes.is_group(right) {
                all.single[link.left as usize].push((link.right, link.score));
                all.single[link.right as usize].push((link.left, link.score));
                continue;
            }
            for (one, other) in if left == right { vec![(left, left)] } else { vec![(left, right), (right, left)] } {
                all.classes.entry(one).or_default().push((other, link.score));
                let count = || Submitters::of(cohort.entries(), classes.members(other));
                all.submitters.entry(other).or_insert_with(count);
            }
        }
        all
    }

    fn classes_of(&self, i: usize) -> &[(u32, f64)] {
        self.classes.get(&self.cohort.classes().of(i as u32)).map_or(&[], Vec::as_slice)
    }

    /// Sum of the scores of a submission, in units of 10⁻⁹.
    fn strength(&self, i: usize) -> u128 {
        let entry = &self.cohort.entries()[i];
        let units = |score: f64| (score * 1e9) as u128;
        let times = |class: &u32| u128::from(self.submitters.get(class).map_or(0, |counted| counted.may_pair(entry)));
        let single = self.single[i].iter().map(|(_, score)| units(*score));
        let classes = self.classes_of(i).iter().map(|(class, score)| units(*score) * times(class));
        single.chain(classes).sum()
    }

    /// The free submissions that are paired with one.
    fn free(&self, i: usize, taken: &[bool]) -> Vec<(u32, f64)> {
        let entries = self.cohort.entries();
        let in_class = |(class, score): &(u32, f64)| {
            let (members, score) = (self.cohort.classes().members(*class), *score);
            let partners = members.iter().filter(move |j| may_pair(&entries[i], &entries[**j as usize]));
            partners.map(move |j| (*j, score)).collect::<Vec<_>>()
        };
        let all = self.single[i].iter().copied().chain(self.classes_of(i).iter().flat_map(in_class));
        all.filter(|(other, _)| !taken[*other as usize]).collect()
    }
}

/// Clusters of at least two submissions, from pairs that reach the threshold.
pub fn clusters(cohort: &Cohort, links: &[Link]) -> Vec<MatchCluster> {
    let neighbours = Neighbours::new(cohort, links);
    let place = |i: usize| cohort.places()[i];
    let strengths: Vec<u128> = (0..cohort.entries().len()).map(|i| neighbours.strength(i)).collect();
    let mut leaders: Vec<usize> = (0..strengths.len()).filter(|i| strengths[*i] > 0).collect();
    leaders.sort_by_key(|i| (Reverse(strengths[*i]), place(*i)));
    let mut taken = vec![false; strengths.len()];
    let mut found = Vec::new();
    for leader in leaders {
        if taken[leader] {
            continue;
        }
        let mut members = neighbours.free(leader, &taken);
        if members.is_empty() {
            continue;
        }
        members.sort_by(|a, b| b.1.total_cmp(&a.1).then(place(a.0 as usize).cmp(&place(b.0 as usize))));
        taken[leader] = true;
        members.iter().for_each(|(other, _)| taken[*other as usize] = true);
        found.push(MatchCluster { representative: leader as u32, members });
    }
    found
}
