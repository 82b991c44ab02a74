//! Checks that every codec is lossless, finds ranges like a scan, and stays near the entropy.

use super::elias_fano::EliasFano;
use super::huffman::{Huffman, BLOCK_BYTES};
use super::packed::{pack, Order, Packed, BLOCK};
use crate::column::Column;
use crate::testing::fixed;
use crate::testing::mix64;
use proptest::prelude::*;

/// Columns that break codecs: empty, single, equal, dense, sparse, extreme, clustered.
fn columns() -> impl Strategy<Value = Vec<u64>> {
    let uniform = prop::collection::vec(any::<u64>(), 0..700);
    let dense = (any::<u64>(), prop::collection::vec(0u64..900, 0..700))
        .prop_map(|(base, offsets)| offsets.into_iter().map(|offset| base.saturating_add(offset)).collect());
    let equal = (any::<u64>(), 1usize..1500).prop_map(|(value, count)| vec![value; count]);
    let extreme = prop::collection::vec(prop::sample::select(vec![0, 1, u64::MAX - 1, u64::MAX, 1 << 63]), 0..400);
    // A few centres, and most values within a few bits of one of them: what simhashes of a crawl look like.
    let near = (0usize..6, 0u32..64, 0u32..64);
    let clustered =
        (prop::collection::vec(any::<u64>(), 6), prop::collection::vec(near, 0..700)).prop_map(|(centres, near)| {
            near.into_iter().map(|(centre, one, other)| centres[centre] ^ 1 << one ^ 1 << other).collect()
        });
    let any_of = prop_oneof![2 => uniform, 1 => dense, 1 => equal, 1 => extreme, 3 => clustered];
    any_of.prop_map(|mut values: Vec<u64>| {
        values.sort_unstable();
        values
    })
}

/// Ranges worth asking of a column: around its values, prefixes of them, and anything.
fn ranges(values: &[u64], seed: u64) -> Vec<(u64, u64)> {
    let mut asked = vec![(0, u64::MAX), (u64::MAX, u64::MAX), (0, 0), (5, 4)];
    for i in 0..40 {
        let random = mix64(seed.wrapping_add(i));
        let value = values.get(random as usize % values.len().max(1)).copied().unwrap_or(random);
        let below = u64::MAX >> ((random >> 40) % 64);
        asked.extend([(value, value), (value & !below, value | below), (value.saturating_add(1), value | below)]);
        asked.push((random.min(value), random.max(value)));
    }
    asked
}

fn expected(values: &[u64], (low, high): (u64, u64)) -> Vec<(usize, u64)> {
    values.iter().copied().enumerate().filter(|(_, value)| (low..=high).contains(value)).collect()
}

/// n spread values: every difference of the finaliser's outputs is as good as random.
fn uniform(n: usize) -> Vec<u64> {
    let mut values: Vec<u64> = (0..n as u64).map(mix64).collect();
    values.sort_unstable();
    values
}

/// Returns the entropy of a set of n uniform values in bits per value: log₂ of C(2⁶⁴, n) over n, by Stirling's formula.
fn entropy(n: usize) -> f64 {
    64.0 - (n as f64).log2() + std::f64::consts::LOG2_E
}

/// Values with their places.
fn placed(first: usize, values: &[u64]) -> impl Iterator<Item = (usize, u64)> + '_ {
    values.iter().enumerate().map(move |(i, value)| (first + i, *value))
}

fn open(bytes: &[u8], order: Order) -> Option<Packed<&[u8]>> {
    Packed::open(bytes, 0..bytes.len(), order)
}

proptest! {
    #![proptest_config(fixed(300))]
    #[test]
    fn elias_fano_gives_back_what_it_took(values in columns(), seed in any::<u64>(), depth in 0u32..=64) {
        let column = EliasFano::new(&values, depth);
        prop_assert_eq!(column.len(), values.len());
        let mut decoded = Vec::new();
        column.decode(&mut decoded);
        prop_assert_eq!(&decoded, &values);
        for (i, value) in values.iter().enumerate() {
            column.read(i..i + 1, &mut |first, values| assert_eq!((first, values), (i, &[*value][..])));
        }
        column.read(values.len()..values.len() + 1, &mut |_, values| assert!(values.is_empty()));
        for (low, high) in ranges(&values, seed) {
            let mut found = Vec::new();
            column.visit(low, high, &mut |first, values| found.extend(placed(first, values)));
            prop_assert_eq!(found, expected(&values, (low, high)), "{}..={}", low, high);
        }
    }

    #[test]
    fn packed_gives_back_what_it_took(values in columns(), seed in any::<u64>()) {
        let bytes = pack(&values, Order::Ascending);
        let column = open(&bytes, Order::Ascending).expect("just packed");
        let mut decoded = Vec::new();
        prop_assert!(column.decode(&mut decoded).is_some());
        prop_assert_eq!(&decoded, &values);
        prop_assert_eq!(column.get(values.len()), None);
        for (low, high) in ranges(&values, seed) {
            let mut found = Vec::new();
            let rows = column.rows(low, high).expect("not damaged");
            prop_assert!(column.read(rows, &mut |first, values| found.extend(placed(first, values))).is_some());
            prop_assert_eq!(found, expected(&values, (low, high)), "{}..={}", low, high);
        }
    }

    #[test]
    fn packed_takes_columns_in_any_order(values in prop_oneof![
        prop::collection::vec(any::<u64>(), 0..400), prop::collection::vec(0u64..1000, 0..400),
    ]) {
        let bytes = pack(&values, Order::Any);
        let column = open(&bytes, Order::Any).expect("just packed");
        let mut decoded = Vec::new();
        prop_assert!(column.decode(&mut decoded).is_some());
        prop_assert_eq!(&decoded, &values);
        for (i, value) in values.iter().enumerate() {
            prop_assert_eq!(column.get(i), Some(*value));
        }
    }

    #[test]
    fn huffman_gives_back_what_it_took(values in columns(), seed in any::<u64>(), block_bytes in 0usize..3000) {
        let column = Huffman::new(&values, block_bytes);
        let mut decoded = Vec::new();
        prop_assert!(column.decode(&mut decoded).is_some());
        prop_assert_eq!(&decoded, &values);
        for (low, high) in ranges(&values, seed) {
            let mut found = Vec::new();
            prop_assert!(column.visit(low, high, |value| found.push(value)).is_some());
            let expected: Vec<u64> = expected(&values, (low, high)).into_iter().map(|(_, value)| value).collect();
            prop_assert_eq!(found, expected, "{}..={}", low, high);
        }
    }

    #[test]
    fn damaged_bytes_never_panic(values in columns(), hits in prop::collection::vec((any::<u16>(), any::<u8>()), 1..8), seed in any::<u64>()) {
        let mut bytes = pack(&values, Order::Ascending);
        for (at, byte) in hits {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        for order in [Order::Ascending, Order::Any] {
            let Some(column) = open(&bytes, order) else { continue };
            let mut decoded = Vec::new();
            let _ = column.decode(&mut decoded);
            prop_assert!(decoded.len() <= bytes.len() * BLOCK);
            for (low, high) in ranges(&values, seed) {
                let rows = column.rows(low, high).unwrap_or(0..values.len());
                let _ = column.read(rows, &mut |_, _| ());
            }
        }
    }

    #[test]
    fn any_bytes_are_a_column_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), n in 0u64..400) {
        let whole = [&n.to_le_bytes()[..], &bytes].concat();
        for bytes in [&bytes[..], &whole[..]] {
            if let Some(column) = open(bytes, Order::Ascending) {
                let _ = column.decode(&mut Vec::new());
                let _ = column.rows(n, u64::MAX);
            }
        }
    }
}

#[test]
fn a_cut_column_does_not_open() {
    let bytes = pack(&uniform(1000), Order::Ascending);
    for length in 0..bytes.len() {
        assert!(open(&bytes[..length], Order::Ascending).is_none(), "{length} bytes");
    }
}

#[test]
fn the_codecs_stay_within_three_bits_of_the_entropy() {
    for n in [1 << 20, 1_500_000, 3 << 20] {
        let values = uniform(n);
        let sizes = [
            ("Elias–Fano", EliasFano::new(&values, 64).bytes()),
            ("packed", pack(&values, Order::Ascending).len()),
            ("Huffman", Huffman::new(&values, BLOCK_BYTES).bytes()),
        ];
        for (codec, bytes) in sizes {
            let bits = bytes as f64 * 8.0 / n as f64;
            assert!(
                bits < entropy(n) + 3.0,
                "{codec} takes {bits:.2} bits, the entropy of {n} values is {:.2}",
                entropy(n)
            );
        }
    }
}

#[test]
fn a_million_values_are_probed_by_prefix_as_by_search() {
    let mut values = uniform(1 << 18);
    // A crowd that shares 40 bits, so that one bucket holds it all.
    values.extend((0..1u64 << 16).map(|i| 0x1234_5678_9A00_0000 | mix64(i) & 0xFF_FFFF));
    values.sort_unstable();
    let column = EliasFano::new(&values, 64);
    let bytes = pack(&values, Order::Ascending);
    let packed = open(&bytes, Order::Ascending).expect("just packed");
    for (i, value) in values.iter().enumerate().step_by(97) {
        let below = u64::MAX >> (16 + i % 40);
        let (low, high) = (value & !below, value | below);
        let rows = values.partition_point(|other| *other < low)..values.partition_point(|other| *other <= high);
        let mut found = Vec::new();
        column.visit(low, high, &mut |first, values| found.extend(placed(first, values)));
        assert!(found.iter().map(|(_, value)| value).eq(&values[rows.clone()]), "{low:#x}..={high:#x}");
        assert!(found.iter().map(|(place, _)| *place).eq(rows.clone()), "{low:#x}..={high:#x}");
        assert_eq!(packed.rows(low, high), Some(rows));
    }
}

#[test]
fn a_bucket_is_the_values_with_its_prefix() {
    let mut values = uniform(3000);
    values.extend(std::iter::repeat_n(values[700], 300));
    values.sort_unstable();
    for depth in [0, 1, 5, 8, 11, 12] {
        let column = EliasFano::new(&values, depth);
        let depth = column.depth();
        for prefix in 0..1u64 << depth {
            let of = |value: &u64| value.checked_shr(64 - depth).unwrap_or(0);
            let rows =
                values.partition_point(|value| of(value) < prefix)..values.partition_point(|value| of(value) <= prefix);
            assert_eq!(column.bucket(prefix), rows, "prefix {prefix} of {depth} bits");
        }
        assert!(column.bucket(1 << depth).is_empty() && column.bucket(u64::MAX).is_empty());
    }
}
