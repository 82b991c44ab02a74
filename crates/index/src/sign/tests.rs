//! Signed documents against the parts they are made of: the signer of `dedup`, fingerprints of streams, simhashes of texts.

use super::*;
use crate::texts::TextUnpacker;
use lookalike_compare::submissions::TokenNumbers;
use lookalike_compare::submitted_file::TextStretch;
use lookalike_core::frontend::stream;
use lookalike_dedup::sign::{Signed, Signer, Sketching};
use proptest::prelude::*;
use std::collections::BTreeSet;

const WORDS: Options = Options { unit: Unit::Word, homoglyphs: false };

fn settings(labelled: bool) -> SignSettings {
    SignSettings {
        passages: true,
        thresholds: (4, 7),
        shingling: Shingling::new(WORDS, 3, labelled, 64).expect("in range"),
        resemblance: Some(KeptResemblance {
            kind: Coordinates::Fast,
            size: 24,
            filter: (4, 6, 1),
            features_only: false,
        }),
        modulus: Some(2),
        simhash: Some(SimhashRecipe::new(WORDS, 1).expect("in range")),
        texts: true,
    }
}

fn signed(settings: &SignSettings, text: &str) -> Document {
    RecordSigner::new(settings).expect("in range").row(text).expect("short enough")
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[ab ]{0,80}", "(the|a|rose|is|Über|чай|ﬁn|日本|\\.|\n| ){0,60}", "\\PC{0,60}"]
}

fn file(text: &str, language: &str, thresholds: (u32, u32)) -> Arc<SubmittedFile> {
    let stretch = TextStretch { language, range: 0..text.len(), lexed: None, values: None, thresholds };
    Arc::new(SubmittedFile::read(text.to_owned(), &[stretch], false).expect("in range"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn features_alone_are_those_of_dedup(text in texts(), r in 1..4usize) {
        let mut settings = SignSettings { passages: false, modulus: None, simhash: None, texts: false, ..settings(false) };
        let filter = (4, 6, r);
        settings.resemblance =
            Some(KeptResemblance { kind: Coordinates::Fast, size: 24, filter, features_only: true });
        let sketching = Sketching::Features { coordinates: Coordinates::Fast, size: 24, k: 4, s: 6 };
        let mut expected = Signed::default();
        Signer::new(settings.shingling, &sketching).expect("in range").push(&text, f64::NAN, &mut expected);
        let made = signed(&settings, &text);
        prop_assert_eq!(&made.features, &lookalike_dedup::feature_judge::get(&expected.elements).collect::<Vec<_>>());
        let is_bare = made.sketch.is_empty() && made.samples.is_empty() && made.postings.is_empty();
        prop_assert!(is_bare && made.text.is_empty() && made.simhash.is_none());
    }

    #[test]
    fn sketch_and_keys_are_those_of_dedup(text in texts(), labelled: bool, is_fast: bool) {
        let mut settings = settings(labelled);
        let sketching = match is_fast {
            true => Sketching::Fast { size: 24 },
            false => Sketching::Permutations { size: 24 },
        };
        if let (Some(kept), false) = (&mut settings.resemblance, is_fast) {
            kept.kind = Coordinates::Permutations;
        }
        let mut expected = Signed::default();
        Signer::new(settings.shingling, &sketching).expect("in range").push(&text, f64::NAN, &mut expected);
        let made = signed(&settings, &text);
        prop_assert_eq!(&made.sketch, &expected.elements);
        let mut keys = Vec::new();
        Features::new(4, 6, 1).expect("in range").keys(&expected.elements, &mut keys);
        prop_assert_eq!(&made.features, &keys);
        let mut ids = expected.ids;
        into_set(&mut ids);
        prop_assert_eq!(made.shingles as usize, ids.len());
        prop_assert_eq!(made.samples, ids.iter().copied().filter(|id| *id <= u64::MAX / 2).collect::<Vec<_>>());
        if !text.trim().is_empty() {
            prop_assert_eq!(made.content, expected.rows[0].content);
        }
    }

    #[test]
    fn a_row_is_a_submission_of_one_text(text in texts()) {
        let mut signer = RecordSigner::new(&settings(false)).expect("in range");
        let row = signer.row(&text).expect("short enough");
        let one = signer.submission(&[(Vec::new(), file(&text, "text", (4, 7)))], b"").expect("short enough");
        // A comparison stores more of a submission.
        prop_assert_eq!(row, Document { tokens: Vec::new(), literals: Vec::new(), ..one });
    }

    #[test]
    fn a_simhash_of_shared_tokens_is_that_of_the_text(text in texts()) {
        let settings = settings(false);
        let recipe = settings.simhash.as_ref().expect("asked for");
        let expected = Simhasher::new(recipe).text(&text).expect("short enough");
        let made = signed(&settings, &text);
        prop_assert_eq!((made.simhash, made.length), (expected.fingerprint, expected.length));
        let alone = SignSettings { resemblance: None, modulus: None, ..settings };
        let made = signed(&alone, &text);
        prop_assert_eq!((made.simhash, made.length), (expected.fingerprint, expected.length));
    }

    #[test]
    fn postings_are_the_picks_of_the_whole_stream(text in texts()) {
        let thresholds = Thresholds::new(4, 7).expect("in range");
        let picks = Fingerprinter::new(thresholds, SchemeKind::Robust, PROSE).stream(&stream(&text, PROSE).expect("short"));
        let made = signed(&settings(false), &text);
        let expected: BTreeSet<u64> = picks.hashes.into_iter().collect();
        prop_assert_eq!(made.postings, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn postings_of_files_are_the_picks_of_compare(parts in prop::collection::vec(texts(), 1..4)) {
        let mut files: Vec<(Vec<u8>, Arc<SubmittedFile>)> =
            parts.iter().map(|text| (b"a.txt".to_vec(), file(text, "text", (4, 7)))).collect();
        let code = "print('one two three')\nx = [1, 2, 3]\nprint('four five six')\n";
        files.push((b"b.py".to_vec(), file(code, "python", (3, 5))));
        let made = RecordSigner::new(&settings(false)).expect("in range").submission(&files, b"facts").expect("short enough");
        let (_, entry) = TokenNumbers::default().entry(files.iter().map(|(_, file)| file.clone()).collect(), 0, false);
        let expected: BTreeSet<u64> = entry.picks.iter().map(|pick| pick.key).collect();
        prop_assert_eq!(&made.postings, &expected.into_iter().collect::<Vec<_>>());
        let mut literals = [b"\"one two three\"".as_slice(), b"\"four five six\""].map(literal_key).to_vec();
        literals.sort_unstable();
        prop_assert_eq!(made.literals, literals);
        let texts = files.iter().map(|(_, file)| file.text.clone()).collect();
        let restored = stored::restore(&made.tokens, texts).expect("as stored");
        prop_assert_eq!((restored.files.len(), &restored.facts[..]), (files.len(), &b"facts"[..]));
    }

    #[test]
    fn the_stored_text_is_the_joined_one(parts in prop::collection::vec(texts(), 1..4)) {
        let files: Vec<(Vec<u8>, Arc<SubmittedFile>)> =
            parts.iter().map(|text| (b"n".to_vec(), file(text, "text", (4, 7)))).collect();
        let made = RecordSigner::new(&settings(false)).expect("in range").submission(&files, b"facts").expect("short enough");
        let found = TextUnpacker::new().expect("memory").unpack(&made.text).expect("whole");
        prop_assert_eq!(&found.joined, &parts.join("\n"));
        prop_assert_eq!(made.bytes as usize, parts.iter().map(String::len).sum::<usize>());
        let whole = signed(&settings(false), &found.joined);
        prop_assert_eq!((made.sketch, made.samples, made.simhash), (whole.sketch, whole.samples, whole.simhash));
    }
}

#[test]
fn a_signer_leaves_no_trace_in_the_next_document() {
    let mut signer = RecordSigner::new(&settings(true)).expect("in range");
    let first = signer.row("a rose is a rose is a rose").expect("short");
    signer.row("").expect("short");
    signer.row("one").expect("short");
    assert_eq!(signer.row("a rose is a rose is a rose").expect("short"), first);
}

#[test]
fn questions_that_are_left_out_keep_nothing() {
    let none = SignSettings {
        passages: false,
        resemblance: None,
        modulus: None,
        simhash: None,
        texts: false,
        ..settings(false)
    };
    let made = signed(&none, "a rose is a rose is a rose");
    let expected =
        Document { content: xxh3_128(b"a rose is a rose is a rose"), bytes: 26, time: i64::MIN, ..made.clone() };
    assert_eq!(made, expected);
    assert!(made.postings.is_empty() && made.sketch.is_empty() && made.samples.is_empty() && made.text.is_empty());
    assert_eq!((made.simhash, made.shingles), (None, 0));
}

#[test]
fn contents_of_several_texts_depend_on_where_each_ends() {
    let hash = |texts: &[&'static str]| content_hash(texts.iter().copied());
    assert_eq!(hash(&["ab"]), xxh3_128(b"ab"));
    assert_ne!(hash(&["a", "b"]), hash(&["ab", ""]));
    assert_ne!(hash(&["a", "b"]), hash(&["b", "a"]));
    assert_ne!(hash(&["ab"]), hash(&["ab", ""]));
    assert_eq!(unnamed(0xab), b"000000000000000000000000000000ab");
    assert_ne!(person_key(b""), 0);
}

#[test]
fn a_submission_too_short_for_a_pick_is_found_by_its_tokens() {
    let mut signer = RecordSigner::new(&settings(false)).expect("in range");
    let mut of =
        |text: &str| signer.submission(&[(b"a".to_vec(), file(text, "text", (9, 12)))], b"").expect("short").literals;
    assert_eq!((of("abc").len(), of("").len(), of("long enough for a pick").len()), (1, 0, 0));
    assert_eq!(of("abc"), of("a b c"), "blanks are no tokens");
    assert_ne!(of("abc"), of("abd"));
}
