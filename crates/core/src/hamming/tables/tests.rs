use super::*;
use crate::hamming::solve::{frontier, longest_prefix, solve, Limit};
use crate::testing::fixed;
use proptest::prelude::*;

/// Everything within the distance, by comparing with everything.
fn naive(values: &[u64], ids: &[u64], query: u64, distance: u32) -> Vec<Hit> {
    let hit = |(value, id): (&u64, &u64)| Hit { id: *id, value: *value, distance: (value ^ query).count_ones() as u8 };
    let mut hits: Vec<Hit> = values.iter().zip(ids).map(hit).collect();
    hits.retain(|hit| u32::from(hit.distance) <= distance);
    hits.sort_unstable();
    hits
}

/// A value with some bits changed.
fn flipped(value: u64, bits: &[u32]) -> u64 {
    bits.iter().fold(value, |value, bit| value ^ 1 << (bit % 64))
}

/// Fingerprints as they occur: uniform, in clusters, with few bits that vary, many times the same; and the extremes.
pub(crate) fn fingerprints(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u64>> {
    let flips = || prop::collection::vec(0u32..64, 0..12);
    let uniform = prop::collection::vec(any::<u64>(), count.clone());
    let clustered =
        (prop::collection::vec(any::<u64>(), 1..6), prop::collection::vec((0usize..6, flips()), count.clone()))
            .prop_map(|(centres, members)| {
                members
                    .iter()
                    .map(|(centre, bits)| flipped(centres[centre % centres.len()], bits))
                    .collect::<Vec<u64>>()
            });
    let narrow = (any::<u64>(), 0u32..50, prop::collection::vec(0u64..1 << 14, count.clone()))
        .prop_map(|(base, at, low)| low.into_iter().map(|low| base ^ low << at).collect::<Vec<u64>>());
    let repeated = (prop::collection::vec(any::<u64>(), 1..5), prop::collection::vec(0usize..5, count.clone()))
        .prop_map(|(values, picks)| picks.iter().map(|pick| values[pick % values.len()]).collect::<Vec<u64>>());
    let extreme = prop::collection::vec(prop::sample::select(vec![0, 1, u64::MAX, u64::MAX - 1, 1 << 63]), count);
    prop_oneof![2 => uniform, 4 => clustered, 2 => narrow, 1 => repeated, 1 => extreme]
}

/// Designs of every kind for a distance.
pub(crate) fn designs(distance: u32, rows: u64) -> Vec<Design> {
    let mut all = frontier(64, distance, 1 << 30).expect("valid");
    all.truncate(6);
    all.extend([Limit::Compact, Limit::Fast].map(|limit| solve(64, distance, rows, limit).expect("valid")));
    all.extend([4, 10, 16, 20].iter().filter_map(|tables| longest_prefix(64, distance, *tables).ok()));
    all.push(Design::scan(distance));
    all
}

/// Whether no table narrows the search.
pub(crate) fn is_scan(design: &Design) -> bool {
    design.arrangements.iter().any(|arrangement| arrangement.prefix == 0)
}

/// Queries near fingerprints and far from all.
fn queries(values: &[u64], picks: &[(usize, Vec<u32>)]) -> Vec<u64> {
    picks
        .iter()
        .map(|(pick, bits)| flipped(values.get(pick % values.len().max(1)).copied().unwrap_or(7), bits))
        .collect()
}

fn picks() -> impl Strategy<Value = Vec<(usize, Vec<u32>)>> {
    prop::collection::vec((any::<usize>(), prop::collection::vec(0u32..64, 0..13)), 0..20)
}

proptest! {
    #![proptest_config(fixed(60))]
    #[test]
    fn every_design_finds_what_naive_finds(
        values in fingerprints(0..600), distance in 0u32..=10, picks in picks(), which in any::<prop::sample::Index>(),
        is_compressed in any::<bool>(),
    ) {
        let ids: Vec<u64> = (0..values.len() as u64).map(|i| i * 3 + 1).collect();
        let designs = designs(distance, values.len() as u64);
        let design = &designs[which.index(designs.len())];
        let rows = values.iter().copied().zip(ids.iter().copied()).collect();
        let tables = Tables::build(design, rows, is_compressed).expect("valid");
        let queries = queries(&values, &picks);
        let answers = tables.query_batch(&queries).expect("valid");
        let mut rows = answers.queries.iter().zip(&answers.ids).zip(&answers.distances);
        for (i, query) in queries.iter().enumerate() {
            let expected = naive(&values, &ids, *query, distance);
            let alone = tables.query_batch(&[*query]).expect("valid");
            let (ids, distances) = expected.iter().map(|hit| (hit.id, hit.distance)).unzip();
            prop_assert_eq!((alone.ids, alone.distances), (ids, distances), "{:?}", design);
            for hit in &expected {
                prop_assert_eq!(rows.next(), Some(((&(i as u32), &hit.id), &hit.distance)));
            }
        }
        prop_assert_eq!(rows.next(), None);
    }
}

/// Fingerprints enough for directories and several tasks, many in clusters, and queries near them.
fn many() -> (Vec<u64>, Vec<u64>) {
    let mix = |i: u64| crate::hash::mix64(i);
    let member = |i: u64| mix(i % 701) ^ 1 << (mix(i) % 64) ^ 1 << (mix(i ^ 99) % 64);
    let values = (0..30_000).map(|i| if i % 3 == 0 { member(i) } else { mix(i) }).collect();
    let queries = (0..40_000).map(|i| if i % 2 == 0 { member(i + 7) } else { mix(i + 5_000_000) }).collect();
    (values, queries)
}

#[test]
fn the_answer_is_the_same_at_any_number_of_threads_and_in_any_design() {
    let (values, queries) = many();
    let mut answers: Vec<(Vec<u32>, Vec<u64>, Vec<u8>)> = vec![];
    for design in designs(3, values.len() as u64).iter().filter(|design| !is_scan(design)) {
        let tables = Tables::numbered(design, &values).expect("valid");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
            let found = pool.install(|| tables.query_batch(&queries)).expect("valid");
            assert_eq!(found.candidates.len(), queries.len());
            answers.push((found.queries, found.ids, found.distances));
        }
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    let (queries_found, ids, distances) = &answers[0];
    let sample: Vec<usize> = (0..queries.len()).step_by(1333).collect();
    for query in sample {
        let found: Vec<(u64, u8)> =
            (0..ids.len()).filter(|i| queries_found[*i] as usize == query).map(|i| (ids[i], distances[i])).collect();
        let numbers: Vec<u64> = (0..values.len() as u64).collect();
        let expected: Vec<(u64, u8)> =
            naive(&values, &numbers, queries[query], 3).iter().map(|hit| (hit.id, hit.distance)).collect();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn thousands_of_equal_fingerprints_are_one_candidate() {
    let mut values = vec![0x1234_5678_9ABC_DEF0; 5000];
    values.extend((0..1000).map(crate::hash::mix64));
    let tables = Tables::numbered(&solve(64, 3, 6000, Limit::Compact).expect("valid"), &values).expect("valid");
    assert_eq!(tables.distinct(), 1001);
    let answers = tables.query_batch(&[0x1234_5678_9ABC_DEF1]).expect("valid");
    assert_eq!(answers.ids.len(), 5000);
    assert!(answers.candidates[0] <= 2 * 1001);
}

#[test]
fn a_crowded_bucket_is_narrowed_and_still_complete() {
    // All share the highest 12 bits; the next 20 tell them apart.
    let values: Vec<u64> = (0..200_000u64)
        .map(|i| 0xABC << 52 | (crate::hash::mix64(i) >> 44) << 32 | crate::hash::mix64(i ^ 1) >> 32)
        .collect();
    let ids: Vec<u64> = (0..values.len() as u64).collect();
    let design = Design::blocks(64, 3, &[(32, 1), (32, 1)]).expect("valid");
    let tables = Tables::numbered(&design, &values).expect("valid");
    let queries: Vec<u64> =
        (0..40).map(|i| flipped(values[i * 4000], &[i as u32, 20 + i as u32, 63 - i as u32])).collect();
    let answers = tables.query_batch(&queries).expect("valid");
    let expected: Vec<(u32, u64)> = queries
        .iter()
        .enumerate()
        .flat_map(|(i, query)| naive(&values, &ids, *query, 3).into_iter().map(move |hit| (i as u32, hit.id)))
        .collect();
    assert_eq!(answers.queries.into_iter().zip(answers.ids).collect::<Vec<_>>(), expected);
    assert!(answers.candidates.iter().all(|count| *count < 20_000), "{:?}", answers.candidates);
}
