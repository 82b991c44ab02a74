use super::*;
use crate::hamming::design::Arrangement;
use crate::testing::fixed;
use proptest::prelude::*;

/// Whether all patterns are found, by trying all of them.
fn complete(design: &Design, bits: u32) -> bool {
    let within = |pattern: &u64| pattern.count_ones() <= design.distance;
    (0..1u64 << bits).filter(within).all(|pattern| design.arrangements.iter().any(|one| one.finds(pattern)))
}

/// All ways to deal `bits` bits into `tables` blocks.
fn widths(bits: u32, tables: usize) -> Vec<Vec<u32>> {
    if tables == 0 {
        return if bits == 0 { vec![vec![]] } else { vec![] };
    }
    let longer =
        |first: u32| widths(bits - first, tables - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (1..=bits).flat_map(longer).collect()
}

/// Returns all sequences of `count` radii up to `most`.
fn radii(tables: usize, most: u32) -> Vec<Vec<u32>> {
    (0..tables).fold(vec![vec![]], |made, _| {
        made.iter().flat_map(|one| (0..=most).map(move |radius| [one.clone(), vec![radius]].concat())).collect()
    })
}

/// The arrangements over consecutive blocks, complete or not.
fn over_blocks(widths: &[u32], radii: &[u32]) -> Vec<Arrangement> {
    let mut start = widths.iter().sum::<u32>();
    let mut make = |(width, radius): (&u32, &u32)| {
        start -= width;
        Arrangement::new(((1 << width) - 1) << start, *radius)
    };
    widths.iter().zip(radii).map(&mut make).collect()
}

/// The masks of every choice of `chosen` of `blocks` equal blocks of the bits of `mask`.
fn chosen_masks(mask: u64, blocks: u32, chosen: u32) -> Vec<u64> {
    let places: Vec<u32> = (0..64).rev().filter(|bit| mask >> bit & 1 == 1).collect();
    let size = |block: u32| (places.len() as u32 / blocks + u32::from(block < places.len() as u32 % blocks)) as usize;
    let mut start = 0;
    let parts: Vec<u64> = (0..blocks)
        .map(|block| {
            start += size(block);
            places[start - size(block)..start].iter().fold(0, |sum, bit| sum | 1 << bit)
        })
        .collect();
    let union = |choice: u32| (0..blocks).filter(|b| choice >> b & 1 == 1).fold(0, |sum, b| sum | parts[b as usize]);
    (0..1u32 << blocks).filter(|choice| choice.count_ones() == chosen).map(union).collect()
}

/// All sets of masks that one cut makes, or two of the paper's; three would make more tables than the tests allow.
fn all_choices(bits: u32, distance: u32, tables: usize) -> Vec<Vec<u64>> {
    let all = (1 << bits) - 1;
    let mut found: Vec<Vec<u64>> =
        (2..=bits).flat_map(|blocks| (1..blocks).map(move |chosen| chosen_masks(all, blocks, chosen))).collect();
    for first in distance + 1..=bits {
        for second in distance + 1..=bits {
            let again =
                |mask: u64| chosen_masks(all & !mask, second, second - distance).into_iter().map(move |m| m | mask);
            found.push(chosen_masks(all, first, first - distance).into_iter().flat_map(again).collect());
        }
    }
    found.retain(|masks| masks.len() <= tables);
    found
}

/// The cheapest complete design of the stated space, by trying all of it with all radii.
fn cheapest_naive(bits: u32, distance: u32, rows: u64, tables: usize) -> u64 {
    let mut best = Design::scan(distance).picoseconds(rows);
    let mut look = |arrangements: Vec<Arrangement>| {
        let design = Design { distance, arrangements };
        if design.picoseconds(rows) < best && complete(&design, bits) {
            best = design.picoseconds(rows);
        }
    };
    for count in 1..=tables.min(distance as usize + 1) {
        for widths in widths(bits, count) {
            for radii in radii(count, distance) {
                look(over_blocks(&widths, &radii));
            }
        }
    }
    for masks in all_choices(bits, distance, tables) {
        for radius in 0..=distance {
            look(masks.iter().map(|mask| Arrangement::new(*mask, radius)).collect());
        }
    }
    best
}

proptest! {
    #![proptest_config(fixed(100))]
    #[test]
    fn no_cheaper_design_matches_naive(
        bits in 1u32..8, distance in 0u32..4, scale in 0u32..40, more in 0u64..1000, tables in 1u64..8, tight in any::<bool>(),
    ) {
        let rows = (1u64 << scale) + more;
        let limit = if tight { Limit::Bytes(tables * table_bytes(rows)) } else { Limit::Tables(tables) };
        let design = solve(bits, distance, rows, limit).expect("valid");
        prop_assert!(complete(&design, bits));
        prop_assert!(design.arrangements.len() as u64 <= tables);
        prop_assert!(!tight || design.bytes(rows) <= tables * table_bytes(rows));
        prop_assert_eq!(design.picoseconds(rows), cheapest_naive(bits, distance, rows, tables as usize), "{:?}", design);
    }

    #[test]
    fn the_fewest_tables_for_a_prefix_match_naive(bits in 1u32..9, distance in 0u32..4, prefix in 0u64..9) {
        let all = [all_choices(bits, distance, MAX_TABLES), vec![vec![(1 << bits) - 1]]].concat();
        let is_found = |masks: &Vec<u64>| {
            let arrangements = masks.iter().map(|mask| Arrangement::new(*mask, 0)).collect();
            masks.iter().all(|mask| u64::from(mask.count_ones()) >= prefix) && complete(&Design { distance, arrangements }, bits)
        };
        let naive = all.iter().filter(|masks| is_found(masks)).map(Vec::len).min();
        let found = fewest_tables(bits, distance, prefix);
        prop_assert_eq!(found.as_ref().ok().map(|design| design.arrangements.len()), naive);
        if let Ok(design) = found {
            prop_assert!(complete(&design, bits) && u64::from(shortest(&design)) >= prefix);
        }
    }

    #[test]
    fn more_tables_are_never_slower(distance in 0u32..=10, rows in 0u64..1 << 40) {
        let costs: Vec<u64> = frontier(64, distance, rows).expect("valid").iter().map(|one| one.picoseconds(rows)).collect();
        prop_assert!(costs.windows(2).all(|pair| pair[0] > pair[1]));
    }
}

/// Example 3.1: 4 tables of 16 bits, 10 of 25, 16 of 28, 20 of 31; and what no number of tables gives.
#[test]
fn paper_manku2007_prefixes_of_example_3_1() {
    let found = |prefix| fewest_tables(64, 3, prefix).map(|design| (design.arrangements.len(), shortest(&design)));
    assert_eq!(
        [16, 25, 28, 31].map(|prefix| found(prefix).expect("a design")),
        [(4, 16), (10, 25), (16, 28), (20, 31)]
    );
    assert_eq!([1, 17, 26].map(|prefix| found(prefix).expect("a design").0), [4, 10, 16]);
    let refused = found(64).expect_err("too long").to_string();
    assert!(
        refused.starts_with("prefix `64` bits in every prefix need more than 64 tables: use at most "),
        "{refused}"
    );
    assert!(fewest_tables(64, 0, 64).is_ok_and(|design| design.arrangements.len() == 1));
}
