//! The score is 0 to 1, symmetric, independent of order, 1 for equal content, and ignores template and common material.

use super::super::entry::Literal;
use super::super::passages::{Passage, PassageKind};
use super::*;
use crate::testing::fixed;

/// Exact texts that differ in some places.
fn spelled(entry: Entry, salt: u32) -> Entry {
    let tokens = entry.tokens.clone();
    written(entry, |i| if tokens[i].is_multiple_of(3) { 1 + (i as u32 / 7 + salt) % 2 } else { 0 })
}

/// The pair if the submission whose name sorts first is given last.
fn swapped(a: Entry, b: Entry) -> Option<MatchedPair> {
    let pair = pair(ranked(b, 1), ranked(a, 0))?;
    assert_eq!((pair.left, pair.right), (1, 0));
    Some(MatchedPair { left: 0, right: 1, ..pair })
}

proptest! {
    #![proptest_config(fixed(600))]

    #[test]
    fn a_pair_is_the_same_from_both_sides((a, b) in akin()) {
        let (a, b) = (spelled(a, 0), spelled(b, 1));
        let (one, other) = (pair(a.clone(), b.clone()), swapped(a, b));
        prop_assert_eq!(&one, &other);
        if let Some(pair) = one {
            prop_assert!((0.0..=1.0).contains(&pair.measures.score), "{}", pair.measures.score);
            prop_assert!(pair.coverage.iter().all(|share| (0.0..=1.0).contains(share)), "{:?}", pair.coverage);
        }
    }
}

proptest! {
    #![proptest_config(fixed(600))]

    #[test]
    fn outside_its_gaps_a_run_matches_token_by_token((a, b) in akin()) {
        if let Some(pair) = pair(a.clone(), b.clone()) {
            for passage in pair.passages.iter().filter(|passage| passage.kind == PassageKind::Run) {
                let own = |gap: &&[[u32; 2]; 2]| passage.start[0] < gap[0][0] && gap[0][1] < passage.end[0];
                let gaps: Vec<_> = pair.gaps.iter().filter(own).collect();
                let matched = |entry: &Entry, side: usize| {
                    let is_in_gap = |i: &u32| gaps.iter().any(|gap| gap[side][0] <= *i && *i < gap[side][1]);
                    let kept = (passage.start[side]..passage.end[side]).filter(|i| !is_in_gap(i));
                    kept.map(|i| entry.tokens[i as usize]).collect::<Vec<_>>()
                };
                let sides = [matched(&a, 0), matched(&b, 1)];
                prop_assert_eq!(&sides[0], &sides[1]);
                prop_assert_eq!(sides[0].len(), passage.same_text[0] as usize);
            }
        }
    }
}

proptest! {
    #![proptest_config(fixed(60))]

    #[test]
    fn a_pair_is_the_same_from_both_sides_in_long_texts_that_repeat_themselves(
        (a, b) in kin(2500), (k, t) in thresholds(),
    ) {
        let (a, b) = (entry(0, &a, k, t), entry(1, &b, k, t));
        prop_assert_eq!(pair(a.clone(), b.clone()), swapped(a, b));
    }

    #[test]
    fn the_order_of_the_submissions_changes_no_score(
        texts in prop::collection::vec(kin(90), 1..7), (k, t) in thresholds(), keys in prop::collection::vec(any::<u32>(), 14),
        max_sharing in prop::option::of(2u32..6),
    ) {
        let texts: Vec<Vec<u32>> = texts.into_iter().flat_map(|(a, b)| [a, b]).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|i| keys[*i]);
        let named = |i: usize| ranked(entry(i as u32 / 3, &texts[i], k, t), i as u32);
        let make = |order: &[usize]| order.iter().map(|i| named(*i)).collect();
        let settings = MatchSettings { max_sharing, ..ALL };
        let template = [entry(0, &texts[0][..texts[0].len() / 2], k, t)];
        let straight: Vec<usize> = (0..texts.len()).collect();
        let scores = |order: &[usize]| {
            let outcome = run(&cohort(make(order), &template, settings));
            let name = |pair: &MatchedPair| {
                let [a, b] = [pair.left, pair.right].map(|i| order[i as usize]);
                (a.min(b), a.max(b), pair.measures.score.to_bits(), pair.passages.len(), pair.longest)
            };
            let mut scores: Vec<_> = outcome.pairs.iter().map(name).collect();
            scores.sort_unstable();
            (scores, outcome.histogram)
        };
        prop_assert_eq!(scores(&straight), scores(&order));
    }

    #[test]
    fn identical_submissions_score_1_whatever_the_cohort(
        (own, rest) in akin(), others in prop::collection::vec(akin(), 0..4), copies in 2u32..9,
        has_template in any::<bool>(), max_sharing in prop::option::of(1u32..9),
    ) {
        let own = spelled(own, 0);
        let mut entries: Vec<Entry> = (0..copies).map(|i| by(own.clone(), i, false)).collect();
        entries.extend(others.into_iter().map(|(a, _)| by(a, 50, false)));
        let templates = if has_template { vec![rest] } else { Vec::new() };
        let cohort = cohort(entries, &templates, MatchSettings { max_sharing, ..ALL });
        let outcome = run(&cohort);
        let expected = (cohort.weighed()[0].total > 0).then_some(1.0);
        for right in 1..copies {
            for left in 0..right {
                prop_assert_eq!(score_of(&outcome, left, right), expected, "{} and {}", left, right);
            }
        }
    }
}

#[test]
fn a_renamed_copy_scores_less_than_1_and_more_than_seven_tenths() {
    let tokens = fresh(1, 200);
    let names = |salt: u32| move |i: usize| if i.is_multiple_of(3) { 1 + salt } else { 0 };
    let copy = |salt: u32| written(entry(salt, &tokens, 8, 16), names(salt));
    let found = pair(copy(0), copy(1)).expect("the same but for names");
    assert!(found.measures.score > 0.7 && found.measures.score < 1.0, "{}", found.measures.score);
    assert_eq!(found.passages.iter().map(|passage| passage.exact).collect::<Vec<_>>(), [false]);
}

#[test]
fn identical_after_the_template_is_removed_is_1() {
    let (k, t) = (5, 10);
    let (handed_out, more, own) = (fresh(1, 40), fresh(2, 60), fresh(3, 30));
    let templates = [entry(7, &[&handed_out[..], &fresh(9, 4), &more].concat(), k, t)];
    let versions = [
        [&handed_out[..], &own].concat(),
        [&own[..], &more].concat(),
        [&more[..], &own, &handed_out].concat(),
        own.clone(),
        [&more[..10], &own, &more[20..50]].concat(),
    ];
    let entries: Vec<Entry> = versions.iter().enumerate().map(|(i, text)| entry(i as u32, text, k, t)).collect();
    let outcome = run(&cohort(entries, &templates, ALL));
    assert_eq!(outcome.pairs.iter().map(|pair| pair.measures.score).collect::<Vec<_>>(), [1.0; 10]);
    assert!(outcome.pairs.iter().all(|pair| pair.coverage == [1.0, 1.0] && pair.matched == 30 && pair.longest == 30));
}

#[test]
fn identical_after_common_material_is_removed_is_1() {
    let (k, t) = (5, 10);
    let (everybodys, own) = (fresh(1, 40), fresh(2, 30));
    let mut texts = vec![[&everybodys[..], &own].concat(), [&own[..], &everybodys].concat()];
    texts.extend((0..20).map(|i| [&everybodys[..], &fresh(10 + i, 30)].concat()));
    let entries: Vec<Entry> = texts.iter().enumerate().map(|(i, text)| entry(i as u32, text, k, t)).collect();
    let outcome = run(&cohort(entries, &[], MatchSettings { max_sharing: Some(5), ..ALL }));
    assert_eq!(score_of(&outcome, 0, 1), Some(1.0));
    assert!(score_of(&outcome, 2, 3).is_none_or(|score| score < 0.3), "{:?}", score_of(&outcome, 2, 3));
}

#[test]
fn two_of_the_same_that_are_template_only_are_no_pair() {
    let text = fresh(1, 60);
    let entries = vec![entry(0, &text, 5, 10), entry(1, &text, 5, 10)];
    let outcome = run(&cohort(entries, &[entry(9, &text, 5, 10)], ALL));
    assert_eq!((outcome.pairs.len(), outcome.count, outcome.histogram.iter().sum::<u64>()), (0, 0, 0));
}

#[test]
fn texts_too_short_for_a_kgram_are_matched_by_exact_content_only() {
    let entries = [fresh(1, 3), fresh(1, 3), fresh(1, 4), Vec::new(), Vec::new()];
    let entries = entries.iter().enumerate().map(|(i, text)| entry(i as u32, text, 5, 10)).collect();
    let outcome = run(&cohort(entries, &[], ALL));
    assert_eq!((names(&outcome), score_of(&outcome, 0, 1)), (vec![(0, 1)], Some(1.0)));
}

#[test]
fn a_shared_literal_is_told_and_counts() {
    let literal = |mut entry: Entry, at: u32, key: u64| {
        entry.literals = vec![Literal { key, at, words: 6 }];
        entry
    };
    let shared = fresh(1, 20);
    let texts = [[&fresh(2, 30)[..], &shared].concat(), [&shared[..], &fresh(3, 30)].concat()];
    let make = |keys: [u64; 2]| {
        let [a, b] = [0, 1].map(|i| literal(entry(i as u32, &texts[i], 5, 10), 4 + 30 * i as u32, keys[i]));
        pair(a, b).expect("20 tokens in common")
    };
    let (same, other) = (make([9, 9]), make([8, 9]));
    assert!(same.measures.score > other.measures.score, "{} {}", same.measures.score, other.measures.score);
    let told: Vec<&Passage> = same.passages.iter().filter(|passage| passage.kind == PassageKind::Literal).collect();
    assert_eq!(
        told.iter().map(|p| (p.start, p.end, p.tokens, p.exact)).collect::<Vec<_>>(),
        [([4, 34], [5, 35], 6, true)]
    );
    assert!(other.passages.iter().all(|passage| passage.kind != PassageKind::Literal));
}
