//! Tests of the table of references against comparing all with all.

use super::*;
use crate::sign::{Signer, Sketching};
use crate::testing::fixed;
use lookalike_core::frontend::{Options, Unit};
use lookalike_core::sketch::shingle::Shingling;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn signed(texts: &[String]) -> Signed {
    let shingling = Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, 2, false, 64).expect("in range");
    let mut signer = Signer::new(shingling, &Sketching::Shingles).expect("in range");
    let mut out = Signed::default();
    texts.iter().for_each(|text| signer.push(text, f64::NAN, &mut out));
    out
}

fn table(texts: &[String], sought: Sought) -> References {
    let signed = signed(texts);
    let rows = signed.rows.clone();
    let mut store = SignedStore::new(usize::MAX, &std::env::temp_dir());
    store.push(signed).expect("in memory");
    References::new(&rows, &store, sought, u64::MAX).expect("fits")
}

fn set(text: &str) -> BTreeSet<Vec<&str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).map(<[&str]>::to_vec).collect()
}

/// Every pair, by comparing all with all.
fn naive(references: &[String], rows: &[String], sought: Sought) -> Vec<Match> {
    let mut found = Vec::new();
    for (row, text) in (0..).zip(rows) {
        for (reference, other) in (0..).zip(references) {
            let is_first = references.iter().position(|one| one == other) == Some(reference as usize);
            let (a, b) = (set(other), set(text));
            let common = a.intersection(&b).count() as u32;
            let (reference_size, row_size) = (a.len() as u32, b.len() as u32);
            let is_identical = text == other;
            let one = Match { reference, row, common, reference_size, row_size, is_identical };
            let is_near = reference_size > 0 && row_size > 0 && one.score(sought) >= sought.threshold;
            if is_first && !other.is_empty() && !text.is_empty() && (is_near || is_identical) {
                found.push(one);
            }
        }
    }
    found
}

/// Texts of few words, so that much is shared; some begin with the same boilerplate.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = (any::<bool>(), vec("[a-e]", 0..12)).prop_map(|(is_long, words)| {
        let boilerplate = if is_long { "x y z x x y y z z " } else { "" };
        format!("{boilerplate}{}", words.join(" "))
    });
    vec(text, 0..14)
}

proptest! {
    #![proptest_config(fixed(1000))]

    #[test]
    fn matches_are_those_of_comparing_all_with_all(
        references in texts(), rows in texts(), threshold in 1u32..=10, sides in 1u32..4,
    ) {
        let sought =
            Sought { contains: sides & 1 > 0, contained: sides & 2 > 0, threshold: f64::from(threshold) / 10.0 };
        let found = table(&references, sought).look_up(&signed(&rows));
        prop_assert_eq!(found.matches, naive(&references, &rows, sought));
    }

    #[test]
    fn common_elements_are_counted(mut left in vec(0u32..80, 0..60), mut right in vec(0u32..80, 0..9)) {
        for list in [&mut left, &mut right] {
            list.sort_unstable();
            list.dedup();
        }
        let naive = right.iter().filter(|element| left.contains(element)).count() as u32;
        prop_assert_eq!(common(&left, &right), naive);
        prop_assert_eq!(common(&right, &left), naive);
    }

    #[test]
    fn the_least_number_is_the_first_that_reaches(size in 1u32..500, threshold in 0.001f64..=1.0) {
        let first = (1..=size).find(|count| f64::from(*count) / f64::from(size) >= threshold);
        prop_assert_eq!(Some(least(size, threshold)), first);
    }
}

#[test]
fn boilerplate_of_all_references_proposes_none_of_them() {
    let words = |name: &str, count: usize| (0..count).map(|at| format!("{name}{at} ")).collect::<String>();
    let references: Vec<String> =
        (0..500).map(|one| words("boilerplate", 31) + &words(&format!("own{one}-"), 10)).collect();
    let sought = Sought { contains: true, contained: true, threshold: 0.8 };
    let table = table(&references, sought);
    let found = table.look_up(&signed(&[words("boilerplate", 31) + &words("page", 50)]));
    assert_eq!((found.matches.len(), found.counted), (0, 0));
    let found = table.look_up(&signed(&[words("page", 50) + &references[7] + &words("more", 50)]));
    assert_eq!((found.matches.len(), found.matches[0].reference, found.counted), (1, 7, 1));
}

#[test]
fn references_that_do_not_fit_are_told() {
    let one = signed(&["a b c d".to_owned()]);
    let rows = one.rows.clone();
    let mut store = SignedStore::new(usize::MAX, &std::env::temp_dir());
    store.push(one).expect("in memory");
    let sought = Sought { contains: true, contained: true, threshold: 0.8 };
    let needed = 3 * SHINGLE_BYTES + REFERENCE_BYTES;
    assert!(matches!(References::new(&rows, &store, sought, needed - 1), Err(Unfit::Memory(most)) if most == needed));
    assert!(References::new(&rows, &store, sought, needed).is_ok());
}
