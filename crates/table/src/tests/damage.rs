//! Flipped, cut, longer and forged files give an error or the right answer, however they are held.

use super::{forge, *};
use crate::error::Error;
use crate::testing::fixed;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

fn disk_of(bytes: &[u8]) -> Ram {
    Ram::with(BTreeMap::from([(path().to_owned(), bytes.to_vec())]))
}

/// Asserts that a damaged file gives an error or the right rows. Returns whether reading everything finds the damage.
fn is_noticed(bytes: &[u8], rows: &[Known], what: &str) -> bool {
    let disk = disk_of(bytes);
    for access in ACCESSES {
        let found = opened(&disk, access).and_then(|file| {
            let table = file.table("rows")?;
            let keys = file.table("keys")?;
            for row in rows.iter().step_by(9) {
                let expected = rows.iter().filter(|other| other.0 == row.0).count() as u64;
                for table in [&table, &keys] {
                    let got = table.find(row.0)?;
                    assert_eq!(got.end - got.start, expected, "{what}, {access:?}");
                }
            }
            rows_of(&table)
        });
        match found {
            Ok(found) => assert_eq!(found, rows, "{what}, {access:?}"),
            Err(error) => {
                assert!(matches!(error, Error::Damaged { .. } | Error::Version { .. }), "{what}, {access:?}: {error}");
            }
        }
    }
    opened(&disk, Access::Mapped).and_then(|file| file.verify()).is_err()
}

#[test]
fn every_flipped_byte_is_noticed() {
    let rows = many(120);
    let bytes = written(&rows, 900).files()[path()].clone();
    assert!(!is_noticed(&bytes, &rows, "sound"));
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(is_noticed(&flipped, &rows, &format!("byte {at}")), "byte {at}");
    }
}

#[test]
fn every_cut_and_longer_file_is_noticed() {
    let rows = many(60);
    let bytes = written(&rows, 900).files()[path()].clone();
    for length in 0..bytes.len() {
        assert!(is_noticed(&bytes[..length], &rows, &format!("cut to {length}")));
    }
    for more in [1, 8, 4096] {
        assert!(is_noticed(&[&bytes[..], &vec![0; more]].concat(), &rows, "longer"));
    }
}

#[test]
fn a_file_of_another_version_is_told_from_a_damaged_one() {
    let mut bytes = written(&many(9), 900).files()[path()].clone();
    bytes[4] = 9;
    let sum = xxh3_64(&bytes[..8]).to_le_bytes();
    bytes[8..16].copy_from_slice(&sum);
    assert!(matches!(opened_bytes(bytes), Err(Error::Version { found: 9, known: 1, .. })));
}

proptest! {
    #![proptest_config(fixed(3000))]
    #[test]
    fn a_forged_file_does_no_harm(
        rows in known_rows(60),
        page in prop_oneof![1usize..200, Just(4000)],
        hits in prop::collection::vec((any::<u16>(), prop_oneof![any::<u8>(), Just(0), Just(255)]), 0..6),
    ) {
        let mut bytes = written(&rows, page).files()[path()].clone();
        for (at, byte) in hits {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        forge::reseal(&mut bytes);
        forge::read_all(&bytes);
    }

    #[test]
    fn any_bytes_are_a_file_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(opened_bytes(bytes).is_err());
    }
}
