use super::*;
use crate::hamming::solve::{frontier, longest_prefix, solve, Limit};
use crate::hamming::tables::tests::is_scan;
use crate::testing::fixed;
use proptest::prelude::*;

/// Whether any pattern of at most `distance` of the lowest `bits` bits is missed by all tables; all of them are tried.
fn misses(design: &Design, bits: u32) -> Option<u64> {
    patterns(bits, design.distance).find(|pattern| !design.arrangements.iter().any(|one| one.finds(*pattern)))
}

/// All numbers of `bits` bits with at most `most` ones: choosing positions one after the other.
pub(crate) fn patterns(bits: u32, most: u32) -> Box<dyn Iterator<Item = u64>> {
    if most == 0 || bits == 0 {
        return Box::new(std::iter::once(0));
    }
    let more = (0..bits).flat_map(move |top| patterns(top, most - 1).map(move |rest| rest | 1 << top));
    Box::new(std::iter::once(0).chain(more))
}

/// How many tables have each length of prefix.
fn prefixes(design: &Design) -> Vec<(u32, usize)> {
    let count = |bits| design.arrangements.iter().filter(|one| one.prefix == bits).count();
    (0..=BITS).map(|bits| (bits, count(bits))).filter(|(_, tables)| *tables > 0).collect()
}

#[test]
fn there_are_43745_patterns_of_at_most_three_bits() {
    let mut all: Vec<u64> = patterns(64, 3).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 43_745);
    assert_eq!(ball(64, 3), 43_745);
    assert_eq!(binomial(64, 3), 41_664);
}

#[test]
fn paper_manku2007_example_3_1() {
    let prefixes_of = |tables| prefixes(&longest_prefix(64, 3, tables).expect("valid"));
    assert_eq!(prefixes_of(20), [(31, 4), (32, 12), (33, 4)]);
    assert_eq!(prefixes_of(16), [(28, 16)]);
    assert_eq!(prefixes_of(10), [(25, 4), (26, 6)]);
    assert_eq!(prefixes_of(4), [(16, 4)]);
}

#[test]
fn paper_manku2007_fewest_tables() {
    let shortest = |design: &Design| design.arrangements.iter().map(|one| one.prefix).min();
    let designs = || (1..=MAX_TABLES as u64).filter_map(|tables| longest_prefix(64, 3, tables).ok());
    let tables =
        |prefix| designs().find(|design| shortest(design) >= Some(prefix)).map(|design| design.arrangements.len());
    assert_eq!([16, 17, 25, 26, 28, 29, 31].map(tables), [4, 10, 10, 16, 16, 20, 20].map(Some));
    assert_eq!(tables(64), None);
}

#[test]
fn every_pattern_of_three_bits_is_found_by_every_design() {
    let mut designs: Vec<Design> =
        [4, 10, 16, 20, 35, 56].map(|tables| longest_prefix(64, 3, tables).expect("valid")).into();
    designs.push(Design::blocks(64, 3, &[(32, 1), (32, 1)]).expect("valid"));
    designs.push(Design::blocks(64, 3, &[(24, 1), (20, 0), (20, 0)]).expect("valid"));
    designs.push(Design::blocks(64, 3, &[(64, 3)]).expect("valid"));
    designs.push(Design::choices(64, 3, &[(5, 3)]).expect("valid"));
    designs.push(Design::scan(3));
    for rows in [0, 1, 1000, 1 << 20, 100_000_000, 1 << 34] {
        designs.extend(frontier(64, 3, rows).expect("valid"));
        designs.extend([Limit::Compact, Limit::Fast].map(|limit| solve(64, 3, rows, limit).expect("valid")));
    }
    for design in &designs {
        assert_eq!(misses(design, 64), None, "{design:?}");
    }
}

#[test]
fn two_tables_of_three_would_miss_a_pattern() {
    let mut design = Design::blocks(64, 3, &[(32, 1), (32, 1)]).expect("valid");
    design.arrangements[1].radius = 0;
    assert!(misses(&design, 64).is_some());
}

#[test]
fn the_compact_design_of_three_is_two_halves_with_one_difference_each() {
    for rows in [10_000_000, 100_000_000, 8_000_000_000] {
        let design = solve(64, 3, rows, Limit::Compact).expect("valid");
        assert_eq!(design, Design::blocks(64, 3, &[(32, 1), (32, 1)]).expect("valid"), "{rows}");
    }
    assert_eq!(solve(64, 3, 1 << 34, Limit::Compact).expect("valid").lookups(1 << 34), 2 * 33);
}

#[test]
fn the_fast_design_of_three_is_ten_tables() {
    let design = solve(64, 3, 100_000_000, Limit::Fast).expect("valid");
    assert_eq!(prefixes(&design), [(25, 4), (26, 6)]);
}

#[test]
fn few_fingerprints_are_scanned() {
    assert!(is_scan(&solve(64, 3, 50, Limit::Fast).expect("valid")));
    assert!(!is_scan(&solve(64, 10, 100_000_000, Limit::Compact).expect("valid")));
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(Design::blocks(64, 3, &[(32, 1), (32, 0)]).is_err());
    assert!(Design::blocks(64, 3, &[(40, 1), (32, 1)]).is_err());
    assert!(Design::blocks(64, 11, &[(64, 11)]).is_err());
    assert!(Design::choices(64, 3, &[(20, 10)]).is_err());
    assert!(Design::choices(64, 3, &[(5, 3), (4, 1)]).is_err());
    assert!(solve(64, 11, 10, Limit::Fast).is_err());
    assert!(solve(65, 3, 10, Limit::Fast).is_err());
    assert!(solve(64, 3, 10, Limit::Tables(0)).is_err());
    assert!(solve(64, 3, 1000, Limit::Bytes(7999)).is_err());
    assert!(longest_prefix(64, 3, 3).is_err());
}

proptest! {
    #![proptest_config(fixed(100))]
    #[test]
    fn a_chosen_design_is_complete(
        bits in 1u32..14, distance in 0u32..=10, rows in 0u64..1 << 20, tables in 1u64..70, fast in any::<bool>(),
    ) {
        let limit = if fast { Limit::Fast } else { Limit::Tables(tables) };
        let design = solve(bits, distance, rows, limit).expect("valid");
        prop_assert_eq!(misses(&design, bits), None);
    }

    #[test]
    fn random_patterns_are_found_at_every_distance(
        distance in 0u32..=10, rows in 0u64..1 << 36, at in prop::collection::vec(0u32..64, 10),
    ) {
        let pattern = at.iter().take(distance as usize).fold(0, |sum, bit| sum | 1u64 << bit);
        for design in frontier(64, distance, rows).expect("valid") {
            prop_assert!(design.arrangements.iter().any(|one| one.finds(pattern)), "{:?}", design);
        }
    }
}

fn masks(design: &Design) -> Vec<(u64, u32)> {
    design.arrangements.iter().map(|one| (one.order.chosen(), one.radius)).collect()
}

/// The name and value that an error tells of.
fn told(result: Result<Design>) -> (&'static str, i64) {
    match result {
        Err(Error::Parameter { name, value, .. }) => (name, value),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_table_costs_what_the_model_says() {
    let rows = 1 << 20;
    let long = Arrangement::new(u64::MAX << 32, 1);
    assert_eq!((long.prefix, long.depth(rows), long.lookups(rows)), (32, 18, 19));
    assert_eq!(long.bytes(rows), (8 << 20) + (4 << 18));
    let short = Arrangement::new(0b11 << 62, 2);
    assert_eq!((short.prefix, short.depth(rows), short.lookups(rows)), (2, 2, 4));
    assert_eq!(short.bytes(rows), (8 << 20) + 16);
    assert_eq!(short.bytes(u64::MAX), u64::MAX);
    assert_eq!(cost(32, 1, rows), 19 * 36_000 + 19 * 4 * 500 + 44_000);
    assert_eq!(cost(2, 0, rows), 36_000 + (1 << 18) * 500 + 44_000);
    assert_eq!(cost(0, 0, 0), 36_000 + 44_000);
    assert_eq!(cost(0, 0, u64::MAX), u64::MAX);
}

#[test]
fn a_design_costs_what_its_tables_cost_together() {
    let rows = 1 << 20;
    let design = Design::blocks(64, 3, &[(32, 1), (2, 1)]).expect("valid");
    assert_eq!(design.lookups(rows), 19 + 3);
    assert_eq!(design.bytes(rows), (8 << 20) + (4 << 18) + (8 << 20) + 16);
    assert_eq!(design.candidates(rows), 19.0 * 4.0 + 3.0 * f64::from(1 << 18));
    assert_eq!(design.picoseconds(rows), cost(32, 1, rows) + cost(2, 1, rows));
    assert_eq!((design.bytes(u64::MAX), design.picoseconds(u64::MAX)), (u64::MAX, u64::MAX));
    assert!(!is_scan(&design));
    assert!(is_scan(&Design::blocks(64, 3, &[(32, 1), (0, 1)]).expect("valid")));
}

#[test]
fn a_directory_has_an_entry_for_four_rows_at_least() {
    assert_eq!([0, 3, 4, 7, 8, 15, 16, 1 << 20].map(directory_bits), [0, 0, 0, 0, 1, 1, 2, 18]);
    assert_eq!([0, 1, 16].map(table_bytes), [4, 12, 8 * 16 + 16]);
    assert_eq!(table_bytes(u64::MAX), u64::MAX);
}

#[test]
fn binomials_match_the_triangle_of_pascal() {
    let mut row = vec![1u64];
    for n in 0..=64u32 {
        for (k, expected) in row.iter().enumerate() {
            assert_eq!(binomial(n, k as u32), *expected, "{n} choose {k}");
        }
        assert_eq!(binomial(n, n + 1), 0);
        let within: Vec<u64> = row
            .iter()
            .scan(0u64, |sum, one| {
                *sum = sum.saturating_add(*one);
                Some(*sum)
            })
            .collect();
        for (radius, expected) in within.iter().enumerate() {
            assert_eq!(ball(n, radius as u32), *expected, "{n} bits, radius {radius}");
        }
        assert_eq!(ball(n, n + 5), within[n as usize]);
        let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
        row = std::iter::once(1).chain(inner).chain(std::iter::once(1)).collect();
    }
    assert_eq!([binomial(68, 34), binomial(400, 200)], [u64::MAX; 2]);
}

/// The most that the `chosen` poorest of `blocks` can hold, over all ways of dealing out `distance`.
fn naive_spread(blocks: u32, chosen: u32, distance: u32) -> u32 {
    fn deal(blocks: u32, left: u32) -> Vec<Vec<u32>> {
        if blocks == 0 {
            return if left == 0 { vec![vec![]] } else { vec![] };
        }
        let first =
            |share: u32| deal(blocks - 1, left - share).into_iter().map(move |rest| [vec![share], rest].concat());
        (0..=left).flat_map(first).collect()
    }
    let poorest = |mut dealt: Vec<u32>| {
        dealt.sort_unstable();
        dealt.iter().take(chosen as usize).sum::<u32>()
    };
    deal(blocks, distance).into_iter().map(poorest).max().unwrap_or(0)
}

#[test]
fn the_radius_of_a_choice_matches_naive() {
    for blocks in 1..=5 {
        for chosen in 1..=blocks {
            for distance in 0..=7 {
                let expected = naive_spread(blocks, chosen, distance);
                assert_eq!(spread(blocks, chosen, distance), expected, "{chosen} of {blocks}, distance {distance}");
            }
        }
    }
    assert_eq!(spread(0, 0, 3), 0);
}

#[test]
fn masks_are_cut_from_the_highest_bit_down() {
    assert_eq!(cut(0xFF, 3), [0b1110_0000, 0b0001_1100, 0b11]);
    assert_eq!(cut(0b1011_0110, 2), [0b1011_0000, 0b0110]);
    assert_eq!(cut(u64::MAX, 2), [u64::MAX << 32, u64::MAX >> 32]);
    assert_eq!(cut(0b101, 3), [0b100, 0b1, 0]);
}

#[test]
fn subsets_come_in_the_order_of_the_parts() {
    assert_eq!(subsets(&[1, 2, 4, 8], 2), [3, 5, 9, 6, 10, 12]);
    assert_eq!(subsets(&[1, 2, 4], 3), [7]);
    assert_eq!(subsets(&[1, 2], 0), [0]);
    assert!(subsets(&[1, 2], 3).is_empty());
}

#[test]
fn ones_stand_at_the_end() {
    assert_eq!([0, 1, 5, 63, 64, 99].map(ones), [0, 1, 31, u64::MAX >> 1, u64::MAX, u64::MAX]);
}

#[test]
fn blocks_lie_side_by_side_from_the_highest_bit() {
    let design = Design::blocks(64, 3, &[(32, 1), (20, 0), (12, 0)]).expect("valid");
    assert_eq!(masks(&design), [(u64::MAX << 32, 1), (0xFFFF_F000, 0), (0xFFF, 0)]);
    assert_eq!(design.distance, 3);
    let design = Design::blocks(8, 1, &[(3, 0), (2, 0)]).expect("valid");
    assert_eq!(masks(&design), [(0b1110_0000, 0), (0b0001_1000, 0)]);
    assert_eq!(masks(&Design::blocks(64, 3, &[(0, 0), (64, 3)]).expect("valid")), [(0, 0), (u64::MAX, 3)]);
}

#[test]
fn choices_are_cut_again_among_the_bits_left() {
    let design = Design::choices(8, 3, &[(4, 1)]).expect("valid");
    assert_eq!(masks(&design), [(0xC0, 0), (0x30, 0), (0x0C, 0), (0x03, 0)]);
    let design = Design::choices(8, 1, &[(2, 1), (2, 1)]).expect("valid");
    assert_eq!(masks(&design), [(0xFC, 0), (0xF3, 0), (0xCF, 0), (0x3F, 0)]);
    let design = Design::choices(8, 3, &[(2, 1)]).expect("valid");
    assert_eq!(masks(&design), [(0xF0, 1), (0x0F, 1)]);
    assert_eq!(Design::choices(64, 3, &[(64, 1)]).expect("valid").arrangements.len(), MAX_TABLES);
}

#[test]
fn refusals_name_what_was_asked() {
    assert_eq!(told(Design::blocks(0, 0, &[(0, 0)])), ("bits", 0));
    assert_eq!(told(Design::blocks(65, 0, &[(0, 0)])), ("bits", 65));
    assert_eq!(told(Design::choices(64, 11, &[(4, 1)])), ("distance", 11));
    assert_eq!(told(Design::blocks(64, 3, &[(32, 1), (32, 0)])), ("distance", 3));
    assert_eq!(told(Design::blocks(64, 3, &[(33, 1), (32, 1)])), ("blocks", 65));
    assert_eq!(told(Design::blocks(64, 3, &[(0, 0); MAX_TABLES + 1])), ("blocks", 0));
    for cuts in [[(0, 0)], [(65, 1)], [(4, 0)], [(4, 5)], [(12, 6)]] {
        assert_eq!(told(Design::choices(64, 3, &cuts)), ("cut", i64::from(cuts[0].0)));
    }
    assert_eq!(told(Design::choices(64, 3, &[(8, 1), (9, 1)])), ("cut", 9));
    assert_eq!(told(Design::choices(64, 3, &[(2, 1), (4, 1)])), ("cut", 4));
    assert_eq!(checked(1, 0).ok(), Some((1, 0)));
    assert_eq!(checked(64, MAX_DISTANCE).ok(), Some((64, MAX_DISTANCE)));
}
