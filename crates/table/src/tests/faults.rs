//! Each call fails once, and the power fails after each call: a file is there whole, or not at all.

use super::*;
use crate::error::Error;
use crate::ram::Fault;
use crate::spill::Sorter;
use std::io::ErrorKind;

const KINDS: [ErrorKind; 2] = [ErrorKind::StorageFull, ErrorKind::Other];

/// Whether a disk has the whole file, or, if it may lack it, none of that name.
fn is_sound(disk: &Ram, rows: &[Known], is_promised: bool) -> bool {
    match opened(disk, Access::Loaded) {
        Ok(file) => {
            file.verify().is_ok()
                && file.table("rows").and_then(|table| rows_of(&table)).is_ok_and(|found| found == rows)
        }
        Err(Error::Io { error, .. }) => !is_promised && error.kind() == ErrorKind::NotFound,
        Err(_) => false,
    }
}

#[test]
fn whichever_call_fails_the_file_is_whole_or_not_there() {
    let rows = many(300);
    let calls = written(&rows, 2000).calls();
    for (at, kind) in (0..calls).flat_map(|at| KINDS.map(|kind| (at, kind))) {
        for is_lasting in [false, true] {
            let disk = Ram::failing(Fault { at, kind, is_lasting });
            let done = write(&disk, &rows, 2000);
            let found = done.expect_err("every call matters");
            assert!(matches!(&found, Error::Io { error, .. } if error.kind() == kind), "call {at}: {found}");
            assert!(is_sound(&disk.copy(), &rows, false), "call {at} fails");
            assert!(is_lasting || !disk.files().contains_key(Path::new("/table.new")), "call {at} leaves a draft");
            for seed in 0..8 {
                assert!(is_sound(&disk.after_power_loss(seed), &rows, false), "call {at}, then the power, seed {seed}");
            }
        }
    }
    let disk = written(&rows, 2000);
    assert!((0..8).all(|seed| is_sound(&disk.after_power_loss(seed), &rows, true)), "what was finished stays");
}

#[test]
fn a_disk_that_lies_is_found_out() {
    let (disk, rows) = (Ram::forgetting(), many(300));
    write(&disk, &rows, 2000).expect("it says so");
    assert!((0..8).any(|seed| !is_sound(&disk.after_power_loss(seed), &rows, true)));
}

#[test]
fn after_a_failed_write_nothing_more_is_written() {
    let disk = Ram::failing(Fault { at: 3, kind: ErrorKind::StorageFull, is_lasting: false });
    let mut writer = Writer::create(Arc::new(disk.clone()), path()).expect("created").with_page(100);
    writer.begin(Schema::new("keys", &[])).expect("begun");
    let failed = (0..1000).find(|key| writer.push(*key, &[]).is_err()).expect("the disk fails");
    let calls = disk.calls();
    assert!((failed..2000).any(|key| matches!(writer.push(key, &[]), Err(Error::Refused { .. }))));
    assert!(writer.finish().is_err());
    assert_eq!(disk.trace()[calls..], ["remove"]);
}

/// Sorts on a disk, and returns all runs.
fn sorted(disk: &Ram) -> Result<Vec<(u64, Vec<u32>)>> {
    let mut sorter = Sorter::new(Arc::new(disk.clone()), 120, Path::new("/"));
    for i in 0..800 {
        sorter.push(i, &[mix64(u64::from(i)) % 50])?;
    }
    let (mut rows, mut runs) = (sorter.finish()?, Vec::new());
    while let Some((key, owners)) = rows.next_run()? {
        runs.push((key, owners.to_vec()));
    }
    Ok(runs)
}

#[test]
fn a_sort_on_a_failing_disk_is_an_error_and_never_fewer_rows() {
    let whole = Ram::default();
    let expected = sorted(&whole).expect("sorted");
    assert!(whole.trace().contains(&"remove"), "files are merged in passes");
    for at in 0..whole.calls() {
        let disk = Ram::failing(Fault { at, kind: ErrorKind::Other, is_lasting: false });
        match sorted(&disk) {
            Ok(found) => assert_eq!(found, expected, "call {at}"),
            Err(found) => assert!(matches!(found, Error::Io { .. }), "call {at}: {found}"),
        }
    }
}

#[test]
fn reading_on_a_failing_disk_is_an_error() {
    let rows = many(300);
    let files = written(&rows, 2000).files();
    for access in ACCESSES {
        let read =
            |disk: &Ram| opened(disk, access).and_then(|file| file.table("rows")).and_then(|table| rows_of(&table));
        let whole = Ram::with(files.clone());
        assert_eq!(read(&whole).expect("read"), rows);
        for at in 0..whole.calls() {
            let disk = Ram::with(files.clone()).that_fails(Fault { at, kind: ErrorKind::Other, is_lasting: false });
            assert!(matches!(read(&disk), Err(Error::Io { .. })), "{access:?}, call {at}");
        }
    }
}
