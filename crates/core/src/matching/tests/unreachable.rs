//! Code that cannot run: two scores, the better of both counts, and bounds hold for both.

use super::*;
use crate::testing::fixed;

/// The entry with a stretch of tokens that cannot run.
fn dead(mut entry: Entry, stretch: Range<usize>) -> Entry {
    entry.unreachable = vec![false; entry.tokens.len()];
    let end = stretch.end.min(entry.tokens.len());
    entry.unreachable[stretch.start.min(end)..end].fill(true);
    entry.is_analysed = true;
    entry
}

/// A cohort that shares much, with stretches that cannot run.
fn cohort_of(texts: &[(Vec<u32>, usize, usize)]) -> Vec<Entry> {
    let make = |(i, (text, start, len)): (usize, &(Vec<u32>, usize, usize))| {
        let made = entry(i as u32, text, 4, 9);
        if len % 5 == 0 {
            made
        } else {
            dead(made, *start..start + len)
        }
    };
    texts.iter().enumerate().map(make).collect()
}

proptest! {
    #![proptest_config(fixed(150))]

    #[test]
    fn pairs_above_a_cut_off_are_the_same_at_every_lower_one(
        kins in prop::collection::vec((kin(120), 0usize..120, 0usize..120), 1..5),
    ) {
        let texts: Vec<_> = kins.into_iter().flat_map(|((a, b), start, len)| [(a, start, len), (b, len, start)]).collect();
        let all = run(&cohort(cohort_of(&texts), &[], ALL));
        for min_score in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let some = run(&cohort(cohort_of(&texts), &[], MatchSettings { min_score, ..ALL }));
            let wanted: Vec<_> = all.pairs.iter().filter(|pair| pair.measures.score >= min_score).collect();
            prop_assert_eq!(some.pairs.iter().collect::<Vec<_>>(), wanted, "at {}", min_score);
        }
    }

    #[test]
    fn the_score_is_the_better_of_both((a, b) in kin(120), start in 0usize..120, len in 0usize..120) {
        let made = run(&cohort(cohort_of(&[(a, start, len), (b, len, start)]), &[], ALL));
        for pair in &made.pairs {
            let found = pair.measures;
            prop_assert_eq!(found.score, found.whole.max(found.reachable.unwrap_or(0.0)));
        }
    }
}

#[test]
fn code_that_cannot_run_does_not_dilute_a_copy() {
    let (copied, library) = (fresh(1, 80), fresh(2, 800));
    let padded = dead(entry(0, &[&copied[..], &library].concat(), 5, 10), 80..880);
    let found = run(&cohort(vec![padded, entry(1, &copied, 5, 10)], &[], MatchSettings { min_score: 0.9, ..ALL }));
    let measures = found.pairs[0].measures;
    assert_eq!((measures.score, measures.reachable), (1.0, Some(1.0)));
    assert!((measures.whole - 160.0 / 960.0).abs() < 1e-9, "{}", measures.whole);
}

#[test]
fn a_copy_that_seems_dead_keeps_its_score() {
    let (copied, rest) = (fresh(1, 400), [fresh(2, 80), fresh(3, 80)]);
    let entries = [0, 1].map(|i| dead(entry(i as u32, &[&copied[..], &rest[i]].concat(), 5, 10), 0..400));
    let found = run(&cohort(entries.to_vec(), &[], MatchSettings { min_score: 0.8, ..ALL }));
    let measures = found.pairs[0].measures;
    assert_eq!((measures.score, measures.reachable), (400.0 / 480.0, Some(0.0)));
}

#[test]
fn without_analysis_there_is_one_score() {
    let entries = vec![entry(0, &fresh(1, 80), 5, 10), entry(1, &fresh(1, 80), 5, 10)];
    assert_eq!(run(&cohort(entries, &[], ALL)).pairs[0].measures.reachable, None);
}

#[test]
fn if_nothing_of_their_own_can_run_there_is_one_score() {
    let entries = [0, 1].map(|i| dead(entry(i, &[&fresh(1, 80)[..], &fresh(i, 9)].concat(), 5, 10), 0..99));
    let measures = run(&cohort(entries.to_vec(), &[], ALL)).pairs[0].measures;
    assert_eq!((measures.reachable, measures.score), (None, measures.whole));
}
