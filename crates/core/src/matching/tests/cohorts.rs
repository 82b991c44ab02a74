//! Cohorts: which submissions are compared; neither threads nor steps change the result.

use super::*;
use crate::testing::fixed;

/// Texts that share much: copies, parts of copies, and some fresh ones.
fn texts() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec((kin(80), 1usize..4), 1..7).prop_map(|kins| {
        let repeat = |((a, b), times): ((Vec<u32>, Vec<u32>), usize)| {
            std::iter::repeat_n(a, times).chain([b]).collect::<Vec<Vec<u32>>>()
        };
        kins.into_iter().flat_map(repeat).collect()
    })
}

/// Entries with submitters, some of them old.
fn entries(texts: &[Vec<u32>], submitters: u32, old: u32) -> Vec<Entry> {
    let make = |(i, text): (usize, &Vec<u32>)| {
        let i = i as u32;
        by(entry(0, text, 4, 9), mix64(u64::from(i)) as u32 % submitters, old != 0 && i.is_multiple_of(old))
    };
    texts.iter().enumerate().map(make).collect()
}

fn in_steps(cohort: &Cohort, rows: u32) -> MatchOutcome {
    let mut comparison = Comparison::default();
    while comparison.advance(cohort, rows) {}
    assert_eq!(comparison.row as usize, cohort.entries().len());
    comparison.finish()
}

proptest! {
    #![proptest_config(fixed(60))]

    #[test]
    fn neither_threads_nor_steps_change_what_is_found(
        texts in texts(), max_pairs in prop::sample::select(vec![0, 1, 5, usize::MAX]), min_score in prop::sample::select(vec![0.0, 0.3]),
    ) {
        let settings = MatchSettings { max_pairs, min_score, ..ALL };
        let make = || entries(&texts, 9, 4);
        let expected = format!("{:?}", in_steps(&cohort(make(), &[], settings), u32::MAX));
        for (threads, rows) in [(1, 1), (2, 3), (5, 2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
            let found = pool.install(|| in_steps(&cohort(make(), &[], settings), rows));
            prop_assert_eq!(format!("{:?}", found), &expected[..], "{} threads, {} rows", threads, rows);
        }
    }

    #[test]
    fn old_ones_and_those_of_one_submitter_are_never_paired(texts in texts(), submitters in 1u32..6, old in 0u32..4) {
        let entries = entries(&texts, submitters, old);
        let outcome = run(&cohort(entries.clone(), &[], ALL));
        let may = |left: &Entry, right: &Entry| left.submitter != right.submitter && !(left.old && right.old);
        let pairs = names(&outcome);
        prop_assert!(pairs.windows(2).all(|two| two[0] != two[1]), "a pair is told twice: {:?}", pairs);
        for (left, a) in entries.iter().enumerate() {
            for (right, b) in entries.iter().enumerate().skip(left + 1) {
                let is_told = pairs.contains(&(left as u32, right as u32));
                prop_assert!(!is_told || may(a, b), "{} and {}", left, right);
                prop_assert!(is_told || !may(a, b) || !oracle::shares(a, b), "{} and {}", left, right);
            }
        }
    }
}

#[test]
fn the_best_pairs_are_kept_and_all_are_counted() {
    let text = |i: u32| [&fresh(1, 20 + 2 * i as usize)[..], &fresh(50 + i, 30)].concat();
    let entries: Vec<Entry> = (0..12).map(|i| entry(i, &text(i), 5, 10)).collect();
    let all = run(&cohort(entries.clone(), &[], ALL));
    let few = run(&cohort(entries, &[], MatchSettings { max_pairs: 7, ..ALL }));
    assert_eq!((all.pairs.len(), all.count, few.pairs.len(), few.count), (66, 66, 7, 66));
    assert_eq!(few.pairs, all.pairs[..7]);
    assert!(all.pairs.windows(2).all(|two| two[0].measures.score >= two[1].measures.score));
    assert_eq!((all.histogram.iter().sum::<u64>(), few.histogram), (66, all.histogram));
    assert_eq!(few.clusters, all.clusters);
}

#[test]
fn pairs_that_cannot_reach_the_cut_off_are_counted_not_aligned() {
    let shared = fresh(1, 12);
    let entries = (0..4).map(|i| entry(i, &[&shared[..], &fresh(10 + i, 900)].concat(), 5, 10)).collect();
    let outcome = run(&cohort(entries, &[], MatchSettings { min_score: 0.5, ..ALL }));
    assert_eq!((outcome.count, outcome.below, outcome.aligned, outcome.histogram[0]), (0, 6, 0, 0));
}
