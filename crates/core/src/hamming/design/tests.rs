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
