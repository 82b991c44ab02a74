//! Crowds: material that everybody has, or all submissions being equal, costs little and hides nothing.

use super::super::common::common;
use super::super::proposals::hot;
use super::*;

/// Candidates of all rows.
fn candidates(cohort: &Cohort) -> usize {
    let (mut shared, mut found) = (Vec::new(), Vec::new());
    for row in 0..cohort.entries().len() as u32 {
        cohort.proposals.of(row, 0.0, &mut shared, &mut found);
    }
    found.len()
}

fn postings(cohort: &Cohort) -> usize {
    cohort.entries().iter().map(|entry| entry.picks.len()).sum()
}

#[test]
fn a_passage_that_300_share_proposes_nobody_and_is_told_once_with_all_holders() {
    let (k, t) = (20, 40);
    let passage = fresh(1, 400);
    let own = |i: u32| fresh(10 + i, 500);
    let mut texts: Vec<Vec<u32>> = (0..300).map(|i| [&own(i)[..], &passage, &fresh(400 + i, 9)].concat()).collect();
    // Two of them share more than that.
    texts[7].extend(fresh(5, 100));
    texts[200].extend(fresh(5, 100));
    let entries: Vec<Entry> = texts.iter().enumerate().map(|(i, text)| entry(i as u32, text, k, t)).collect();
    let cohort = cohort(entries, &[], MatchSettings { min_score: 0.1, ..ALL });
    let found = candidates(&cohort);
    assert!(found <= hot(300) * 300, "{found} candidates, all pairs are 44,850");
    let outcome = run(&cohort);
    assert_eq!(names(&outcome), [(7, 200)]);
    // It counts in the score of a pair although it proposes none.
    assert_eq!(outcome.pairs[0].matched, 500);
    let told = common(&cohort);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].holders, (0..300).collect::<Vec<u32>>());
    assert!(told[0].start >= 500 && told[0].end <= 900 && told[0].end - told[0].start > 400 - 2 * 21, "{:?}", told[0]);
}

#[test]
fn those_who_share_only_what_all_share_are_compared_all_the_same() {
    // Everybody hands in the same solution under other names: the exact texts differ, so there is no class, and every
    // pick is hot.
    let text = fresh(1, 300);
    let make = |i: u32| written(entry(i, &text, 10, 20), |at| if at.is_multiple_of(2) { 1 + i } else { 0 });
    let cohort = cohort((0..150).map(make).collect(), &[], MatchSettings { min_score: 0.1, ..ALL });
    let found = candidates(&cohort);
    assert!((150 * 64 / 2..=hot(150) * postings(&cohort)).contains(&found), "{found}");
    let outcome = run(&cohort);
    let mut partners = vec![0; 150];
    for pair in &outcome.pairs {
        assert!(pair.score > 0.7, "{pair:?}");
        partners[pair.left as usize] += 1;
        partners[pair.right as usize] += 1;
    }
    assert!(partners.iter().all(|count| *count >= 64), "{partners:?}");
}

#[test]
fn the_last_of_the_crowd_is_compared_though_the_others_have_more_in_common() {
    // All but the last of the crowd share much with one other, so only the last has nothing but hot picks. Every k-gram
    // is selected, so nothing at the edges of the passage is rare.
    let crowd = fresh(1, 200);
    let own = |i: u32| fresh(300 + i, 50);
    let text = |i: u32| if i < 200 { own(i) } else { [&crowd[..], &fresh(10 + i / 2, 700), &own(i)].concat() };
    let mut entries: Vec<Entry> = (0..270).map(|i| entry(i, &text(i), 10, 10)).collect();
    entries.push(entry(270, &crowd, 10, 10));
    let outcome = run(&cohort(entries, &[], MatchSettings { min_score: 0.1, ..ALL }));
    let partners = outcome.pairs.iter().filter(|pair| pair.right == 270).count();
    assert!(partners >= 64, "{partners} of 70");
}

#[test]
fn a_little_that_two_share_does_not_hide_what_they_share_with_all() {
    let crowd = fresh(1, 600);
    let make = |i: u32| {
        let text = [&crowd[..], &fresh(10 + i / 2, 15)].concat();
        written(entry(i, &text, 10, 20), |at| if at.is_multiple_of(2) { 1 + i } else { 0 })
    };
    let outcome = run(&cohort((0..140).map(make).collect(), &[], MatchSettings { min_score: 0.1, ..ALL }));
    for i in 0..140 {
        let partners = outcome.pairs.iter().filter(|pair| pair.left == i || pair.right == i).count();
        assert!(partners >= 64, "{i} has {partners}");
    }
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
fn five_hundred_identical_ones_are_499_links_and_one_class() {
    let text = fresh(1, 200);
    let entries: Vec<Entry> = (0..500).map(|i| entry(i, &text, 10, 20)).collect();
    let cohort = cohort(entries, &[], MatchSettings { min_score: 0.1, ..ALL });
    assert_eq!(candidates(&cohort), 0);
    assert_eq!(names(&run(&cohort)), (1..500).map(|i| (0, i)).collect::<Vec<_>>());
    assert_eq!(cohort.classes().large().collect::<Vec<_>>(), [0]);
    assert_eq!(cohort.classes().members(0).len(), 500);
    assert_eq!(common(&cohort), []);
}

#[test]
fn all_pairs_of_a_small_class_are_written_out() {
    let text = fresh(1, 200);
    let entries: Vec<Entry> = (0..30).map(|i| entry(i, &text, 10, 20)).collect();
    let cohort = cohort(entries, &[], ALL);
    assert_eq!(run(&cohort).pairs.len(), 30 * 29 / 2);
    assert_eq!(cohort.classes().large().count(), 0);
}

#[test]
fn every_member_of_large_classes_is_in_a_pair_that_may_be() {
    // Two classes that share a passage. Their first members are old and have one submitter; other members do not.
    let shared = fresh(1, 100);
    let texts = [[&shared[..], &fresh(2, 50)].concat(), [&fresh(3, 70)[..], &shared].concat()];
    for size in [20u32, 60] {
        let make = |i: u32| {
            let text = &texts[(i / size) as usize];
            by(entry(0, text, 10, 20), if i % size < 9 { 1000 } else { i }, i % size < 5)
        };
        let entries: Vec<Entry> = (0..2 * size).map(make).collect();
        let pairs = names(&run(&cohort(entries.clone(), &[], ALL)));
        let may = |(left, right): &(u32, u32)| {
            let [a, b] = [left, right].map(|i| &entries[*i as usize]);
            a.submitter != b.submitter && !(a.old && b.old)
        };
        assert!(pairs.iter().all(may), "{pairs:?}");
        assert!(pairs.windows(2).all(|two| two[0] != two[1]));
        for i in 0..2 * size {
            let partners =
                || pairs.iter().filter(|(a, b)| *a == i || *b == i).map(|(a, b)| if *a == i { *b } else { *a });
            assert!(partners().any(|other| other / size == i / size), "{i} of {size} has no twin");
            assert!(partners().any(|other| other / size != i / size), "{i} of {size} has no pair in the other class");
        }
        if size == 60 {
            assert!(pairs.len() <= 4 * 60, "{} links", pairs.len());
        }
    }
}
