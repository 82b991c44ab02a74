//! Weights: rare material weighs more, and rarity counts submitters.

use super::super::entry::Literal;
use super::super::weigh::{weight, UNIT};
use super::*;

#[test]
fn the_more_have_it_the_less_it_weighs() {
    for submitters in [1, 2, 3, 10, 300, 100_000] {
        let weights: Vec<u32> = (1..=submitters.min(2_000)).map(|holders| weight(holders, submitters)).collect();
        assert!(weights.windows(2).all(|pair| pair[0] >= pair[1]), "{submitters} submitters");
        assert!(weights.iter().all(|weight| (UNIT / 50..=UNIT).contains(weight)), "{submitters} submitters");
        assert_eq!(weights[0], UNIT);
    }
    assert_eq!((weight(2, 300), weight(300, 300), weight(999, 300)), (UNIT, UNIT / 50, UNIT / 50));
}

#[test]
fn handing_in_often_does_not_make_a_passage_common() {
    // A pair, and one other submitter who hands in the same passage many times.
    let (k, t) = (5, 10);
    let shared = fresh(1, 60);
    let text = |i: u32, shared: &[u32]| [&fresh(100 + i, 40)[..], shared, &fresh(200 + i, 7)].concat();
    let score = |resubmissions: u32, settings: MatchSettings| {
        let mut entries = vec![entry(0, &text(0, &shared), k, t), entry(1, &text(1, &shared), k, t)];
        entries.extend((2..12).map(|i| entry(i, &text(i, &[]), k, t)));
        entries.extend((0..resubmissions).map(|i| entry(50, &text(20 + i, &shared), k, t)));
        score_of(&run(&cohort(entries, &[], settings)), 0, 1)
    };
    for settings in [ALL, MatchSettings { max_sharing: Some(3), min_score: 0.1, ..ALL }] {
        let once = score(1, settings);
        assert!(once.is_some_and(|score| score > 0.3), "{once:?}");
        for resubmissions in [50, 70] {
            assert_eq!(score(resubmissions, settings), once, "{resubmissions} resubmissions");
        }
    }
}

#[test]
fn what_all_begin_with_weighs_as_what_all_have() {
    // The first pick of a part begins after its first token, which no pick covers.
    let head = fresh(1, 60);
    let entries: Vec<Entry> = (0..20).map(|i| entry(i, &[&head[..], &fresh(10 + i, 60)].concat(), 10, 30)).collect();
    let cohort = cohort(entries, &[], ALL);
    let everybodys = weight(20, 20) as u16;
    for weighed in cohort.weighed() {
        assert_eq!(weighed.tokens[..20], [everybodys; 20]);
        assert_eq!(weighed.tokens[119], UNIT as u16);
    }
}

#[test]
fn a_literal_of_any_number_of_words_has_its_weight() {
    let make = |i: u32| {
        let mut made = entry(i, &[&fresh(1, 30)[..], &fresh(10 + i, 5)].concat(), 5, 10);
        made.literals = vec![Literal { key: 9, at: 4, words: u32::MAX }];
        made
    };
    let cohort = cohort(vec![make(0), make(1)], &[], ALL);
    assert_eq!(cohort.weighed()[0].literals, [u64::from(u32::MAX) * 1000]);
    assert!(run(&cohort).pairs[0].measures.score > 0.999_999);
}
