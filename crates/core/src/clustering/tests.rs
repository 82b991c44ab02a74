//! Tests of clusterings against their definitions: small cases by property, large ones by count.

use super::*;
use crate::hash::mix64;
use crate::table::external::{Sorter, TableError};
use crate::testing::fixed;
use proptest::prelude::*;
use std::collections::BTreeSet;

const THRESHOLD: f64 = 0.8;

/// A judge with a score function; its sketches err by `noise` and decide beyond `margin`.
struct World<F> {
    score: F,
    noise: f32,
    margin: f64,
}

impl<F: Fn(u32, u32) -> Option<f64> + Sync> Judge for World<F> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        let score = (self.score)(hub, other).unwrap_or(0.0);
        let off = (mix64(u64::from(hub) << 32 | u64::from(other)) % 3) as f32 - 1.0;
        let verdict = ((score - THRESHOLD).abs() > self.margin).then_some(score >= THRESHOLD);
        Glance { estimate: score as f32 + self.noise * off, verdict }
    }

    fn exact(&self, hub: u32, others: &[u32], scores: &mut Vec<Option<f64>>) {
        scores.extend(others.iter().map(|other| (self.score)(hub, *other)));
    }
}

/// A judge whose sketches decide nothing.
fn unsure<F: Fn(u32, u32) -> Option<f64> + Sync>(score: F) -> World<F> {
    World { score, noise: 0.0, margin: 2.0 }
}

/// A judge whose sketches decide everything.
fn sure<F: Fn(u32, u32) -> Option<f64> + Sync>(score: F) -> World<F> {
    World { score, noise: 0.0, margin: -1.0 }
}

fn table(keys: &[Vec<u64>]) -> Sorted {
    let mut sorter = Sorter::new(0, None);
    for (document, keys) in keys.iter().enumerate() {
        sorter.push(document as u32, keys).expect("in memory");
    }
    sorter.finish().expect("in memory")
}

fn run(keys: &[Vec<u64>], rank: &[u32], method: Method, judge: &impl Judge) -> Clustering {
    cluster(table(keys), rank, THRESHOLD, method, judge).expect("every owner has a rank")
}

fn identity(documents: usize) -> Vec<u32> {
    (0..documents as u32).collect()
}

fn share(keys: &[Vec<u64>], i: u32, j: u32) -> bool {
    keys[i as usize].iter().any(|key| keys[j as usize].contains(key))
}

/// Documents in order of rank.
fn ordered(rank: &[u32]) -> Vec<u32> {
    let mut order = identity(rank.len());
    order.sort_by_key(|document| (rank[*document as usize], *document));
    order
}

fn accepts(judge: &impl Judge, hub: u32, other: u32) -> bool {
    let mut scores = Vec::new();
    judge.exact(hub, &[other], &mut scores);
    judge.glance(hub, other).verdict.unwrap_or(scores[0].is_some_and(|score| score >= THRESHOLD))
}

/// Star clustering by its definition.
fn naive_star(keys: &[Vec<u64>], rank: &[u32], judge: &impl Judge) -> Vec<u32> {
    let mut leader = identity(rank.len());
    let mut leaders: Vec<u32> = Vec::new();
    for document in ordered(rank) {
        let mut best: Option<(f32, u32)> = None;
        for other in leaders.iter().filter(|other| share(keys, **other, document)) {
            let estimate = judge.glance(*other, document).estimate;
            if accepts(judge, *other, document) && best.is_none_or(|(best, _)| estimate > best) {
                best = Some((estimate, *other));
            }
        }
        match best {
            Some((_, other)) => leader[document as usize] = other,
            None => leaders.push(document),
        }
    }
    leader
}

/// The components of all accepted candidate pairs, by the first document in rank.
fn naive_components(keys: &[Vec<u64>], rank: &[u32], judge: &impl Judge) -> Vec<u32> {
    let order = ordered(rank);
    let mut leader = identity(rank.len());
    for (i, first) in order.iter().enumerate() {
        for second in &order[i + 1..] {
            let (a, b) = (leader[*first as usize], leader[*second as usize]);
            if a != b && share(keys, *first, *second) && accepts(judge, *first, *second) {
                let place = |document: u32| order.iter().position(|other| *other == document);
                let (keep, drop) = if place(a) < place(b) { (a, b) } else { (b, a) };
                leader.iter_mut().filter(|leader| **leader == drop).for_each(|leader| *leader = keep);
            }
        }
    }
    leader
}

prop_compose! {
    /// Keys, ranks with ties, and scores with a direction, for up to 24 documents.
    fn small()(documents in 1usize..24)(
        keys in prop::collection::vec(prop::collection::vec(0u64..12, 0..4), documents),
        rank in prop::collection::vec(0u32..30, documents),
        scores in prop::collection::vec(prop::option::weighted(0.9, 0.6f64..1.0), documents * documents),
        margin in prop::sample::select(vec![-1.0, 0.05, 0.1, 2.0]),
        noise in prop::sample::select(vec![0.0f32, 0.04]),
    ) -> (Vec<Vec<u64>>, Vec<u32>, Vec<Option<f64>>, f64, f32) {
        (keys, rank, scores, margin, noise)
    }
}

proptest! {
    #![proptest_config(fixed(400))]

    #[test]
    fn a_star_is_what_its_definition_says((keys, rank, scores, margin, noise) in small()) {
        let documents = keys.len();
        let judge = World { score: |i: u32, j: u32| scores[i as usize * documents + j as usize], noise, margin };
        let star = run(&keys, &rank, Method::Star, &judge);
        prop_assert_eq!(&star.leader, &naive_star(&keys, &rank, &judge));
        prop_assert!(star.edges.is_sorted_by_key(|edge| (edge.left, edge.right)) && star.capped.is_empty());
        let pairs: BTreeSet<(u32, u32)> = star.edges.iter().map(|edge| (edge.left, edge.right)).collect();
        prop_assert_eq!(pairs.len(), star.edges.len());
        for edge in &star.edges {
            prop_assert!(share(&keys, edge.left, edge.right) && accepts(&judge, edge.left, edge.right));
            prop_assert!((rank[edge.left as usize], edge.left) < (rank[edge.right as usize], edge.right));
            prop_assert_eq!(edge.exact, judge.glance(edge.left, edge.right).verdict.is_none());
        }
        for (document, leader) in identity(documents).into_iter().zip(star.leader) {
            prop_assert!(document == leader || pairs.contains(&(leader, document)));
            prop_assert!(document != leader || star.score[document as usize] == 1.0);
        }
    }

    #[test]
    fn every_document_with_a_partner_is_in_an_edge((keys, rank, scores, margin, _) in small()) {
        let documents = keys.len();
        let judge = World { score: |i: u32, j: u32| scores[i as usize * documents + j as usize], noise: 0.0, margin };
        for method in [Method::Star, Method::Components] {
            let edges = run(&keys, &rank, method, &judge).edges;
            for (i, first) in ordered(&rank).iter().enumerate() {
                for second in &ordered(&rank)[i + 1..] {
                    if share(&keys, *first, *second) && accepts(&judge, *first, *second) {
                        let is_flagged = |d: &u32| edges.iter().any(|edge| edge.left == *d || edge.right == *d);
                        prop_assert!(is_flagged(first) && is_flagged(second), "{:?}: {} {}", method, first, second);
                    }
                }
            }
        }
    }

    #[test]
    fn components_never_hold_more_than_accepted_pairs_do((keys, rank, scores, margin, noise) in small()) {
        let documents = keys.len();
        let judge = World { score: |i: u32, j: u32| scores[i as usize * documents + j as usize], noise, margin };
        let (found, all) = (run(&keys, &rank, Method::Components, &judge), naive_components(&keys, &rank, &judge));
        for document in 0..documents {
            prop_assert_eq!(all[document], all[found.leader[document] as usize]);
        }
        let pairs: BTreeSet<(u32, u32)> = found.edges.iter().map(|edge| (edge.left, edge.right)).collect();
        prop_assert_eq!(pairs.len(), found.edges.len());
    }

    #[test]
    fn components_of_an_equivalence_are_found_whole((keys, rank, ..) in small(), classes in 1u32..5) {
        // With one class every pair is accepted: the star edges of a bucket connect the same documents as all its
        // pairs.
        let judge = unsure(|i: u32, j: u32| Some(f64::from(u8::from(i % classes == j % classes))));
        let found = run(&keys, &rank, Method::Components, &judge);
        prop_assert_eq!(found.leader, naive_components(&keys, &rank, &judge));
    }
}

/// Documents in planted clusters of 1 to 8: most keys from the cluster, some of their own, some from everyone.
fn planted(documents: u32) -> (Vec<Vec<u64>>, impl Fn(u32) -> u64) {
    let class = |document: u32| mix64(u64::from(document) % 977) % 5_000 + u64::from(document) / 8 * 5_000;
    let keys = |document: u32| {
        let own = |j: u64| mix64(u64::from(document) << 8 | j);
        (0..6).map(|j| if own(j) % 4 == 0 { own(j) % 50 } else { mix64(class(document) << 8 | j) }).collect()
    };
    ((0..documents).map(keys).collect(), class)
}

#[test]
fn the_answer_is_the_same_at_any_number_of_threads_and_any_budget() {
    let (keys, class) = planted(12_000);
    let rank: Vec<u32> = (0..12_000).map(|i| mix64(i) as u32 % 5_000).collect();
    let close = |i: u32, j: u32| {
        Some(if class(i) == class(j) { 0.79 + (mix64(u64::from(i ^ j)) % 20) as f64 / 100.0 } else { 0.3 })
    };
    let judge = World { score: close, noise: 0.03, margin: 0.04 };
    for method in [Method::Star, Method::Components] {
        let expected = run(&keys, &rank, method, &judge);
        assert!(expected.leader.iter().enumerate().any(|(i, leader)| i as u32 != *leader));
        assert!(!expected.capped.is_empty());
        for (threads, budget) in [(1, 200), (2, 5_000), (5, 100_000)] {
            let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
            let mut sorter = Sorter::new(budget * 12, Some(folder.path()));
            for (document, keys) in keys.iter().enumerate() {
                sorter.push(document as u32, keys).expect("written");
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
            let found = pool.install(|| cluster(sorter.finish()?, &rank, THRESHOLD, method, &judge)).expect("read");
            assert!(found == expected, "{method:?} at {threads} threads and {budget} rows");
        }
    }
}

#[test]
fn a_chain_never_ends_in_one_star() {
    let documents = 20_000;
    let keys: Vec<Vec<u64>> = (0..documents as u64).map(|i| vec![mix64(i), mix64(i + 1), mix64(i + 2)]).collect();
    let judge = unsure(|i: u32, j: u32| Some((1.0 - 0.1 * f64::from(i.abs_diff(j))).max(0.0)));
    let star = run(&keys, &identity(documents), Method::Star, &judge);
    for (document, leader) in star.leader.iter().enumerate() {
        assert!((document as u32).abs_diff(*leader) <= 2, "{document} follows {leader}");
    }
    assert!(star.giants.is_empty());
    let whole = run(&keys, &identity(documents), Method::Components, &judge);
    assert!(whole.leader.iter().all(|leader| *leader == 0));
    assert_eq!((whole.giants[0].leader, whole.giants[0].documents), (0, documents as u32));
    assert!(!whole.giants[0].keys.is_empty() && whole.giants[0].keys.iter().all(|(_, count)| *count == 3));
}

#[test]
fn the_same_keys_a_hundred_thousand_times_take_one_glance_each() {
    let documents = 100_000;
    let keys = vec![(0..6).map(mix64).collect::<Vec<u64>>(); documents];
    let rank: Vec<u32> = (0..documents as u32).rev().collect();
    for method in [Method::Star, Method::Components] {
        let found = run(&keys, &rank, method, &unsure(|_, _| Some(0.9)));
        assert!(found.leader.iter().all(|leader| *leader == documents as u32 - 1));
        assert_eq!((found.glances, found.exacts, found.edges.len()), (99_999, 99_999, 99_999), "{method:?}");
        assert_eq!(found.giants[0].keys.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [100_000; 6]);
        assert!(found.capped.is_empty());
    }
}

#[test]
fn a_million_documents_with_one_key_are_linear_and_what_was_left_out_is_counted() {
    let documents = 1_000_000;
    let keys = vec![vec![7]; documents];
    let judge = sure(|_, _| Some(0.1));
    let star = run(&keys, &identity(documents), Method::Star, &judge);
    assert!(star.glances <= (documents * CROWD) as u64);
    // Of all pairs, those with one of the first hubs, or close in rank, were tried.
    let all = documents as u64 * (documents as u64 - 1) / 2;
    assert_eq!(star.capped, [Capped { key: 7, documents: documents as u32, untried: all - star.glances }]);
    let whole = run(&keys, &identity(documents), Method::Components, &judge);
    assert!(whole.glances <= (documents * (CROWD + LAST_GLANCES)) as u64);
    let rest = documents as u64 - CROWD as u64 / 2;
    assert_eq!(whole.capped[0].untried, rest * (rest - 1) / 2);
}

#[test]
fn clusters_are_found_under_hot_keys_and_glances_are_bounded() {
    // Twelve common keys of 200 documents each, and one key that a document shares with a single partner.
    let documents = 20_000u32;
    let hot = |i: u32| (0..12).map(move |j| (mix64(u64::from(i) << 8 | j) % 100) << 8 | j);
    let keys: Vec<Vec<u64>> = (0..documents).map(|i| hot(i).chain([mix64(u64::from(i / 2))]).collect()).collect();
    let judge = sure(|i: u32, j: u32| Some(if i / 2 == j / 2 { 0.9 } else { 0.1 }));
    let star = run(&keys, &identity(documents as usize), Method::Star, &judge);
    assert!(star.leader.iter().enumerate().all(|(i, leader)| *leader == i as u32 / 2 * 2));
    assert!(star.glances <= u64::from(documents) * u64::from(CROWDED_GLANCES + 1));
    assert!(star.capped.len() == 1200 && star.capped.iter().all(|capped| capped.documents > 64 && capped.untried > 0));
}

#[test]
fn an_owner_without_a_rank_is_refused() {
    for keys in [vec![vec![], vec![1]], vec![vec![1], vec![1]]] {
        let found = cluster(table(&keys), &[0], THRESHOLD, Method::Star, &sure(|_, _| None));
        assert!(matches!(found, Err(TableError::Owner { owner: 1, documents: 1 })));
    }
    assert_eq!(run(&[], &[], Method::Star, &sure(|_, _| None)), Clustering::default());
}

#[test]
fn a_score_is_never_rounded_to_below_the_threshold() {
    assert!(f64::from(0.9f64 as f32) < 0.9);
    assert!(f64::from(verify::narrow(0.9, 0.9)) >= 0.9);
    assert_eq!(verify::narrow(0.75, 0.5), 0.75);
    assert!(f64::from(verify::narrow(0.3, 0.9)) < 0.9);
}

/// Sketches in memory.
struct Listed(Vec<Vec<u64>>);

impl Sketches for Listed {
    fn sketch(&self, document: u32) -> &[u64] {
        &self.0[document as usize]
    }
}

/// Clusters led by their first members; each document is compared with all of them.
fn naive_greedy(sketches: &Listed, rank: &[u32], judge: &impl Judge) -> Vec<u32> {
    let mut leader = identity(rank.len());
    let mut firsts: Vec<u32> = Vec::new();
    for document in ordered(rank).into_iter().filter(|document| !sketches.sketch(*document).is_empty()) {
        let shared = |first: &u32| {
            sketches.sketch(document).iter().filter(|element| sketches.sketch(*first).contains(element)).count()
        };
        let enough = |first: &u32| 2.0 * shared(first) as f64 >= THRESHOLD * sketches.sketch(document).len() as f64;
        let mut tried: Vec<u32> = firsts.iter().copied().filter(|first| shared(first) > 0 && enough(first)).collect();
        tried.sort_by_key(|first| std::cmp::Reverse(shared(first)));
        match tried.into_iter().take(8).find(|first| accepts(judge, *first, document)) {
            Some(first) => leader[document as usize] = first,
            None => firsts.push(document),
        }
    }
    leader
}

proptest! {
    #![proptest_config(fixed(200))]
    #[test]
    fn greedy_with_first_members_is_what_its_definition_says(
        (_, rank, scores, margin, noise) in small(),
        sketches in prop::collection::vec(prop::collection::btree_set(0u64..10, 0..8), 24),
    ) {
        let documents = rank.len();
        let sketches = Listed(sketches.into_iter().map(|sketch| sketch.into_iter().collect()).collect());
        let judge = World { score: |i: u32, j: u32| scores[i as usize * documents + j as usize], noise, margin };
        let found = greedy(&sketches, &rank, THRESHOLD, Representative::First, &judge);
        prop_assert_eq!(found.leader, naive_greedy(&sketches, &rank, &judge));
    }
}

#[test]
fn what_most_members_have_stands_for_a_greedy_cluster() {
    // Three members share 1..=4, of which the first has half; the fourth shares one element with the first.
    let sketches =
        Listed(vec![vec![1, 2, 8, 9], vec![1, 2, 3, 4], vec![1, 3, 4, 2], vec![3, 4, 9, 20], vec![3, 4, 21, 22]]);
    let judge = sure(|_, _| Some(0.9));
    let popular = greedy(&sketches, &identity(5), THRESHOLD, Representative::Popular, &judge);
    assert_eq!(popular.leader, [0, 0, 0, 0, 0]);
    let first = greedy(&sketches, &identity(5), THRESHOLD, Representative::First, &judge);
    assert_eq!(first.leader, [0, 0, 0, 3, 3]);
}

#[test]
fn an_element_of_very_many_greedy_clusters_is_counted() {
    let sketches = Listed((0..1000u64).map(|i| vec![5, mix64(i), mix64(i + 5000)]).collect());
    let found = greedy(&sketches, &identity(1000), THRESHOLD, Representative::Popular, &sure(|_, _| Some(0.1)));
    assert_eq!(found.capped, [Capped { key: 5, documents: 1000, untried: 1000 - CROWD as u64 }]);
    assert_eq!(found.glances, 0);
    let same = Listed(vec![vec![1, 2, 3]; 3000]);
    let found = greedy(&same, &identity(3000), THRESHOLD, Representative::Popular, &sure(|_, _| Some(1.0)));
    assert_eq!(found.giants, [Giant { leader: 0, documents: 3000, keys: vec![(1, 3000), (2, 3000), (3, 3000)] }]);
    assert_eq!(found.glances, 2999);
}
