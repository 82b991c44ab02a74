//! The keys of a file as a column: buckets and values are those of a column in memory, and damage is remembered.

use super::*;
use crate::column::Column;
use crate::key_column::KeyColumn;
use crate::plain::Plain;
use crate::testing::fixed;
use std::collections::BTreeMap;

fn keys_file(keys: &[u64], page: usize) -> Ram {
    let disk = Ram::default();
    let mut writer = Writer::create(Arc::new(disk.clone()), path()).expect("created").with_page(page);
    writer.begin(Schema::new("keys", &[])).expect("begun");
    keys.iter().for_each(|key| writer.push(*key, &[]).expect("sorted"));
    writer.finish().expect("written");
    disk
}

fn column(disk: &Ram, depth: u32) -> Result<KeyColumn> {
    KeyColumn::new(opened(disk, Access::Mapped)?.table("keys")?, depth)
}

fn values(column: &impl Column, rows: std::ops::Range<usize>) -> Vec<u64> {
    let mut values = Vec::new();
    column.read(rows.clone(), &mut |first, some| {
        assert_eq!(first, rows.start + values.len());
        values.extend_from_slice(some);
    });
    values
}

proptest! {
    #![proptest_config(fixed(300))]
    #[test]
    fn buckets_and_values_are_those_of_a_column_in_memory(
        keys in prop::collection::vec(prop_oneof![keys(), (0u64..4, 0u64..300).prop_map(|(top, low)| top << 61 | low)], 0..700),
        depth in 0u32..9,
        page in prop_oneof![1usize..400, Just(2400)],
    ) {
        let mut keys = keys;
        keys.sort_unstable();
        let plain = Plain::new(keys.clone(), depth);
        let opened = || column(&keys_file(&keys, page), depth).expect("opened");
        for mapped in [opened(), opened().portable()] {
            prop_assert_eq!((mapped.len(), mapped.depth()), (keys.len(), depth));
            for prefix in (0..1u64 << depth).chain([1 << depth, u64::MAX]) {
                mapped.hint(prefix);
                let mut decoded = vec![7];
                let (rows, expected) = (mapped.bucket_with(prefix, &mut decoded), plain.bucket(prefix));
                prop_assert_eq!(&keys[rows.clone()], &keys[expected.clone()], "{}", prefix);
                prop_assert!(decoded == [7] || decoded[1..] == keys[rows.clone()], "{}", prefix);
                prop_assert_eq!(values(&mapped, rows), &keys[expected]);
            }
            prop_assert_eq!(values(&mapped, 0..keys.len() + 5), &keys[..]);
            mapped.checked().expect("sound");
        }
    }
}

#[test]
fn damage_is_remembered_and_never_a_smaller_answer() {
    let keys: Vec<u64> = (0..600).map(mix64).collect();
    let sorted = {
        let mut keys = keys;
        keys.sort_unstable();
        keys
    };
    let bytes = keys_file(&sorted, 800).files()[path()].clone();
    for at in 16..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 16;
        let disk = Ram::with(BTreeMap::from([(path().to_owned(), flipped)]));
        let Ok(column) = column(&disk, 4) else { continue };
        for prefix in 0..16 {
            let expected: Vec<u64> = sorted.iter().copied().filter(|key| key >> 60 == prefix).collect();
            let found = values(&column, column.bucket(prefix));
            assert!(found == expected || column.checked().is_err(), "byte {at}");
        }
    }
}

#[test]
fn a_streamed_file_is_no_column() {
    let file = opened(&keys_file(&[1, 2], 800), Access::Streamed).expect("opened");
    assert!(KeyColumn::new(file.table("keys").expect("a table"), 3).is_err());
}
