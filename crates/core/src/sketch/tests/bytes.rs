//! Stored sketches: what was written can be read, and other bytes are refused.

use super::{recipe, recipe_with_bits};
use crate::hash::mix64;
use crate::sketch::kind::{SketchKind, KINDS};
use crate::sketch::sketching::{Sketch, TextSketcher};
use crate::testing::fixed;
use proptest::collection::vec;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

fn made(kind: SketchKind, words: u64, size: i64) -> Sketch {
    let text: String = (0..words).map(|i| format!("w{} ", mix64(i))).collect();
    TextSketcher::new(recipe(kind, size, 3)).expect("in range").sketch(&text)
}

#[test]
fn what_was_stored_comes_back() {
    for (kind, name) in KINDS {
        for words in [0, 2, 40, 500] {
            let sketch = made(kind, words, 16);
            let bytes = sketch.to_bytes();
            assert_eq!(bytes.len(), sketch.len_bytes(), "{name}");
            assert_eq!(Sketch::from_bytes(&bytes).as_ref(), Ok(&sketch), "{name}, {words} words");
        }
    }
}

#[test]
fn stored_bytes_never_change() {
    let bytes = made(SketchKind::Smallest, 3, 4).to_bytes();
    assert_eq!(bytes[..20], *b"LASK\x02\x02\x02\x01\x04\x40\x08\0\x02\0\0\0\x04\0\0\0");
    let digests = KINDS.map(|(kind, _)| xxh3_64(&made(kind, 40, 8).to_bytes()));
    let stored = [
        0x4e3b_2f3a_ac41_55ce,
        0x7c3e_4717_ebbf_94c8,
        0xade6_774f_eb01_c5b1,
        0x77ab_705a_f75c_71e3,
        0x6381_03ea_f0a8_9206,
        0x1a64_58f1_0d33_c593,
    ];
    assert_eq!(digests, stored, "{digests:#x?}");
}

/// Broder 1997, §4.2: 300 to 800 bytes for 100 elements.
#[test]
fn an_element_takes_as_many_bytes_as_its_bits_need() {
    let text: String = (0..500).map(|i| format!("w{i} ")).collect();
    let of = |kind, bits| {
        let sketch = TextSketcher::new(recipe_with_bits(kind, 100, 1, bits)).expect("in range").sketch(&text);
        assert_eq!(Sketch::from_bytes(&sketch.to_bytes()).as_ref(), Ok(&sketch), "{kind:?}, {bits} bits");
        (sketch.len_bytes() - 60) / sketch.values().len()
    };
    assert_eq!([16, 17, 24, 40, 57, 64].map(|bits| of(SketchKind::Smallest, bits)), [2, 3, 3, 5, 8, 8]);
    assert_eq!(of(SketchKind::Adaptive, 40), 5);
    assert_eq!((of(SketchKind::Fast, 40), of(SketchKind::Permutations, 64)), (7, 4));
}

#[test]
fn refusals_say_why() {
    let bytes = made(SketchKind::Fast, 40, 8).to_bytes();
    let message = |bytes: &[u8]| Sketch::from_bytes(bytes).expect_err("refused").to_string();
    assert_eq!(
        message(b"hello"),
        "sketch cannot be read: the bytes do not begin like a sketch; pass the bytes that to_bytes returned"
    );
    assert_eq!(message(&bytes[..30]), "sketch cannot be read: the bytes are cut off; fetch them again");
    let mut newer = bytes.clone();
    newer[4] = 9;
    assert_eq!(
        message(&newer),
        "sketch cannot be read: it has version 9 of text 2, this program reads 1 and 2 of text 2; make it again"
    );
    let mut damaged = bytes.clone();
    damaged[60] ^= 1;
    assert_eq!(
        message(&damaged),
        "sketch cannot be read: the checksum is wrong, so the bytes are damaged; fetch them again"
    );
}

proptest! {
    #![proptest_config(fixed(400))]

    #[test]
    fn hostile_bytes_are_refused_or_mean_something(
        kind in prop::sample::select(KINDS.map(|(kind, _)| kind).to_vec()), words in 0u64..60,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), cut in 0usize..20, random in vec(any::<u8>(), 0..80),
    ) {
        let mut bytes = made(kind, words, 8).to_bytes();
        bytes.truncate(bytes.len() - cut.saturating_sub(12));
        for (at, value) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        // With a valid checksum, so that the checks behind it are reached.
        let content = bytes.len() - 8;
        let checksum = xxh3_64(&bytes[..content]).to_le_bytes();
        bytes[content..].copy_from_slice(&checksum);
        for bytes in [bytes, random] {
            if let Ok(sketch) = Sketch::from_bytes(&bytes) {
                prop_assert_eq!(sketch.to_bytes(), bytes);
                let estimate = sketch.resemblance(&sketch, 0.95).expect("alike with itself");
                prop_assert!(estimate.is_none_or(|found| found.value == 1.0));
                sketch.clone().merge(&sketch).expect("alike with itself");
            }
        }
    }
}
