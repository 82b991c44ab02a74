//! The driver: blocks equal the stream, and the guarantee holds from text to fingerprint.

use super::*;
use crate::frontend::{locate, stream};
use crate::testing::{fixed, messy_text};
use proptest::prelude::*;

const KINDS: [SchemeKind; 8] = [
    SchemeKind::Every,
    SchemeKind::Modulo { modulus: 5 },
    SchemeKind::SafeModulo { modulus: 5 },
    SchemeKind::Winnow,
    SchemeKind::Robust,
    SchemeKind::Compact,
    SchemeKind::CompactRobust,
    SchemeKind::Smallest { count: 7 },
];
const UNITS: [Unit; 3] = [Unit::Character, Unit::Word, Unit::Line];

fn maker(k: i64, t: i64, kind: SchemeKind, unit: Unit) -> Fingerprinter {
    Fingerprinter::new(Thresholds::new(k, t).expect("valid"), kind, Options { unit, homoglyphs: false })
}

fn fused(by: &Fingerprinter, text: &str) -> (Picks, usize) {
    let mut picks = Picks::default();
    let tokens = by.text(text, &mut picks).expect("short enough");
    (picks, tokens)
}

#[test]
fn thresholds_say_what_is_wrong() {
    let message = |k, t| Thresholds::new(k, t).map(|_| String::new()).unwrap_or_else(|error| error.to_string());
    assert_eq!(
        message(5, 3),
        "t `3` is smaller than k `5`: a match shorter than one k-gram cannot be promised; use t ≥ 5"
    );
    assert_eq!(message(0, 3), "k `0` is not a noise threshold: it counts tokens; use 1 ≤ k ≤ 65536");
    assert_eq!(
        message(1, 1 << 40),
        "t `1099511627776` is not a guarantee threshold: it counts tokens; use 1 ≤ t ≤ 65536"
    );
    assert_eq!(Thresholds::new(5, 8).map(Thresholds::window), Ok(4));
}

#[test]
fn blocks_equal_the_stream_on_a_text_of_many_blocks() {
    // Long enough for several blocks of the fused path, with scripts mixed in and a long run of one character.
    let mut text: String = (0..30_000u64).map(|i| format!("{:x} ", mix64(i / 3))).collect();
    text.push_str(&"0".repeat(40_000));
    for end in ["", "é日本 naïve ﬁn"] {
        text.push_str(end);
        for kind in KINDS {
            for unit in UNITS {
                let by = maker(5, 14, kind, unit);
                let held = stream(&text, by.options).expect("short enough");
                assert_eq!(fused(&by, &text), (by.stream(&held), held.tokens.len()), "{kind:?} {unit:?}");
            }
        }
    }
}

#[test]
fn large_thresholds_work_on_small_texts() {
    let text = "a man a plan a canal panama ".repeat(500);
    for kind in [SchemeKind::Robust, SchemeKind::Compact] {
        assert_eq!(fused(&maker(65_536, 65_536, kind, Unit::Character), &text).0.len(), 0);
        assert_eq!(fused(&maker(1, 65_536, kind, Unit::Character), &text).0.len(), 1);
    }
}

proptest! {
    #![proptest_config(fixed(120))]

    #[test]
    fn fused_equals_stream(text in messy_text(0..20), k in 1i64..9, more in 0i64..20) {
        for kind in KINDS {
            for unit in UNITS {
                let by = maker(k, k + more, kind, unit);
                let held = stream(&text, by.options).expect("short enough");
                let (picks, tokens) = fused(&by, &text);
                prop_assert_eq!((&picks, tokens), (&by.stream(&held), held.tokens.len()), "{:?} {:?}", kind, unit);
            }
        }
    }

    #[test]
    fn a_shared_passage_of_t_tokens_is_found(before in messy_text(0..5), passage in "[a-z ]{200,220}", after in messy_text(0..5)) {
        // White space and a stop on both sides keep the passage's own tokens apart from its surroundings.
        let (left, right) = (format!("{before}. {passage} .{after}"), format!("{after}\n {passage} \n{before}"));
        for (unit, k, t) in [(Unit::Character, 10, 40), (Unit::Word, 2, 5)] {
            let shared = stream(&passage, Options { unit, homoglyphs: false }).expect("short enough").tokens.len();
            for kind in KINDS.into_iter().filter(|kind| shared >= t as usize && !matches!(kind, SchemeKind::Modulo { .. } | SchemeKind::Smallest { .. })) {
                let by = maker(k, t, kind, unit);
                let (a, b) = (fused(&by, &left).0, fused(&by, &right).0);
                prop_assert!(a.hashes.iter().any(|hash| b.hashes.contains(hash)), "{:?} {:?}", kind, unit);
            }
        }
    }

    #[test]
    fn the_slice_of_a_fingerprint_holds_its_k_gram(text in messy_text(0..10)) {
        let by = maker(4, 9, SchemeKind::Robust, Unit::Character);
        let picks = fused(&by, &text).0;
        for (span, hash) in locate(&text, by.options, &picks.positions, 4).iter().zip(&picks.hashes) {
            let slice = &text[span.start as usize..span.end as usize];
            let inside = fused(&maker(4, 4, SchemeKind::Every, Unit::Character), slice).0;
            prop_assert!(inside.hashes.contains(hash), "{:?}", slice);
        }
    }
}
