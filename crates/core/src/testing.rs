//! Generators for the property tests: a fixed seed, and inputs like those of real texts and of attackers.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::ops::Range;

/// The seed of every property test in this crate; a failure prints it with the smallest failing input.
pub const SEED: u64 = 2003;

/// Returns a configuration of `cases` cases from [`SEED`].
pub fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(SEED), failure_persistence: None, ..Config::default() }
}

/// Generates bytes over alphabets of 1 to 255 letters, periodic bytes, and Thue–Morse strings.
pub fn low_entropy_bytes(len: Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    let random = (prop::sample::select(vec![1u8, 2, 4, 26, 255]), prop::collection::vec(any::<u8>(), len.clone()))
        .prop_map(|(letters, bytes)| bytes.into_iter().map(|b| b'a'.wrapping_add(b % letters)).collect::<Vec<u8>>());
    let periodic = (prop::collection::vec(b'a'..b'e', 1..24), len.clone())
        .prop_map(|(period, n)| period.into_iter().cycle().take(n).collect::<Vec<u8>>());
    let thue_morse = len.prop_map(|n| (0..n).map(|i| b'a' + (i.count_ones() & 1) as u8).collect::<Vec<u8>>());
    prop_oneof![3 => random, 1 => periodic, 1 => thue_morse]
}

/// Generates text that is hard for front ends: scripts, marks, ligatures, controls, and plain ASCII.
pub fn messy_text(pieces: Range<usize>) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -~\n\t]{0,40}",
        2 => "[a-z'.:,_0-9 ]{0,30}",
        1 => "\\PC{0,12}",
        1 => any::<String>(),
        1 => prop::sample::select(FRAGMENTS.to_vec()).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, pieces).prop_map(|parts| parts.concat())
}

/// Small texts that each test one rule.
pub const FRAGMENTS: &[&str] = &[
    "e\u{301}",                                    // composes
    "e\u{200B}\u{301}",                            // composes across a zero-width space
    "\u{301}\u{302}",                              // marks without a base
    "ﬁne ﬀ ﷺ",                                     // one character folds to several
    "ẞ Straße İstanbul ŉ ǰ",                       // folds that grow
    "한국어 \u{1112}\u{1161}\u{11AB}",             // syllables, composed and not
    "ガギ ｶﾞｷﾞ カタカナ_abc",                        // kana, wide and half-width, glued by an underscore
    "日本語の文章。中文文本",                      // no spaces
    "ภาษาไทยไม่มีช่องว่าง ກາລະ ខ្មែរ",                   // scripts without spaces
    "العَرَبِيَّة עִבְרִית हिन्दी বাংলা",                     // marks that stay
    "раураl paypal ΡΑΥΡΑL",                        // homoglyphs
    "a\u{202E}b\u{2066}c\u{FEFF}d\u{AD}e\u{180E}", // bidi and zero-width controls
    "👩‍👩‍👧 1️⃣ ❤️ 🇫🇷 𝐛𝐨𝐥𝐝 ２３",                       // emoji, styled letters, wide digits
    "can't 3.14 1,000 a.b:c _x_ e.g. 10:30",       // the middle of words
    "\r\n\u{85}\u{2028}\u{2029}\u{B}\u{C}\0",      // line ends and a NUL
    "ᾳ ᾼ \u{345}α ΐ Σσς",                          // Greek folds that reorder
];
