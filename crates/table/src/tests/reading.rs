//! Whatever is written is read back, by scan and by probe, however the file is held and wherever its pages end.

use super::*;
use crate::page::MAX_ROWS;
use crate::testing::fixed;
use crate::writer::PAGE;
use std::ops::Range;

/// The rows whose keys are in a range, by looking at all.
fn between(rows: &[Known], low: u64, high: u64) -> Range<u64> {
    let start = rows.iter().filter(|row| row.0 < low).count() as u64;
    let count = rows.iter().filter(|row| (low..=high).contains(&row.0)).count() as u64;
    start..start + count
}

/// Keys and ranges that are worth asking for.
fn asked(rows: &[Known]) -> Vec<u64> {
    let around = rows.iter().flat_map(|row| [row.0, row.0.wrapping_add(1), row.0.wrapping_sub(1)]);
    let mut keys: Vec<u64> = around.chain([0, 1, u64::MAX, u64::MAX - 1, 1 << 63]).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn check(disk: &Ram, rows: &[Known], access: Access) {
    let file = opened(disk, access).expect("opened");
    file.verify().expect("sound");
    let table = file.table("rows").expect("a table");
    assert_eq!((table.schema(), table.len()), (&schema("rows"), rows.len() as u64));
    assert_eq!(rows_of(&table).expect("read"), rows);
    let empty = file.table("empty").expect("a table");
    assert!(empty.is_empty() && empty.find(5).expect("read").is_empty() && empty.below(u64::MAX).expect("read") == 0);
    let keys = asked(rows);
    for table in [&table, &file.table("keys").expect("a table")] {
        for key in &keys {
            let expected = between(rows, *key, *key);
            assert_eq!(table.below(*key).expect("read"), expected.start, "{key}");
            let got = table.find(*key).expect("read");
            assert_eq!(got, expected, "{key}");
            let high = key.wrapping_add(1 << (key % 64)).max(*key);
            let (got, expected) = (table.between(*key, high).expect("read"), between(rows, *key, high));
            assert_eq!(got, expected, "{key}..={high}");
        }
        // Many keys are found in one pass, few of them one by one.
        let twice: Vec<u64> = keys.iter().flat_map(|key| [*key, *key]).collect();
        for keys in keys.chunks(7).chain([&keys[..], &twice, &keys[keys.len() / 3..]]) {
            let mut found = Vec::new();
            table.find_sorted(keys, |i, rows| found.push((i, rows))).expect("read");
            assert_eq!(found.len(), keys.len());
            for (number, (i, got)) in found.iter().enumerate() {
                assert_eq!((*i, got), (number, &between(rows, keys[*i], keys[*i])));
            }
        }
    }
    for (number, row) in rows.iter().enumerate() {
        let number = number as u64;
        assert_eq!(table.key(number).expect("read"), row.0);
        assert_eq!(table.number(0, number).expect("read"), u64::from(row.1));
        assert_eq!(table.number(1, number).expect("read"), row.2);
        assert_eq!(&table.bytes(2, number).expect("read")[..], &row.3);
        assert_eq!(&table.bytes(3, number).expect("read")[..], &row.4[..]);
    }
    let (mut numbers, mut all) = (Vec::new(), Vec::new());
    table.numbers(1, 0..table.len(), &mut numbers).expect("read");
    table.keys(0..table.len(), |keys| all.extend_from_slice(keys)).expect("read");
    assert!(numbers.iter().zip(rows).all(|(number, row)| *number == row.2) && numbers.len() == rows.len());
    assert!(all.iter().zip(rows).all(|(key, row)| *key == row.0) && all.len() == rows.len());
}

proptest! {
    #![proptest_config(fixed(150))]
    #[test]
    fn what_is_written_is_read_back(rows in known_rows(300), page in prop_oneof![1usize..200, Just(PAGE)]) {
        let disk = written(&rows, page);
        for access in ACCESSES {
            check(&disk, &rows, access);
        }
    }
}

#[test]
fn files_of_no_row_one_row_and_full_pages_are_read_back() {
    let width = |count: usize| (0..count as u64).map(|i| (i / 3, 1, 2, [3; 3], Vec::new())).collect::<Vec<Known>>();
    for count in [0, 1, 127, 128, 129, 1260, 1261, MAX_ROWS] {
        check(&written(&width(count), PAGE), &width(count), Access::Mapped);
    }
}

#[test]
fn keys_alone_fill_pages_to_the_last_row() {
    for count in [MAX_ROWS - 1, MAX_ROWS, MAX_ROWS + 1, 3 * MAX_ROWS] {
        let keys: Vec<u64> = (0..count as u64).map(|i| i << 50 | i).collect();
        let disk = Ram::default();
        let mut writer = Writer::create(Arc::new(disk.clone()), path()).expect("created");
        writer.begin(Schema::new("keys", &[])).expect("begun");
        let sorted = {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            sorted
        };
        sorted.iter().for_each(|key| writer.push(*key, &[]).expect("sorted"));
        writer.finish().expect("written");
        let table = opened(&disk, Access::Mapped).and_then(|file| file.table("keys")).expect("opened");
        assert_eq!(table.pages(), count.div_ceil(MAX_ROWS));
        for (row, key) in sorted.iter().enumerate().step_by(61) {
            assert_eq!(table.key(row as u64).expect("read"), *key);
            assert!(table.find(*key).expect("read").contains(&(row as u64)));
        }
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let file = opened(&written(&many(50), PAGE), Access::Mapped).expect("opened");
    assert!(file.table("other").is_err());
    let table = file.table("rows").expect("a table");
    assert!(table.key(50).is_err() && table.number(0, 50).is_err() && table.bytes(3, u64::MAX).is_err());
    assert!(table.number(2, 0).is_err() && table.bytes(0, 0).is_err() && table.number(5, 0).is_err());
    assert!(table.numbers(0, 40..51, &mut Vec::new()).is_err());
    assert!(table.find_sorted(&[2, 1], |_, _| {}).is_err());
}
