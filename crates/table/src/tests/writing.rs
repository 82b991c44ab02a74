//! A writer refuses what is out of order or does not fit, keeps one page in memory, and names a file only when it is complete.

use super::*;
use crate::error::Error;
use crate::testing::fixed;
use crate::writer::PAGE;

fn begun(disk: &Ram) -> Writer {
    let mut writer = Writer::create(Arc::new(disk.clone()), path()).expect("created");
    writer.begin(schema("rows")).expect("begun");
    writer
}

proptest! {
    #![proptest_config(fixed(300))]
    #[test]
    fn a_row_is_refused_exactly_if_it_is_before_the_last(rows in known_rows(20), swap in any::<(usize, usize)>(), page in 1usize..90) {
        let mut shuffled = rows.clone();
        if !rows.is_empty() {
            shuffled.swap(swap.0 % rows.len(), swap.1 % rows.len());
        }
        let disk = Ram::default();
        let mut writer = begun(&disk).with_page(page);
        let mut kept: Vec<Known> = Vec::new();
        for row in shuffled {
            let is_sorted = kept.last().is_none_or(|last| *last <= row);
            prop_assert_eq!(writer.push(row.0, &cells(&row)).is_ok(), is_sorted);
            if is_sorted {
                kept.push(row);
            }
        }
        // A refused row leaves no trace.
        writer.finish().expect("written");
        let table = opened(&disk, Access::Mapped).and_then(|file| file.table("rows")).expect("opened");
        prop_assert_eq!(rows_of(&table).expect("read"), kept);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let disk = Ram::default();
    let mut writer = begun(&disk);
    let (row, long) = ((1, 2, 3, [4; 3], vec![5]), vec![0; 4]);
    let good = cells(&row);
    assert!(writer.push(1, &good[..3]).is_err(), "too few values");
    assert!(writer.push(1, &[&good[..], &good[..1]].concat()).is_err(), "too many values");
    let with = |column: usize, cell| {
        let mut cells = good;
        cells[column] = cell;
        cells
    };
    assert!(writer.push(1, &with(0, Cell::Number(1 << 32))).is_err(), "a number above 32 bits");
    assert!(writer.push(1, &with(0, Cell::Bytes(&long))).is_err(), "bytes for a number");
    assert!(writer.push(1, &with(2, Cell::Bytes(&long))).is_err(), "a longer string");
    assert!(writer.push(1, &with(3, Cell::Number(0))).is_err(), "a number for bytes");
    assert!(writer.begin(schema("rows")).is_err(), "the same name");
    assert!(writer.begin(Schema::new("wide", &[("none", ColumnType::Fixed(0))])).is_err());
    assert!(writer.begin(Schema::new("wide", &[("n", ColumnType::U32); 65])).is_err());
    writer.push(1, &good).expect("fits");
    let mut empty = Writer::create(Arc::new(disk.clone()), path()).expect("created");
    assert!(empty.push(1, &[]).is_err(), "no table");
}

#[test]
fn a_file_has_its_name_when_it_is_complete_and_an_abandoned_one_leaves_nothing() {
    let disk = Ram::default();
    let mut writer = begun(&disk);
    writer.push(1, &cells(&(1, 2, 3, [4; 3], vec![5]))).expect("fits");
    assert_eq!(disk.files().keys().collect::<Vec<_>>(), [Path::new("/table.new")]);
    drop(writer);
    assert!(disk.files().is_empty());
    let made = begun(&disk).finish().expect("written");
    assert_eq!(disk.files().keys().collect::<Vec<_>>(), [path()]);
    let file = opened(&disk, Access::Mapped).expect("opened");
    assert_eq!(file.identity(), (made.length, made.seal));
    assert_eq!(made.length, disk.files()[path()].len() as u64);
    let order: Vec<&str> =
        disk.trace().into_iter().filter(|call| ["sync", "rename", "sync_folder"].contains(call)).collect();
    assert_eq!(order, ["sync", "rename", "sync_folder"]);
}

#[test]
fn a_writer_hands_on_each_page_at_once() {
    let disk = Ram::default();
    let mut writer = begun(&disk);
    let length = || disk.files()[Path::new("/table.new")].len();
    let (mut before, mut longest) = (length(), 0);
    for i in 0..20_000u64 {
        let cells = [Cell::Number(i), Cell::Number(mix64(i)), Cell::Bytes(b"abc"), Cell::Bytes(&[7; 26])];
        let cells = [&cells[..], &[Cell::Number(0)]].concat();
        writer.push(i, &cells).expect("sorted");
        // A row has 8 + 4 + 8 + 3 + 30 + 4 bytes, so a page has 574 rows.
        if i % 574 == 0 {
            let now = length();
            longest = longest.max(now - before);
            assert!(i == 0 || now > before, "row {i}");
            before = now;
        }
    }
    assert!(longest > PAGE / 2 && longest < PAGE * 5 / 4, "{longest}");
}

#[test]
fn a_long_value_has_a_page_of_its_own() {
    let long: Vec<Known> = (0..5).map(|i| (i, 0, 0, [0; 3], vec![i as u8; 3 * PAGE])).collect();
    let table = opened(&written(&long, PAGE), Access::Mapped).and_then(|file| file.table("rows")).expect("opened");
    assert_eq!(table.pages(), 5);
    assert_eq!(rows_of(&table).expect("read"), long);
}

#[test]
fn an_error_of_the_system_names_the_file_and_the_bytes() {
    let disk = Ram::full_from(3);
    let found = write(&disk, &many(5000), PAGE).expect_err("the disk is full");
    assert!(matches!(&found, Error::Io { path: named, needed, .. } if named == path() && *needed > 0), "{found}");
    assert!(disk.files().contains_key(Path::new("/table.new")), "a full disk cannot remove either");
}
