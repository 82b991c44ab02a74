//! Tiles are disjoint, equal and as long as possible; runs align at both ends; and the work is bounded.

use super::super::align::{Aligner, Alignment, Index, Tile, SPARE, WORK};
use super::*;
use crate::testing::fixed;
use oracle::tiling;

fn align(a: &Entry, b: &Entry) -> Alignment {
    Aligner::default().align([a, b])
}

/// The tokens of each side in tiles; asserts that tiles are equal, inside one part, at least t long and disjoint.
fn taken(a: &Entry, b: &Entry, tiles: &[Tile]) -> [Vec<bool>; 2] {
    let mut taken = [vec![false; a.tokens.len()], vec![false; b.tokens.len()]];
    for tile in tiles {
        let (i, j, n) = (tile.a as usize, tile.b as usize, tile.len as usize);
        assert_eq!(a.tokens[i..i + n], b.tokens[j..j + n], "{tile:?}");
        assert!(!a.tokens[i..i + n].contains(&SEPARATOR), "{tile:?} crosses parts");
        assert!(tile.len >= a.thresholds(tile.a).1, "{tile:?} is too short");
        for (side, start) in [i, j].into_iter().enumerate() {
            assert!(!taken[side][start..start + n].contains(&true), "{tile:?} takes tokens twice on side {side}");
            taken[side][start..start + n].fill(true);
        }
    }
    taken
}

/// Whether a tile can be extended by a free common token.
fn can_grow(a: &Entry, b: &Entry, taken: &[Vec<bool>; 2], tile: &Tile) -> bool {
    let is_free = |i: usize, j: usize| {
        let is_equal = a.tokens.get(i) == b.tokens.get(j) && a.tokens.get(i).is_some_and(|token| *token != SEPARATOR);
        is_equal && !taken[0][i] && !taken[1][j]
    };
    let (i, j, n) = (tile.a as usize, tile.b as usize, tile.len as usize);
    (i > 0 && j > 0 && is_free(i - 1, j - 1)) || is_free(i + n, j + n)
}

proptest! {
    #![proptest_config(fixed(1000))]

    #[test]
    fn tiles_are_one_to_one_equal_and_cannot_grow((a, b) in akin()) {
        let tiles = align(&a, &b).tiles;
        let taken = taken(&a, &b, &tiles);
        for tile in &tiles {
            prop_assert!(!can_grow(&a, &b, &taken, tile), "{:?}", tile);
        }
        prop_assert_eq!(&align(&a, &b).tiles, &tiles);
    }

    #[test]
    fn a_buffer_used_before_changes_nothing((a, b) in akin(), (c, d) in akin()) {
        let mut aligner = Aligner::default();
        aligner.align([&c, &d]);
        prop_assert_eq!(aligner.align([&a, &b]).tiles, align(&a, &b).tiles);
    }

    #[test]
    fn tiles_are_those_of_naive_greedy_string_tiling(
        (a, b) in kin(40), (k, t) in thresholds(), spelling in prop::collection::vec(0u32..2, 120),
    ) {
        let [a, b] = [(0, a), (1, b)].map(|(i, text)| written(entry(i, &text, k, t), |at| spelling[(at + 7 * i as usize) % 120]));
        let mut alignment = align(&a, &b);
        let (counted, shown) = tiling(&a, &b);
        prop_assert_eq!(&alignment.tiles, &counted);
        let mut shorter = Aligner::default().shorter([&a, &b], &mut alignment);
        shorter.sort_unstable();
        prop_assert_eq!(shorter, shown);
        // The side that was indexed does not matter.
        let mut aligner = Aligner::default();
        prop_assert!(aligner.search(&Index::of(&b), &a));
        prop_assert_eq!(aligner.lay([&a, &b], true).tiles, counted);
    }
}

#[test]
fn a_shared_run_of_3_t_tokens_is_one_passage_of_exactly_that_length() {
    let (k, t) = (6, 15);
    let shared = fresh(1, 45);
    let a = [&fresh(2, 40)[..], &shared, &fresh(3, 31)].concat();
    let b = [&fresh(4, 17)[..], &shared, &fresh(5, 60)].concat();
    let found = pair(entry(0, &a, k, t), entry(1, &b, k, t)).expect("a shared run");
    let places: Vec<_> = found.passages.iter().map(|passage| (passage.start, passage.end, passage.tokens)).collect();
    assert_eq!(places, [([40, 17], [85, 62], 45)]);
    assert_eq!(found.longest, 45);
}

#[test]
fn runs_of_one_token_align_at_both_ends() {
    let run = |n: usize| vec![7u32; n];
    for (n, m) in [(30, 30), (30, 300), (299, 30), (30, 31), (9, 200)] {
        let a = entry(0, &[fresh(1, 5), run(n), fresh(2, 20)].concat(), 4, 9);
        let b = entry(1, &[fresh(3, 8), run(m), fresh(2, 20)].concat(), 4, 9);
        let found = pair(a, b).expect("a run in common");
        let ends = found.passages.iter().any(|p| p.end == [5 + n as u32 + 20, 8 + m as u32 + 20]);
        assert!(ends, "the run and what follows it are one passage: {n} and {m}: {:?}", found.passages);
        for (side, (start, len)) in [(5, n), (8, m)].into_iter().enumerate() {
            let mut covered = vec![false; start + len + 20];
            let stretches = found.passages.iter().map(|p| p.start[side] as usize..p.end[side] as usize);
            stretches.for_each(|stretch| covered[stretch].fill(true));
            assert!(!covered[start..].contains(&false), "side {side} of {n} and {m}: {:?}", found.passages);
        }
    }
}

#[test]
fn two_texts_of_one_token_are_covered_whole() {
    for (n, m) in [(9, 9), (9, 500), (40_000, 39_999)] {
        let found = pair(entry(0, &vec![7; n], 4, 9), entry(1, &vec![7; m], 4, 9)).expect("a run in common");
        for (side, len) in [n, m].into_iter().enumerate() {
            let mut covered = vec![false; len];
            let stretches = found.passages.iter().map(|p| p.start[side] as usize..p.end[side] as usize);
            stretches.for_each(|stretch| covered[stretch].fill(true));
            assert!(!covered.contains(&false), "side {side} of {n} and {m}");
        }
    }
}

/// Repetitive texts of `n` tokens, of several kinds.
fn repetitive(n: usize) -> Vec<(&'static str, Vec<u32>)> {
    let period = |p: u32| (0..n as u32).map(|i| i % p).collect::<Vec<u32>>();
    let mut fibonacci = (vec![1u32], vec![0u32]);
    while fibonacci.1.len() < n {
        fibonacci = (fibonacci.1.clone(), [fibonacci.1, fibonacci.0].concat());
    }
    fibonacci.1.truncate(n);
    vec![
        ("one token", vec![7; n]),
        ("period 2", period(2)),
        ("period 3", period(3)),
        ("period 97", period(97)),
        ("Thue–Morse", (0..n as u32).map(|i| i.count_ones() & 1).collect()),
        ("Fibonacci", fibonacci.1),
        ("two tokens at random", (0..n as u64).map(|i| (mix64(i) & 1) as u32).collect()),
        ("runs of one token", (0..n as u32).map(|i| u32::from(i % 50 == 0)).collect()),
        ("counting", (0..n as u32).map(|i| if i % 5 == 0 { 100 + i / 5 } else { i % 5 }).collect()),
    ]
}

#[test]
fn texts_that_repeat_themselves_cost_linear_work() {
    for n in [5_000, 20_000] {
        let entries: Vec<_> = repetitive(n).into_iter().map(|(name, text)| (name, entry(0, &text, 12, 24))).collect();
        for (name, a) in &entries {
            for (other, b) in &entries {
                let mut aligner = Aligner::default();
                let alignment = aligner.align([a, b]);
                taken(a, b, &alignment.tiles);
                let most = if alignment.is_limited { 2 * (SPARE + 2 * WORK * 2 * n) } else { SPARE + WORK * 2 * n };
                assert!(aligner.spent <= most, "{name} and {other}: {} for {n} tokens", aligner.spent);
            }
        }
    }
}

#[test]
fn one_changed_token_in_a_text_that_repeats_itself_takes_little_from_the_score() {
    for (name, text) in repetitive(10_000) {
        let mut other = text.clone();
        other.rotate_left(3_333);
        other[5_000] = 999_999;
        let found = pair(entry(0, &text, 12, 24), entry(1, &other, 12, 24)).expect("almost the same");
        assert!(found.measures.score > 0.99, "{name}: {}", found.measures.score);
    }
}

#[test]
fn runs_are_looked_up_by_keys_that_nobody_can_know() {
    // Blocks that all have one published key: Thue–Morse words of x and y with the same x + y.
    let block = |x: u32| (0..256u32).map(move |at| if at.count_ones() % 2 == 0 { x } else { 5_000 - x });
    let text: Vec<u32> = (0..50).flat_map(block).collect();
    let cohort = || super::cohort(vec![entry(0, &text, 256, 256)], &[], super::ALL);
    let [one, other] = [cohort(), cohort()].map(|cohort| cohort.entries()[0].clone());
    let starts: Vec<usize> = (0..50).map(|i| i * 256).collect();
    let distinct = |keys: &[u32]| starts.iter().map(|at| keys[*at]).collect::<std::collections::HashSet<u32>>().len();
    assert_eq!((distinct(&one.order_keys()), distinct(one.run_keys()), distinct(other.run_keys())), (1, 50, 50));
    assert_ne!(one.run_keys(), other.run_keys());
}
