//! Crowds: material that everybody has, or all submissions being equal, costs little and hides nothing.

use super::super::common::common;
use super::*;

fn aligned(entries: Vec<Entry>, settings: MatchSettings) -> u64 {
    run(&cohort(entries, &[], settings)).aligned
}

#[test]
fn a_passage_that_300_share_costs_no_alignment_and_is_told_once_with_all_holders() {
    let (k, t) = (20, 40);
    let passage = fresh(1, 400);
    let own = |i: u32| fresh(10 + i, 500);
    let mut texts: Vec<Vec<u32>> = (0..300).map(|i| [&own(i)[..], &passage, &fresh(400 + i, 9)].concat()).collect();
    // Two of them share more than that.
    texts[7].extend(fresh(5, 100));
    texts[200].extend(fresh(5, 100));
    let entries: Vec<Entry> = texts.iter().enumerate().map(|(i, text)| entry(i as u32, text, k, t)).collect();
    let cohort = cohort(entries, &[], MatchSettings { min_score: 0.1, ..ALL });
    let outcome = run(&cohort);
    assert_eq!((names(&outcome), outcome.aligned), (vec![(7, 200)], 1));
    // It counts in the score of a pair although it proposes none.
    assert_eq!(outcome.pairs[0].matched, 500);
    let told = common(&cohort);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].holders, (0..300).collect::<Vec<u32>>());
    assert!(told[0].start >= 500 && told[0].end <= 900 && told[0].end - told[0].start > 400 - 2 * 21, "{:?}", told[0]);
}

#[test]
fn a_hot_passage_at_most_doubles_the_alignments() {
    let hot = fresh(1, 400);
    let own = |i: u32| [&fresh(10 + i, 400)[..], &fresh(900 + i / 3, 60)].concat();
    let without: Vec<Entry> = (0..200).map(|i| entry(i, &own(i), 10, 20)).collect();
    let with: Vec<Entry> = (0..200).map(|i| entry(i, &[&own(i)[..], &hot].concat(), 10, 20)).collect();
    let settings = MatchSettings { min_score: 0.1, ..ALL };
    let [few, many] = [aligned(without, settings), aligned(with, settings)];
    assert!(few >= 100 && many <= 2 * few, "{few} without, {many} with");
}

#[test]
fn those_who_share_only_what_all_share_are_compared_all_the_same() {
    // Everybody hands in the same solution under other names: the exact texts differ, so there is no class.
    let text = fresh(1, 300);
    let make = |i: u32| written(entry(i, &text, 10, 20), |at| if at.is_multiple_of(2) { 1 + i } else { 0 });
    let outcome = run(&cohort((0..100).map(make).collect(), &[], MatchSettings { min_score: 0.1, ..ALL }));
    assert_eq!((outcome.count, outcome.below), (4950, 0));
    assert!(outcome.pairs.iter().all(|pair| pair.measures.score > 0.7));
}

#[test]
fn a_pair_is_judged_by_its_hot_picks_too() {
    // A hundred have the same solution under other names; two of them also share a short passage of their own.
    let (crowd, little) = (fresh(1, 600), fresh(2, 25));
    let make = |i: u32| {
        let end = if i < 2 { little.clone() } else { fresh(10 + i, 25) };
        written(entry(i, &[&crowd[..], &end].concat(), 10, 20), |at| if at.is_multiple_of(2) { 1 + i } else { 0 })
    };
    let outcome = run(&cohort((0..100).map(make).collect(), &[], MatchSettings { min_score: 0.6, ..ALL }));
    assert!(score_of(&outcome, 0, 1).is_some_and(|score| score > 0.7), "{:?}", score_of(&outcome, 0, 1));
}

#[test]
fn identical_submissions_are_found_among_hot_picks_only() {
    let passage = fresh(1, 300);
    let cut = |i: u32| passage[i as usize..200 + i as usize].to_vec();
    let mut entries: Vec<Entry> = (0..100).map(|i| entry(i, &cut(i), 10, 20)).collect();
    entries.push(entry(100, &cut(31), 10, 20));
    let outcome = run(&cohort(entries, &[], MatchSettings { min_score: 0.1, ..ALL }));
    assert_eq!(score_of(&outcome, 31, 100), Some(1.0));
}

#[test]
fn five_hundred_identical_ones_are_one_row_and_one_group() {
    let text = fresh(1, 200);
    let entries: Vec<Entry> = (0..500).map(|i| entry(i, &text, 10, 20)).collect();
    let cohort = cohort(entries, &[], MatchSettings { min_score: 0.1, ..ALL });
    let outcome = run(&cohort);
    assert_eq!((names(&outcome), outcome.pairs[0].stands_for), (vec![(0, 1)], 500 * 499 / 2));
    assert_eq!((outcome.aligned, outcome.count, outcome.below), (0, 500 * 499 / 2, 0));
    assert_eq!(outcome.clusters.iter().map(|cluster| cluster.members.len()).collect::<Vec<_>>(), [499]);
    assert_eq!(cohort.classes().groups().collect::<Vec<_>>(), [0]);
    assert_eq!(cohort.classes().members(0).len(), 500);
    assert_eq!(common(&cohort), []);
}

#[test]
fn all_pairs_of_a_small_class_are_written_out() {
    let text = fresh(1, 200);
    let entries: Vec<Entry> = (0..30).map(|i| entry(i, &text, 10, 20)).collect();
    let cohort = cohort(entries, &[], ALL);
    assert_eq!(run(&cohort).pairs.len(), 30 * 29 / 2);
    assert_eq!(cohort.classes().groups().count(), 0);
}

#[test]
fn rows_of_groups_stand_for_all_pairs_that_may_be() {
    // Two classes that share a passage. Their first members are old and have one submitter; other members do not.
    let shared = fresh(1, 100);
    let texts = [[&shared[..], &fresh(2, 50)].concat(), [&fresh(3, 70)[..], &shared].concat()];
    for size in [20u32, 60] {
        let make = |i: u32| {
            let text = &texts[(i / size) as usize];
            by(entry(0, text, 10, 20), if i % size < 9 { 1000 } else { i }, i % size < 5)
        };
        let entries: Vec<Entry> = (0..2 * size).map(make).collect();
        let outcome = run(&cohort(entries.clone(), &[], ALL));
        let may = |left: &u32, right: &u32| {
            let [a, b] = [left, right].map(|i| &entries[*i as usize]);
            a.submitter != b.submitter && !(a.old && b.old)
        };
        let all = (0..2 * size).flat_map(|left| (left + 1..2 * size).map(move |right| (left, right)));
        let all = all.filter(|(left, right)| may(left, right)).count() as u64;
        assert!(outcome.pairs.iter().all(|pair| may(&pair.left, &pair.right)));
        assert_eq!((outcome.count, outcome.below), (all, 0), "{size}");
        assert_eq!(outcome.pairs.iter().map(|pair| pair.stands_for).sum::<u64>(), all, "{size}");
        assert_eq!(outcome.pairs.len() as u64, if size == 60 { 3 } else { all });
        let in_clusters: usize = outcome.clusters.iter().map(|cluster| 1 + cluster.members.len()).sum();
        assert_eq!(in_clusters, 2 * size as usize, "{size}: everybody is in a cluster");
    }
}
