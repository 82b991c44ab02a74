//! Clusters do not chain, are disjoint, and every member was compared with the representative.

use super::super::cluster::{Link, MatchCluster};
use super::*;
use crate::testing::fixed;
use std::collections::HashMap;

fn link(left: u32, right: u32, score: f64) -> Link {
    Link { left, right, score }
}

/// Clusters of links among `n` submissions with nothing in common.
fn clusters(links: &[Link], n: u32, threshold: f64) -> Vec<MatchCluster> {
    let entries = (0..n).map(|i| entry(i, &fresh(i, 9), 3, 5)).collect();
    let links: Vec<Link> = links.iter().filter(|link| link.score >= threshold).copied().collect();
    super::super::cluster::clusters(&cohort(entries, &[], ALL), &links)
}

#[test]
fn a_chain_is_not_a_cluster() {
    let chain = [link(0, 1, 0.9), link(1, 2, 0.9), link(2, 3, 0.9)];
    let found = clusters(&chain, 4, 0.5);
    assert_eq!(
        found.iter().map(|c| (c.representative, c.members.clone())).collect::<Vec<_>>(),
        [(1, vec![(0, 0.9), (2, 0.9)])]
    );
}

proptest! {
    #![proptest_config(fixed(500))]

    #[test]
    fn members_are_in_one_cluster_and_paired_with_its_representative(
        edges in prop::collection::btree_map((0u32..20, 0u32..20), 0u32..=20, 0..80), threshold in 0u32..=20,
    ) {
        let edges = edges.into_iter().filter(|((a, b), _)| a < b);
        let pairs: Vec<Link> = edges.map(|((a, b), score)| link(a, b, f64::from(score) / 20.0)).collect();
        let threshold = f64::from(threshold) / 20.0;
        let found = clusters(&pairs, 20, threshold);
        prop_assert_eq!(&clusters(&pairs, 20, threshold), &found);
        let scores: HashMap<(u32, u32), f64> = pairs.iter().map(|pair| ((pair.left, pair.right), pair.score)).collect();
        let mut seen = std::collections::HashSet::new();
        for cluster in &found {
            let leader = cluster.representative;
            prop_assert!(seen.insert(leader));
            prop_assert!(!cluster.members.is_empty());
            prop_assert!(cluster.members.windows(2).all(|two| two[0].1 >= two[1].1));
            for (member, score) in &cluster.members {
                prop_assert!(seen.insert(*member));
                prop_assert_eq!(scores.get(&(leader.min(*member), leader.max(*member))), Some(score));
                prop_assert!(*score >= threshold);
            }
        }
        for pair in pairs.iter().filter(|pair| pair.score >= threshold) {
            prop_assert!(seen.contains(&pair.left) || seen.contains(&pair.right), "{:?} is in no cluster", pair);
        }
    }
}
