//! The guarantee: every token in a common run of t tokens is in a reported passage, and every passage is correct.

use super::super::passages::PassageKind;
use super::*;
use crate::testing::fixed;
use oracle::{in_common, shares};

/// The first token, with its side, that a passage should cover and none does.
fn uncovered(a: &Entry, b: &Entry, pair: Option<&MatchedPair>) -> Option<(usize, usize)> {
    let expected = in_common(a, b);
    let mut covered = [vec![false; a.tokens.len()], vec![false; b.tokens.len()]];
    for passage in pair.iter().flat_map(|pair| &pair.passages).filter(|passage| passage.kind != PassageKind::Literal) {
        for (side, covered) in covered.iter_mut().enumerate() {
            covered[passage.start[side] as usize..passage.end[side] as usize].fill(true);
        }
    }
    (0..2).find_map(|side| Some((side, (0..expected[side].len()).find(|i| expected[side][*i] && !covered[side][*i])?)))
}

/// The first passage that is not what it claims to be.
fn wrong<'a>(a: &Entry, b: &Entry, pair: &'a MatchedPair) -> Option<&'a super::super::passages::Passage> {
    pair.passages.iter().find(|passage| {
        let side = |entry: &Entry, side: usize| {
            entry.tokens[passage.start[side] as usize..passage.end[side] as usize].to_vec()
        };
        let [left, right] = [side(a, 0), side(b, 1)];
        let crosses = left.contains(&SEPARATOR) || right.contains(&SEPARATOR);
        let ends = (left.first(), left.last()) == (right.first(), right.last());
        let must_equal = passage.kind == PassageKind::Repeat || passage.exact;
        let k = a.parts[a.part_of(passage.start[0])].k;
        crosses || !ends || (must_equal && left != right) || passage.tokens < k || passage.tokens as usize > left.len()
    })
}

proptest! {
    #![proptest_config(fixed(1500))]

    #[test]
    fn every_token_in_a_run_of_t_in_common_is_in_a_passage((a, b) in akin()) {
        let pair = pair(a.clone(), b.clone());
        prop_assert_eq!(uncovered(&a, &b, pair.as_ref()), None, "{:?}", pair);
        if let Some(pair) = &pair {
            prop_assert_eq!(wrong(&a, &b, pair), None, "{:?}", pair);
        }
    }
}

proptest! {
    #![proptest_config(fixed(40))]

    #[test]
    fn the_guarantee_holds_in_long_texts_that_repeat_themselves(
        (a, b) in kin(2500), (k, t) in thresholds(),
    ) {
        let (a, b) = (entry(0, &a, k, t), entry(1, &b, k, t));
        let pair = pair(a.clone(), b.clone());
        prop_assert_eq!(uncovered(&a, &b, pair.as_ref()), None);
        if let Some(pair) = &pair {
            prop_assert_eq!(wrong(&a, &b, pair), None);
        }
    }
}

proptest! {
    #![proptest_config(fixed(150))]

    #[test]
    fn every_pair_of_a_cohort_that_shares_a_run_of_t_is_found_and_covered(
        texts in prop::collection::vec(kin(120), 1..7), (k, t) in thresholds(),
    ) {
        let texts = texts.into_iter().flat_map(|(a, b)| [a, b]);
        let entries: Vec<Entry> = texts.enumerate().map(|(i, text)| entry(i as u32, &text, k, t)).collect();
        let outcome = run(&cohort(entries.clone(), &[], ALL));
        for (left, a) in entries.iter().enumerate() {
            for (right, b) in entries.iter().enumerate().skip(left + 1) {
                let found = outcome.pairs.iter().find(|pair| (pair.left, pair.right) == (left as u32, right as u32));
                prop_assert!(found.is_some() || !shares(a, b), "{} and {}", left, right);
                prop_assert_eq!(uncovered(a, b, found), None, "{} and {}: {:?}", left, right, found);
            }
        }
        prop_assert_eq!(outcome.count as usize, outcome.pairs.len());
        prop_assert_eq!(outcome.limited, 0);
    }
}

#[test]
fn a_text_that_repeats_one_pick_many_times_is_still_compared() {
    // A table of numbers folds to the same few tokens again and again: one k-gram is selected hundreds of times.
    let table: Vec<u32> = [1, 2, 3].into_iter().cycle().take(6_000).collect();
    let [a, b] = [fresh(1, 50), fresh(2, 80)].map(|own| [own, table.clone()].concat());
    let found = pair(entry(0, &a, 10, 20), entry(1, &b, 10, 20)).expect("6,000 tokens in common");
    assert_eq!((found.longest, found.passages.len()), (6_000, 1));
}

#[test]
fn a_promised_run_is_told_though_shorter_common_pieces_cover_it() {
    // `one two` is whole in both. Tiles split it, because `before one` is longer and comes first, and the rest of it is
    // shorter than t and common.
    let (k, t) = (4, 5);
    let [one, two, before] = [fresh(1, 4), fresh(2, 4), fresh(3, 9)];
    let a = entry(0, &[&before[..], &one, &two, &fresh(4, 3), &one].concat(), k, t);
    let b = entry(1, &[&one[..], &two, &fresh(5, 3), &before, &one].concat(), k, t);
    let crowd = (2..40).map(|i| entry_of(i, &[(one.clone(), k, t), (two.clone(), k, t)]));
    let outcome = run(&cohort([a.clone(), b.clone()].into_iter().chain(crowd).collect(), &[], ALL));
    let found = outcome.pairs.iter().find(|pair| (pair.left, pair.right) == (0, 1));
    assert_eq!(uncovered(&a, &b, found), None, "{found:?}");
}
