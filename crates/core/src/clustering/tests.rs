//! Tests of clusterings against their definitions: small cases by property, large ones by count.

use super::*;
use crate::hash::mix64;
use crate::testing::fixed;
use lookalike_table::disk::System;
use lookalike_table::spill::{Sorted, Sorter};
use lookalike_table::Error;
use proptest::prelude::*;

pub const THRESHOLD: f64 = 0.8;

/// A judge with a score function; its sketches err by `noise` and reject where they are below the threshold by `margin`.
pub struct World<F> {
    pub score: F,
    pub noise: f32,
    pub margin: f64,
}

impl<F: Fn(u32, u32) -> Option<f64> + Sync> Judge for World<F> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        let score = (self.score)(hub, other).unwrap_or(0.0);
        let off = (mix64(u64::from(hub) << 32 | u64::from(other)) % 3) as f32 - 1.0;
        let is_possible = THRESHOLD - score <= self.margin;
        Glance { estimate: score as f32 + self.noise * off, is_possible }
    }

    fn exact(&self, hub: u32, others: &[u32], least: f64, scores: &mut Vec<Option<f64>>) {
        scores.extend(others.iter().map(|other| (self.score)(hub, *other).filter(|score| *score >= least)));
    }
}

/// A judge whose sketches reject nothing.
fn unsure<F: Fn(u32, u32) -> Option<f64> + Sync>(score: F) -> World<F> {
    World { score, noise: 0.0, margin: 2.0 }
}

/// A judge whose sketches reject all that is below the threshold.
fn sure<F: Fn(u32, u32) -> Option<f64> + Sync>(score: F) -> World<F> {
    World { score, noise: 0.0, margin: 0.0 }
}

pub fn table(keys: &[Vec<u64>]) -> Sorted {
    let mut sorter = Sorter::in_memory();
    for (document, keys) in keys.iter().enumerate() {
        sorter.push(document as u32, keys).expect("in memory");
    }
    sorter.finish().expect("in memory")
}

pub fn candidates(keys: &[Vec<u64>], reach: Reach) -> Candidates {
    Candidates::new(table(keys), keys.len(), reach).expect("every owner is a document")
}

fn run(keys: &[Vec<u64>], reach: Reach, method: Method, judge: &impl Judge) -> Clustering {
    cluster(&candidates(keys, reach), THRESHOLD, method, judge)
}

fn identity(documents: usize) -> Vec<u32> {
    (0..documents as u32).collect()
}

/// Whether a pair is proposed, by the definition.
fn is_proposed(keys: &[Vec<u64>], reach: Reach, earlier: u32, later: u32) -> bool {
    keys[earlier as usize].iter().any(|key| {
        let holders: Vec<u32> = (0..).zip(keys).filter(|(_, own)| own.contains(key)).map(|(i, _)| i).collect();
        let place = |document: u32| holders.iter().position(|holder| *holder == document);
        place(earlier).zip(place(later)).is_some_and(|(i, j)| i < j && (i < reach.first || j - i <= reach.last))
    })
}

fn accepts(judge: &impl Judge, hub: u32, other: u32) -> bool {
    let mut scores = Vec::new();
    judge.exact(hub, &[other], 0.0, &mut scores);
    judge.glance(hub, other).is_possible && scores[0].is_some_and(|score| score >= THRESHOLD)
}

/// All edges by the definition, in order.
fn naive_edges(keys: &[Vec<u64>], reach: Reach, judge: &impl Judge) -> Vec<(u32, u32)> {
    let all =
        identity(keys.len()).into_iter().flat_map(|left| (left + 1..keys.len() as u32).map(move |right| (left, right)));
    all.filter(|(left, right)| is_proposed(keys, reach, *left, *right) && accepts(judge, *left, *right)).collect()
}

/// Star clustering by its definition.
fn naive_star(documents: usize, edges: &[(u32, u32)], judge: &impl Judge) -> Vec<u32> {
    let mut leader = identity(documents);
    for document in 0..documents as u32 {
        let mut best: Option<(f32, u32)> = None;
        for (other, _) in edges.iter().filter(|(left, right)| *right == document && leader[*left as usize] == *left) {
            let estimate = judge.glance(*other, document).estimate;
            if best.is_none_or(|(best, _)| estimate > best) {
                best = Some((estimate, *other));
            }
        }
        leader[document as usize] = best.map_or(document, |(_, other)| other);
    }
    leader
}

/// The components of all edges, by their first documents.
fn naive_components(documents: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let mut leader = identity(documents);
    for (left, right) in edges {
        let (a, b) = (leader[*left as usize], leader[*right as usize]);
        leader.iter_mut().filter(|leader| **leader == a.max(b)).for_each(|leader| *leader = a.min(b));
    }
    leader
}

prop_compose! {
    /// Keys, scores with a direction, and how far holders reach, for up to 24 documents.
    pub fn small()(documents in 1usize..24)(
        keys in prop::collection::vec(prop::collection::vec(0u64..12, 0..4), documents),
        scores in prop::collection::vec(prop::option::weighted(0.9, 0.6f64..1.0), documents * documents),
        margin in prop::sample::select(vec![0.0, 0.05, 0.1, 2.0]),
        noise in prop::sample::select(vec![0.0f32, 0.04]),
        first in 0usize..4,
        last in 0usize..4,
    ) -> (Vec<Vec<u64>>, Vec<Option<f64>>, f64, f32, Reach) {
        (keys, scores, margin, noise, Reach { first, last })
    }
}

proptest! {
    #![proptest_config(fixed(400))]

    #[test]
    fn clusters_and_pairs_are_what_their_definition_says((keys, scores, margin, noise, reach) in small()) {
        let documents = keys.len();
        let score = |i: u32, j: u32| scores[i as usize * documents + j as usize];
        let judge = World { score, noise, margin };
        let edges = naive_edges(&keys, reach, &judge);
        let star = run(&keys, reach, Method::Star, &judge);
        prop_assert_eq!(&star.leader, &naive_star(documents, &edges, &judge));
        let whole = run(&keys, reach, Method::Components, &judge);
        prop_assert_eq!(&whole.leader, &naive_components(documents, &edges));
        for found in [&star, &whole] {
            for (document, leader) in (0..).zip(&found.leader) {
                let expected = if document == *leader { Some(1.0) } else { score(*leader, document) };
                prop_assert_eq!(found.score[document as usize], narrow(expected.unwrap_or(0.0), THRESHOLD));
            }
        }
        let found = std::sync::Mutex::new(Vec::new());
        let take = |part: &[Edge]| -> std::result::Result<(), ()> {
            found.lock().expect("sound").extend_from_slice(part);
            Ok(())
        };
        each_pair(&candidates(&keys, reach), THRESHOLD, &judge, take).expect("taken");
        let mut found = found.into_inner().expect("sound");
        found.sort_by_key(|edge| (edge.left, edge.right));
        let expected: Vec<Edge> = edges
            .iter()
            .map(|(left, right)| Edge { left: *left, right: *right, score: narrow(score(*left, *right).unwrap_or(0.0), THRESHOLD) })
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn keys_tell_how_many_pairs_they_leave_out((keys, _, _, _, reach) in small()) {
        let found = candidates(&keys, reach).capped();
        for key in 0..12 {
            let holders: Vec<u32> = (0..).zip(&keys).filter(|(_, own)| own.contains(&key)).map(|(i, _)| i).collect();
            let one_key: Vec<Vec<u64>> = vec![vec![key]; holders.len()];
            let all = identity(holders.len());
            let pairs = all.iter().flat_map(|right| (0..*right).map(move |left| (left, *right)));
            let untried = pairs.filter(|(left, right)| !is_proposed(&one_key, reach, *left, *right)).count() as u64;
            let told = found.iter().find(|capped| capped.key == key).map(|capped| (capped.documents as usize, capped.untried));
            prop_assert_eq!(told, (untried > 0).then_some((holders.len(), untried)));
        }
    }

    #[test]
    fn fingerprints_propose_every_pair_within_the_distance(
        seeds in prop::collection::vec((0u64..4, prop::option::weighted(0.7, 0u32..64), any::<bool>()), 1..60), distance in 0u32..5,
    ) {
        let print = |(seed, flip, has): &(u64, Option<u32>, bool)| {
            (*has || *seed > 0).then_some(mix64(*seed) ^ flip.map_or(0, |bit| 1 << bit))
        };
        let prints: Vec<Option<u64>> = seeds.iter().map(print).collect();
        let near = |i: u32, j: u32| prints[i as usize].zip(prints[j as usize]).map(|(a, b)| (a ^ b).count_ones());
        let judge = sure(|i: u32, j: u32| Some(if near(i, j).is_some_and(|bits| bits <= distance) { 0.9 } else { 0.1 }));
        let groups = PrintGroups::new(&prints, distance, Settled::default(), || false).expect("in range");
        let all = (0..prints.len() as u32).flat_map(|right| (0..right).map(move |left| (left, right)));
        let mut edges: Vec<(u32, u32)> = all.filter(|(left, right)| accepts(&judge, *left, *right)).collect();
        edges.sort_unstable();
        // No fingerprint has as many holders here as the rule for crowded keys allows.
        prop_assert_eq!(cluster(&groups, THRESHOLD, Method::Star, &judge).leader, naive_star(prints.len(), &edges, &judge));
        prop_assert_eq!(cluster(&groups, THRESHOLD, Method::Components, &judge).leader, naive_components(prints.len(), &edges));
    }
}

#[test]
fn crowded_fingerprints_propose_every_pair_and_no_pair_is_kept() {
    let documents = 8 * super::prints::KEPT as u32;
    // All differ from 0 in up to three of ten bits; and one is far away.
    let near = (0u64..1024).filter(|print| print.count_ones() <= 3).cycle().take(documents as usize);
    let prints: Vec<Option<u64>> = near.chain([u64::MAX]).map(Some).collect();
    let groups = PrintGroups::new(&prints, 4, Settled::default(), || false).expect("in range");
    assert_eq!((groups.components(), groups.members(0).len()), (1, documents as usize));
    let mut local = groups.local();
    local.load(0);
    let mut proposed = Vec::new();
    for place in 0..documents {
        local.propose(place, &mut proposed);
        proposed.sort_unstable();
        let bits =
            |other: u32| (prints[place as usize].unwrap_or(0) ^ prints[other as usize].unwrap_or(0)).count_ones();
        assert_eq!(proposed, (place + 1..documents).filter(|other| bits(*other) <= 4).collect::<Vec<u32>>(), "{place}");
    }
    assert!(groups.kept() < documents as usize, "{} neighbours are kept", groups.kept());
}

#[test]
fn holders_of_one_fingerprint_are_proposed_by_the_rule_for_crowded_keys() {
    let documents = FIRST + 3 * LAST;
    // Two neighbouring fingerprints, in turn.
    let prints: Vec<Option<u64>> = (0..documents as u64).map(|i| Some(i % 2)).collect();
    let groups = PrintGroups::new(&prints, 1, Settled::default(), || false).expect("in range");
    let mut local = groups.local();
    local.load(0);
    let mut proposed = Vec::new();
    for place in 0..documents as u32 {
        local.propose(place, &mut proposed);
        proposed.sort_unstable();
        // Of the holders of its fingerprint, `place / 2` come before it.
        let is_first = (place as usize / 2) < FIRST;
        let end = if is_first { documents as u32 } else { (place + 2 * LAST as u32 + 1).min(documents as u32) };
        assert_eq!(proposed, (place + 1..end).collect::<Vec<u32>>(), "{place}");
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
    let close = |i: u32, j: u32| {
        Some(if class(i) == class(j) { 0.79 + (mix64(u64::from(i ^ j)) % 20) as f64 / 100.0 } else { 0.3 })
    };
    let judge = World { score: close, noise: 0.03, margin: 0.04 };
    for method in [Method::Star, Method::Components] {
        let expected = run(&keys, Reach::CROWDED, method, &judge);
        assert!(expected.leader.iter().enumerate().any(|(i, leader)| i as u32 != *leader));
        assert!(!expected.capped.is_empty());
        for (threads, budget) in [(1, 200), (2, 5_000), (5, 100_000)] {
            let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
            let mut sorter = Sorter::new(std::sync::Arc::new(System), budget * 12, folder.path());
            for (document, keys) in keys.iter().enumerate() {
                sorter.push(document as u32, keys).expect("written");
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
            let found = pool.install(|| {
                let candidates = Candidates::new(sorter.finish()?, keys.len(), Reach::CROWDED)?;
                Ok::<_, Error>(cluster(&candidates, THRESHOLD, method, &judge))
            });
            assert!(found.expect("read") == expected, "{method:?} at {threads} threads and {budget} rows");
        }
    }
}

#[test]
fn a_chain_never_ends_in_one_star() {
    let documents = 20_000;
    let keys: Vec<Vec<u64>> = (0..documents as u64).map(|i| vec![mix64(i), mix64(i + 1), mix64(i + 2)]).collect();
    let judge = unsure(|i: u32, j: u32| Some((1.0 - 0.1 * f64::from(i.abs_diff(j))).max(0.0)));
    let star = run(&keys, Reach::CROWDED, Method::Star, &judge);
    for (document, leader) in star.leader.iter().enumerate() {
        assert!((document as u32).abs_diff(*leader) <= 2, "{document} follows {leader}");
    }
    assert!(star.giants.is_empty());
    let whole = run(&keys, Reach::CROWDED, Method::Components, &judge);
    assert!(whole.leader.iter().all(|leader| *leader == 0));
    assert_eq!((whole.giants[0].leader, whole.giants[0].documents), (0, documents as u32));
    assert!(!whole.giants[0].keys.is_empty() && whole.giants[0].keys.iter().all(|(_, count)| *count == 3));
}

#[test]
fn the_same_keys_a_hundred_thousand_times_take_one_glance_each() {
    let documents = 100_000;
    let keys = vec![(0..6).map(mix64).collect::<Vec<u64>>(); documents];
    for method in [Method::Star, Method::Components] {
        let found = run(&keys, Reach::CROWDED, method, &unsure(|_, _| Some(0.9)));
        assert!(found.leader.iter().all(|leader| *leader == 0));
        assert_eq!(found.glances, 99_999, "{method:?}");
        assert_eq!(found.giants[0].keys.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [100_000; 6]);
    }
}

#[test]
fn a_million_documents_with_one_key_are_linear_and_what_was_left_out_is_counted() {
    let documents = 1_000_000;
    let keys = vec![vec![7]; documents];
    let judge = sure(|_, _| Some(0.1));
    let all = documents as u64 * (documents as u64 - 1) / 2;
    for method in [Method::Star, Method::Components] {
        let found = run(&keys, Reach::CROWDED, method, &judge);
        assert!(found.glances <= (documents * (FIRST + LAST)) as u64);
        assert_eq!(found.capped, [Capped { key: 7, documents: documents as u32, untried: all - found.glances }]);
    }
}

#[test]
fn an_owner_that_is_no_document_is_refused() {
    for keys in [vec![vec![], vec![1]], vec![vec![1], vec![1]]] {
        let found = Candidates::new(table(&keys), 1, Reach::CROWDED);
        assert!(matches!(found, Err(Error::Refused { reason }) if reason.contains("`1`")));
    }
    assert_eq!(run(&[], Reach::CROWDED, Method::Star, &sure(|_, _| None)), Clustering::default());
}

#[test]
fn a_judge_that_is_stopped_ends_the_work() {
    struct Stopped(std::sync::atomic::AtomicU32);
    impl Judge for Stopped {
        fn glance(&self, _: u32, _: u32) -> Glance {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Glance::REJECTED
        }
        fn exact(&self, _: u32, _: &[u32], _: f64, _: &mut Vec<Option<f64>>) {}
        fn is_stopped(&self) -> bool {
            self.0.load(std::sync::atomic::Ordering::Relaxed) > 0
        }
    }
    let keys = vec![vec![7]; 1000];
    for method in [Method::Star, Method::Components] {
        let judge = Stopped(std::sync::atomic::AtomicU32::new(0));
        assert_eq!(run(&keys, Reach::CROWDED, method, &judge).glances, 999, "{method:?}: one hub, then the end");
    }
}

#[test]
fn a_score_is_never_rounded_over_the_threshold() {
    assert!(f64::from(0.9f64 as f32) < 0.9);
    assert!(f64::from(narrow(0.9, 0.9)) >= 0.9);
    let below = 0.9 - 1e-12;
    assert!(f64::from(narrow(below, 0.9)) < 0.9);
    let above = 0.7f64.next_down();
    assert!(f64::from(above as f32) < 0.7 || f64::from(narrow(above, 0.7)) < 0.7);
    assert_eq!(narrow(0.75, 0.5), 0.75);
    assert!(f64::from(narrow(0.3, 0.9)) < 0.9);
}

/// Sketches in memory.
struct Listed(Vec<Vec<u64>>);

impl Sketches for Listed {
    fn sketch(&self, document: u32) -> &[u64] {
        &self.0[document as usize]
    }
}

/// Clusters led by their first members; each document is compared with all of them.
fn naive_greedy(sketches: &Listed, documents: usize, judge: &impl Judge) -> Vec<u32> {
    let mut leader = identity(documents);
    let mut firsts: Vec<u32> = Vec::new();
    for document in identity(documents).into_iter().filter(|document| !sketches.sketch(*document).is_empty()) {
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
        (keys, scores, margin, noise, _) in small(),
        sketches in prop::collection::vec(prop::collection::btree_set(0u64..10, 0..8), 24),
    ) {
        let documents = keys.len();
        let sketches = Listed(sketches.into_iter().map(|sketch| sketch.into_iter().collect()).collect());
        let judge = World { score: |i: u32, j: u32| scores[i as usize * documents + j as usize], noise, margin };
        let found = greedy(&sketches, documents, THRESHOLD, u32::MAX, Representative::First, &judge);
        prop_assert_eq!(found.leader, naive_greedy(&sketches, documents, &judge));
    }
}

#[test]
fn what_most_members_have_stands_for_a_greedy_cluster() {
    // Three members share 1..=4, of which the first has half; the fourth shares one element with the first.
    let sketches =
        Listed(vec![vec![1, 2, 8, 9], vec![1, 2, 3, 4], vec![1, 3, 4, 2], vec![3, 4, 9, 20], vec![3, 4, 21, 22]]);
    let judge = sure(|_, _| Some(0.9));
    let popular = greedy(&sketches, 5, THRESHOLD, u32::MAX, Representative::Popular, &judge);
    assert_eq!(popular.leader, [0, 0, 0, 0, 0]);
    let first = greedy(&sketches, 5, THRESHOLD, u32::MAX, Representative::First, &judge);
    assert_eq!(first.leader, [0, 0, 0, 3, 3]);
}

#[test]
fn an_element_of_very_many_greedy_clusters_is_counted() {
    let sketches = Listed((0..1000u64).map(|i| vec![5, mix64(i), mix64(i + 5000)]).collect());
    let found = greedy(&sketches, 1000, THRESHOLD, u32::MAX, Representative::Popular, &sure(|_, _| Some(0.1)));
    assert_eq!(found.capped, [Capped { key: 5, documents: 1000, untried: 1000 - super::greedy::CROWD as u64 }]);
    assert_eq!(found.glances, 0);
    let same = Listed(vec![vec![1, 2, 3]; 3000]);
    let found = greedy(&same, 3000, THRESHOLD, u32::MAX, Representative::Popular, &sure(|_, _| Some(1.0)));
    assert_eq!(found.giants, [Giant { leader: 0, documents: 3000, keys: vec![(1, 3000), (2, 3000), (3, 3000)] }]);
    assert_eq!(found.glances, 2999);
}
