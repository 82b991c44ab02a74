//! Tests of estimates from texts.

use super::{recipe, recipe_with_bits};
use crate::hash::mix64;
use crate::sketch::estimate::Estimate;
use crate::sketch::kind::{SketchKind, KINDS};
use crate::sketch::sketching::{Sketch, TextSketcher};

fn text(words: std::ops::Range<u64>) -> String {
    words.map(|i| format!("w{} ", mix64(i))).collect()
}

fn sketch(kind: SketchKind, size: i64, modulus: i64, text: &str) -> Sketch {
    TextSketcher::new(recipe(kind, size, modulus)).expect("in range").sketch(text)
}

#[test]
fn every_kind_finds_a_text_like_itself_and_unlike_another() {
    for (kind, name) in KINDS {
        let [a, same, other] = [text(0..400), text(0..400), text(1000..1400)].map(|text| sketch(kind, 128, 4, &text));
        let estimate = |b: &Sketch| a.resemblance(b, 0.95).expect("alike").expect("a sample");
        assert_eq!((estimate(&same).value, estimate(&same).high), (1.0, 1.0), "{name}");
        assert_eq!((estimate(&other).value, estimate(&other).low), (0.0, 0.0), "{name}");
        assert!(estimate(&other).high < 0.06 && estimate(&same).low > 0.94, "{name} {:?}", estimate(&other));
    }
}

#[test]
fn a_sample_of_everything_leaves_nothing_but_collisions() {
    // 99 and 69 pairs of words, 59 of them common: r = 59/109.
    let exact = 59.0 / 109.0;
    for (kind, size, modulus) in [
        (SketchKind::Smallest, 128, 1),
        (SketchKind::Modulo, 1, 1),
        (SketchKind::SmallestModulo, 128, 1),
        (SketchKind::Adaptive, 1, 1),
    ] {
        let (a, b) = (sketch(kind, size, modulus, &text(0..100)), sketch(kind, size, modulus, &text(40..110)));
        let found = a.resemblance(&b, 0.999).expect("alike").expect("a sample");
        // A union of 109, shingles of two words: 128 bits, and fifty times as sure as at 95 %.
        let error = found.collisions;
        assert!((error / (1024.0 * 109.0 * 50.0 * 128.0 / 2f64.powi(63)) - 1.0).abs() < 1e-9, "{kind:?}, {error}");
        let (low, high) = (exact - error, exact + error);
        assert_eq!(found, Estimate { value: exact, low, high, collisions: error }, "{kind:?}");
    }
}

#[test]
fn without_shingles_nothing_is_defined() {
    for (kind, name) in KINDS {
        let (none, some) = (sketch(kind, 16, 2, "word"), sketch(kind, 16, 2, &text(0..50)));
        for (left, right) in [(&none, &some), (&some, &none), (&none, &none)] {
            assert_eq!(left.resemblance(right, 0.95), Ok(None), "{name}");
            if kind.has_containment() {
                assert_eq!(left.containment(right, 0.95), Ok(None), "{name}");
            }
        }
    }
}

#[test]
fn an_empty_sample_of_a_document_with_shingles_is_undefined_too() {
    let a = sketch(SketchKind::Modulo, 1, 1 << 40, &text(0..50));
    assert!(!a.is_empty() && a.values().is_empty());
    assert_eq!((a.resemblance(&a, 0.95), a.containment(&a, 0.95)), (Ok(None), Ok(None)));
}

#[test]
fn containment_is_told_only_by_samples_that_allow_it() {
    let (small, large) = (text(0..2000), text(0..9000));
    for (kind, name) in KINDS {
        let (a, b) = (sketch(kind, 64, 8, &small), sketch(kind, 64, 8, &large));
        if kind.has_containment() {
            let found = a.containment(&b, 0.95).expect("allowed").expect("a sample");
            assert_eq!((found.value, found.high), (1.0, 1.0), "{name}");
            let back = b.containment(&a, 0.95).expect("allowed").expect("a sample");
            assert!(back.low <= 2.0 / 9.0 && 2.0 / 9.0 <= back.high, "{name} {back:?}");
        } else {
            let message = a.containment(&b, 0.95).expect_err("not from this sample").to_string();
            assert!(message.contains(name) && message.ends_with("use modulo or adaptive"), "{message}");
        }
    }
}

#[test]
fn updates_make_the_sketch_of_the_shingles_given() {
    let shingles: Vec<Vec<u8>> = (0..300u64).map(|i| i.to_le_bytes().to_vec()).collect();
    for (kind, name) in KINDS {
        let recipe = recipe(kind, 32, 4);
        let mut maker = TextSketcher::new(recipe).expect("in range");
        let (mut one_by_one, mut at_once) = (Sketch::empty(recipe), Sketch::empty(recipe));
        let done = maker.update(&mut at_once, shingles.iter().map(Vec::as_slice));
        if kind == SketchKind::Adaptive {
            assert!(done.is_err(), "{name}");
            continue;
        }
        for shingle in shingles.iter().rev() {
            maker.update(&mut one_by_one, std::iter::once(shingle.as_slice())).expect("allowed");
        }
        assert_eq!(one_by_one.values(), at_once.values(), "{name}");
        assert_eq!(one_by_one.resemblance(&at_once, 0.95).expect("alike").map(|found| found.value), Some(1.0));
    }
}

#[test]
fn merging_gives_the_elements_of_the_union() {
    for (kind, name) in KINDS {
        let (a, b) = (sketch(kind, 32, 4, &text(0..5000)), sketch(kind, 32, 4, &text(4999..9000)));
        let mut merged = a.clone();
        merged.merge(&b).expect("alike");
        let mut other_way = b.clone();
        other_way.merge(&a).expect("alike");
        assert_eq!(merged, other_way, "{name}");
        if kind != SketchKind::Adaptive {
            assert_eq!(merged.values(), sketch(kind, 32, 4, &text(0..9000)).values(), "{name}");
        }
        assert_eq!(merged.shingles(), (4999 + 4000, false), "{name}: a bound, as common ones are not known");
    }
}

#[test]
fn sketches_made_differently_are_not_compared() {
    let a = sketch(SketchKind::Fast, 128, 1, "a b c");
    let differ = |b: &Sketch| a.resemblance(b, 0.95).expect_err("unlike").to_string();
    assert_eq!(
        differ(&sketch(SketchKind::Fast, 64, 1, "a b c")),
        "sketches cannot be compared: size is `128` in one and `64` in the other; make both alike"
    );
    assert!(differ(&sketch(SketchKind::Permutations, 128, 1, "a b c")).contains("sketch is `fast`"));
    let mut merged = a.clone();
    assert!(merged.merge(&sketch(SketchKind::Fast, 64, 1, "a b c")).is_err());
}

#[test]
fn few_bits_widen_the_interval_by_the_collision_error() {
    let estimate = |bits| {
        let mut maker = TextSketcher::new(recipe_with_bits(SketchKind::Smallest, 64, 1, bits)).expect("in range");
        let (a, b) = (maker.sketch(&text(0..900)), maker.sketch(&text(100..1000)));
        a.resemblance(&b, 0.95).expect("alike").expect("a sample")
    };
    // |A ∪ B| is 999, a shingle has 128 bits: at 40 bits the error is 128·999/2^29, about 0.0002 on both sides; at 20 bits
    // every value is possible.
    let (few, many) = (estimate(20), estimate(64));
    assert_eq!((few.low, few.high), (0.0, 1.0));
    assert!(many.low > 0.6 && many.high < 0.92, "{many:?}");
    let some = estimate(40);
    assert!((some.collisions - 128.0 * 999.0 / f64::from(1 << 29)).abs() < 2e-5, "{some:?}");
    assert!(some.high - some.low < 0.35, "{some:?}");
}

#[test]
fn coordinates_are_the_values_of_the_sketch() {
    for kind in [SketchKind::Fast, SketchKind::Permutations] {
        let mut maker = TextSketcher::new(recipe(kind, 50, 1)).expect("in range");
        let mut row = vec![0; 50];
        assert_eq!(maker.coordinates("to be or not to be", &mut row), 5);
        assert_eq!(maker.sketch("to be or not to be").values(), row);
    }
}
