//! A merge is a sort of all rows, whatever the number of inputs, the ties and the passes.

use super::*;
use crate::error::Error;
use crate::merge::{open, reduce, Merge};
use crate::testing::fixed;
use std::path::PathBuf;

fn parts(disk: &Ram, parts: &[Vec<Known>], page: usize) -> Vec<PathBuf> {
    let file = |(number, rows): (usize, &Vec<Known>)| {
        let path = PathBuf::from(format!("/part-{number}"));
        let mut writer = Writer::temporary(Arc::new(disk.clone()), &path).expect("created").with_page(page);
        writer.begin(schema("rows")).expect("begun");
        rows.iter().for_each(|row| writer.push(row.0, &cells(row)).expect("sorted"));
        writer.finish().expect("written");
        path
    };
    parts.iter().enumerate().map(file).collect()
}

fn drained(mut merge: Merge) -> Result<Vec<Known>> {
    let (mut rows, all) = (Vec::new(), merge.left());
    loop {
        assert_eq!(merge.left() + rows.len() as u64, all);
        match merge.next_row()? {
            Some(row) => rows.push(known(&row)),
            None => return Ok(rows),
        }
    }
}

proptest! {
    #![proptest_config(fixed(200))]
    #[test]
    fn a_merge_is_a_sort(inputs in prop::collection::vec(known_rows(40), 0..12), page in 1usize..300, fan_in in 0usize..6) {
        let disk = Ram::default();
        let mut files = parts(&disk, &inputs, page);
        let mut expected = inputs.concat();
        expected.sort();
        prop_assert_eq!(drained(open(&disk, &files).expect("opened")).expect("read"), expected.clone());
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut made = 0;
        reduce(&shared, &mut files, fan_in, page, || { made += 1; PathBuf::from(format!("/merged-{made}")) }).expect("merged");
        prop_assert!(files.len() <= fan_in.max(2));
        prop_assert_eq!(disk.files().len(), files.len(), "merged files are removed");
        prop_assert_eq!(drained(open(&disk, &files).expect("opened")).expect("read"), expected);
    }
}

#[test]
fn tables_with_different_columns_are_not_merged() {
    let disk = written(&many(9), 900);
    let file = opened(&disk, Access::Mapped).expect("opened");
    let scans = ["rows", "keys"].map(|name| file.table(name).expect("a table").scan());
    assert!(matches!(Merge::new(scans.into()), Err(Error::Refused { .. })));
}

#[test]
fn a_damaged_input_is_an_error_of_the_merge() {
    let disk = Ram::default();
    let rows = many(400);
    parts(&disk, &[rows.clone(), rows], 900);
    let mut files = disk.files();
    let bytes = files.get_mut(Path::new("/part-1")).expect("written");
    bytes[3000] ^= 1;
    let merge = open(&Ram::with(files), &["/part-0", "/part-1"]).expect("its footer is sound");
    assert!(matches!(drained(merge), Err(Error::Damaged { path, .. }) if path == Path::new("/part-1")));
}
