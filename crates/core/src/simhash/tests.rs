//! Tests of every kernel against the definition, of texts against their streams, and of the properties of fingerprints.

use super::hashing::{Simhash, SimhashRecipe, Simhasher};
use super::idf::DocumentCounter;
use super::ignore::Ignore;
use super::kernel;
use super::language::TextLanguage;
use super::paper::Paper;
use super::vote::{distance, feature_hash, naive, Votes};
use super::weight::{Weight, MAX_WEIGHT};
use crate::frontend::{stream, Options, Unit};
use crate::hash::identity::token_value;
use crate::hash::mix64;
use crate::sketch::shingle::{Shingler, Shingling};
use crate::testing::{fixed, messy_text, FRAGMENTS};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

const WORDS: Options = Options { unit: Unit::Word, homoglyphs: false };

/// Hashes like those of features, and others: all bits, none, few.
fn hashes(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u64>> {
    let hash =
        prop_oneof![6 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => (0u32..64).prop_map(|bit| 1 << bit)];
    prop_oneof![vec(hash.clone(), count.clone()), (hash, count).prop_map(|(hash, times)| vec![hash; times])]
}

fn weights() -> impl Strategy<Value = Weight> {
    let huge = Weight::new(MAX_WEIGHT).expect("in range").0;
    prop_oneof![4 => any::<i16>().prop_map(|x| Weight(x.into())), 1 => Just(Weight(huge)), 1 => Just(Weight(-huge)), 1 => Just(Weight(0)), 2 => Just(Weight::ONE)]
}

fn count_naive(hashes: &[u64]) -> [u8; 64] {
    std::array::from_fn(|bit| hashes.iter().filter(|hash| *hash >> bit & 1 == 1).count() as u8)
}

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn counts_match_naive(hashes in hashes(0..kernel::BLOCK + 1)) {
        let expected = count_naive(&hashes);
        prop_assert_eq!(kernel::count_planes(&hashes), expected);
        prop_assert_eq!(kernel::count(&hashes), expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = crate::machine::Avx2::detect() {
            // SAFETY: `avx2` proves the feature the function is compiled for.
            prop_assert_eq!(unsafe { kernel::x86::count_avx2(avx2, &hashes) }, expected);
        }
    }

    #[test]
    fn weighted_sums_match_portable(hashes in hashes(0..40), weights in vec(weights(), 40)) {
        let features: Vec<_> = hashes.into_iter().zip(weights).collect();
        let (mut expected, mut fast) = ([7; 64], [7; 64]);
        kernel::weigh_portable(&features, &mut expected);
        kernel::weigh(&features, &mut fast);
        prop_assert_eq!(fast, expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = crate::machine::Avx2::detect() {
            let mut fast = [7; 64];
            // SAFETY: `avx2` proves the feature the function is compiled for.
            unsafe { kernel::x86::weigh_avx2(avx2, &features, &mut fast) };
            prop_assert_eq!(fast, expected);
        }
    }

    #[test]
    fn counted_votes_match_naive(hashes in hashes(0..1200)) {
        let mut votes = Votes::default();
        votes.count(&hashes);
        let features: Vec<_> = hashes.iter().map(|hash| (*hash, Weight::ONE)).collect();
        prop_assert_eq!(votes.fingerprint(), naive(&features));
    }

    #[test]
    fn weighted_votes_match_naive(hashes in hashes(0..90), weights in vec(weights(), 90), parts in 1usize..9) {
        let features: Vec<_> = hashes.into_iter().zip(weights).collect();
        let mut votes = Votes::default();
        features.chunks(parts).for_each(|part| votes.weigh(part));
        prop_assert_eq!(votes.fingerprint(), naive(&features));
    }

    #[test]
    fn counting_is_weighing_with_one(hashes in hashes(0..400)) {
        let (mut counted, mut weighed) = (Votes::default(), Votes::default());
        counted.count(&hashes);
        weighed.weigh(&hashes.iter().map(|hash| (*hash, Weight::ONE)).collect::<Vec<_>>());
        prop_assert_eq!(counted, weighed);
    }

    #[test]
    fn texts_match_naive(
        text in prop_oneof![3 => messy_text(0..40), 1 => "[ab ]{0,60}"], width in 1i64..5, homoglyphs: bool,
        unit in prop::sample::select(vec![Unit::Character, Unit::Word, Unit::Line]),
    ) {
        let options = Options { unit, homoglyphs };
        let made = hasher(options, width).text(&text).expect("short enough");
        prop_assert_eq!(made, text_naive(&text, options, width));
    }
}

fn hasher(options: Options, width: i64) -> Simhasher {
    Simhasher::new(&SimhashRecipe::new(options, width).expect("in range"))
}

/// The simhash by the definition, from all features at once.
fn text_naive(text: &str, options: Options, width: i64) -> Simhash {
    let tokens = stream(text, options).expect("short enough").tokens;
    let mut values = tokens.clone();
    if width > 1 {
        values.clear();
        Shingler::new(Shingling::new(options, width, false, 64).expect("in range")).token_ids(&tokens, &mut values);
    }
    let features: Vec<_> = values.into_iter().map(|value| (feature_hash(value), Weight::ONE)).collect();
    Simhash { fingerprint: naive(&features), length: tokens.len() as u32, ..Simhash::default() }
}

fn words(text: &str) -> Simhash {
    hasher(WORDS, 1).text(text).expect("short enough")
}

#[test]
fn blocks_join_without_a_seam() {
    let text: String = (0..9000).map(|i| format!("w{} ", mix64(i) % 700)).collect();
    for width in [1, 2, 7, 3000] {
        let made = hasher(WORDS, width).text(&text).expect("short enough");
        assert_eq!(made, text_naive(&text, WORDS, width), "width {width}");
    }
}

#[test]
fn memory_is_reused_without_a_trace() {
    for width in [1, 3] {
        let mut hasher = hasher(WORDS, width);
        let first = hasher.text("to be or not to be");
        assert_eq!(hasher.text(""), Ok(Simhash::default()));
        assert_eq!(hasher.text("to be or not to be"), first);
    }
}

#[test]
fn nothing_said_is_no_fingerprint() {
    for text in ["", " \n\t", "?!…", "\u{200B}"] {
        assert_eq!(words(text), Simhash::default(), "{text:?}");
    }
    assert_eq!(naive(&[(7, Weight(0))]), None);
    assert_eq!(naive(&[(7, Weight(9)), (7, Weight(-9))]), None);
    let mut votes = Votes::default();
    votes.weigh(&[(7, Weight(9)), (7, Weight(-9))]);
    assert_eq!(votes.fingerprint(), None);
}

#[test]
fn a_tie_of_votes_gives_zero() {
    let mut votes = Votes::default();
    votes.count(&[0b011, 0b101]);
    assert_eq!(votes.fingerprint(), Some(0b001));
}

#[test]
fn one_feature_has_its_own_hash_whatever_it_weighs() {
    let hash = feature_hash(token_value(b"rose"));
    assert_eq!(words("rose"), Simhash { fingerprint: Some(hash), length: 1, ..Simhash::default() });
    assert_eq!(words("Rose ROSE, rose!").fingerprint, Some(hash));
    let mut votes = Votes::default();
    votes.weigh(&[(hash, Weight(-3))]);
    assert_eq!(votes.fingerprint(), Some(!hash));
}

#[test]
fn scripts_have_distinct_fingerprints() {
    let mut made: Vec<u64> = FRAGMENTS.iter().filter_map(|text| words(text).fingerprint).collect();
    let count = made.len();
    made.sort_unstable();
    made.dedup();
    // One of the fragments consists of line ends only.
    assert_eq!((count, made.len()), (FRAGMENTS.len() - 1, FRAGMENTS.len() - 1));
}

#[test]
fn stored_values_never_change() {
    assert_eq!(feature_hash(0), mix64(0xBB67_AE85_84CA_A73B));
    let made = words("a rose is a rose is a rose");
    assert_eq!(
        (made.fingerprint.map(|bits| format!("{bits:016x}")), made.length),
        (Some("b93806ffb59f62c9".into()), 8)
    );
}

/// Random texts of 500 words from a vocabulary with Zipf's law, and the same with one word replaced.
#[test]
fn one_changed_word_moves_few_bits() {
    let word = |draw: u64| format!("w{} ", (2f64.powf((mix64(draw) >> 11) as f64 / (1u64 << 53) as f64 * 12.0)) as u64);
    let (mut near, mut far, mut last) = (0, 0, None);
    const TEXTS: u64 = 60;
    for text in 0..TEXTS {
        let drawn: Vec<String> = (0..500).map(|i| word(text * 1000 + i)).collect();
        let mut changed = drawn.clone();
        changed[mix64(text) as usize % 500] = "another ".into();
        let (Some(left), Some(right)) = (words(&drawn.concat()).fingerprint, words(&changed.concat()).fingerprint)
        else {
            unreachable!("texts have words");
        };
        near += distance(left, right);
        far += last.map_or(0, |last| distance(left, last));
        last = Some(left);
    }
    let (near, far) = (f64::from(near) / TEXTS as f64, f64::from(far) / (TEXTS - 1) as f64);
    assert!(near < 2.0 && far > 8.0, "one word moves {near:.2} bits, another text {far:.2}");
}

#[test]
fn what_is_ignored_changes_nothing() {
    let ignore = Ignore::new(&["numbers".to_owned()]).expect("a pattern");
    let recipe = SimhashRecipe::new(WORDS, 1).expect("in range").ignoring(ignore);
    let mut hasher = Simhasher::new(&recipe);
    let mut made = |text: &str| hasher.text(text).expect("short enough");
    assert_eq!(made("you are visitor 1,234 of this page"), words("you are visitor of this page"));
    assert_eq!(made("you are visitor 99 of this page"), words("you are visitor of this page"));
    assert_eq!(made("12 34"), Simhash::default());
}

#[test]
fn the_papers_features_vote_with_their_weights() {
    let texts = ["The houses were burning in the cities", "The city and its burning houses", "Houses"];
    let paper = SimhashRecipe::new(WORDS, 1).expect("in range").with_paper(Paper::default());
    let mut counter = DocumentCounter::default();
    for text in texts {
        let mut values = Vec::new();
        Simhasher::new(&paper).values(text, &mut values).expect("short enough");
        counter.add(&mut values);
    }
    let idf = Arc::new(counter.table(1));
    let weighed = paper.clone().with_paper(Paper { language: TextLanguage::of_code("en"), idf: Some(idf.clone()) });
    for text in texts {
        let mut values = Vec::new();
        Simhasher::new(&weighed).values(text, &mut values).expect("short enough");
        let features: Vec<_> = values.iter().map(|value| (feature_hash(*value), idf.weight(*value))).collect();
        let made = Simhasher::new(&weighed).text(text).expect("short enough");
        assert_eq!((made.fingerprint, made.language.code()), (naive(&features), "en"));
    }
    let detected = Simhasher::new(&paper).text(texts[0]).expect("short enough");
    assert_eq!((detected.language.code(), detected.length), ("en", 7));
}
