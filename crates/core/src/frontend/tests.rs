//! Checks every front end: canonical tokens, exact spans, and the same tokens in blocks of any size.

use super::canonical::{canonical_naive, fold_of, fold_segment, Fold, TEXT_VERSION};
use super::characters::Characters;
use super::words::Words;
use super::*;
use crate::hash::identity::token_value;
use crate::testing::{fixed, messy_text, FRAGMENTS};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

const UNITS: [Unit; 3] = [Unit::Character, Unit::Word, Unit::Line];

fn options(unit: Unit) -> Options {
    Options { unit, homoglyphs: false }
}

fn read(text: &str, unit: Unit, homoglyphs: bool) -> Stream {
    stream(text, Options { unit, homoglyphs }).expect("short enough")
}

fn canonical(text: &str) -> String {
    read(text, Unit::Character, false).tokens.iter().filter_map(|code| char::from_u32(*code as u32)).collect()
}

/// Words as (canonical form, slice of the text), by asking for the slice's own canonical form.
fn words(text: &str) -> Vec<(String, &str)> {
    let spans = read(text, Unit::Word, false).spans;
    spans
        .iter()
        .map(|span| &text[span.start as usize..span.end as usize])
        .map(|slice| (canonical(slice), slice))
        .collect()
}

#[test]
fn paper_schleimer2003_figure1_features_removed() {
    assert_eq!(canonical("A do run run run, a do run run"), "adorunrunrunadorunrun");
}

#[test]
fn canonical_form_of_known_texts() {
    for (text, want) in [
        ("Straße", "strasse"),
        ("ﬁne ﬀ", "fineff"),
        ("e\u{301}A\u{30A}", "éå"),
        ("e\u{200B}\u{301}", "é"),
        ("zero\u{200B}\u{200D}width\u{FEFF}", "zerowidth"),
        ("a\u{202E}b\u{2066}c\u{2069}", "abc"),
        ("２３ Ⅳ ½ ™", "23iv12tm"),
        ("𝐛𝐨𝐥𝐝", "bold"),
        ("Σσς", "σσσ"),
        ("\u{1112}\u{1161}\u{11AB}", "한"),
        ("ｶﾞ", "ガ"),
        ("日本語。", "日本語"),
        ("ภาษาไทย", "ภาษาไทย"),
        ("-- \t\n\0 ☃ 👍", ""),
    ] {
        assert_eq!(canonical(text), want, "{text:?}");
    }
}

#[test]
fn homoglyphs_are_folded_on_request() {
    let folded = |text: &str| -> String {
        read(text, Unit::Character, true).tokens.iter().filter_map(|code| char::from_u32(*code as u32)).collect()
    };
    assert_eq!(folded("раураl"), "paypal");
    assert_eq!(folded("ΡΑΥΡΑL"), "paypal");
    assert_eq!(folded("plain ASCII 0O1lI"), "plainascii0o1li");
    assert_ne!(canonical("раураl"), "paypal");
}

#[test]
fn words_of_known_texts() {
    let forms = |text: &str| words(text).into_iter().map(|(form, _)| form).collect::<Vec<_>>();
    assert_eq!(forms("Can't stop, won't stop: 3.14!"), ["cant", "stop", "wont", "stop", "314"]);
    assert_eq!(forms("日本語の文章"), ["日", "本", "語", "の", "文", "章"]);
    assert_eq!(forms("カタカナ"), ["カ", "タ", "カ", "ナ"]);
    assert_eq!(forms("naïve café"), ["naïve", "café"]);
    assert_eq!(forms("한국어 말"), ["한국어", "말"]);
    assert_eq!(forms("  ...  __ "), Vec::<String>::new());
    assert_eq!(words("(Hello),")[0].1, "Hello");
}

#[test]
fn lines_of_known_texts() {
    let text = "one\r\ntwo\n\n  \n-- three\u{2028}four\u{85}five";
    let slices: Vec<&str> =
        read(text, Unit::Line, false).spans.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
    assert_eq!(slices, ["one", "two", "three", "four", "five"]);
    assert_eq!(read("A b\n", Unit::Line, false).tokens, [token_value(b"ab")]);
}

#[test]
fn long_runs_of_marks_are_cut() {
    let text = format!("a{}b", "\u{301}".repeat(1000));
    let found = read(&text, Unit::Character, false);
    assert!(found.spans.iter().all(|span| span.end - span.start <= 2 * (canonical::MAX_JOINING as u32 + 1)));
    assert_eq!(found.tokens.last(), Some(&u64::from(b'b')));
}

#[test]
fn compatible_letters_and_digits_are_themselves_with_homoglyphs() {
    for (wide, plain) in
        [("０１２３４５６７８９", "0123456789"), ("𝟎𝟏", "01"), ("¹", "1"), ("ＩＯｌ", "iol"), ("Ⅰ", "i")]
    {
        assert_eq!(canonical_naive(wide, true), plain);
        assert_eq!(canonical_naive(wide, true), canonical_naive(wide, false));
    }
    assert_ne!(canonical_naive("１０", true), canonical_naive("lo", true));
    assert_eq!(canonical_naive("раураl", true), "paypal");
}

#[test]
fn text_version_digest() {
    // The canonical form of every character, alone: when this changes, stored fingerprints no longer match, and
    // TEXT_VERSION and FORMAT.md must change with it.
    let mut bytes = Vec::new();
    for homoglyphs in [false, true] {
        for c in '\0'..=char::MAX {
            let mut folded = Vec::new();
            match fold_of(c, homoglyphs) {
                Fold::Ignored => folded.push(u32::MAX),
                Fold::Joins => folded.push(u32::MAX - 1),
                _ => fold_segment(&[c], homoglyphs, &mut folded),
            }
            bytes.push(folded.len() as u8);
            bytes.extend(folded.iter().flat_map(|code| code.to_le_bytes()));
        }
    }
    assert_eq!((TEXT_VERSION, token_value(&bytes)), (2, 0x925b_a678_38dd_5599), "digest {:#018x}", token_value(&bytes));
}

#[test]
fn four_gibibytes_are_refused() {
    assert!(check_length(u32::MAX as usize).is_ok());
    assert_eq!(check_length(1 << 32), Err(Error::TooLarge { len_bytes: 1 << 32 }));
}

/// UAX 29 by the library alone, with the same canonical form.
fn words_naive(text: &str) -> Vec<u64> {
    let mut tokens = Vec::new();
    for word in text.split_word_bounds() {
        let form = canonical_naive(word, false);
        if !form.is_empty() {
            tokens.push(token_value(form.as_bytes()));
        }
    }
    tokens
}

fn has_kana(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3031}'..='\u{30FF}' | '\u{31F0}'..='\u{3357}' | '\u{FF00}'..='\u{FFEF}' | '\u{1AFF0}'..='\u{1B167}'))
}

fn has_long_marks(text: &str) -> bool {
    let mut run = 0;
    text.chars().any(|c| {
        run = if matches!(fold_of(c, false), Fold::Joins | Fold::Ignored) { run + 1 } else { 0 };
        run > canonical::MAX_JOINING
    })
}

proptest! {
    #![proptest_config(fixed(600))]

    #[test]
    fn segments_fold_as_the_whole_text(text in messy_text(0..8), homoglyphs in any::<bool>()) {
        prop_assume!(!has_long_marks(&text));
        let found: String = read(&text, Unit::Character, homoglyphs).tokens.iter().filter_map(|code| char::from_u32(*code as u32)).collect();
        prop_assert_eq!(found, canonical_naive(&text, homoglyphs));
    }

    #[test]
    fn ascii_path_matches_the_general_one(text in "[ -~\t\r\n\0\x7F]{0,300}") {
        let mut spans: Vec<Span> = Vec::new();
        let mut tokens = Vec::new();
        Characters::new(&text, false).fill(&mut tokens, &mut spans, usize::MAX);
        let fast = read(&text, Unit::Character, false);
        prop_assert_eq!(fast.tokens, tokens.into_iter().map(u64::from).collect::<Vec<_>>());
        prop_assert_eq!(fast.spans, spans);
    }

    #[test]
    fn spans_are_exact(text in messy_text(0..8), homoglyphs in any::<bool>()) {
        for unit in UNITS {
            let found = read(&text, unit, homoglyphs);
            prop_assert_eq!(found.tokens.len(), found.spans.len());
            let mut before = Span::default();
            for (token, span) in found.tokens.iter().zip(&found.spans) {
                prop_assert!(span.start < span.end, "{:?} {:?}", unit, span);
                prop_assert!(*span == before || span.start >= before.end, "{:?} {:?} after {:?}", unit, span, before);
                let slice = &text[span.start as usize..span.end as usize];
                prop_assert!(read(slice, unit, homoglyphs).tokens.contains(token), "{:?} {:?}", unit, slice);
                before = *span;
            }
        }
    }

    #[test]
    fn ascii_words_match_uax29(text in "[a-cA-C0-9'.:,;_\" \t\n-]{0,80}") {
        prop_assert_eq!(read(&text, Unit::Word, false).tokens, words_naive(&text), "{:?}", text);
    }

    #[test]
    fn words_match_uax29(text in messy_text(0..8)) {
        prop_assume!(!has_kana(&text) && !has_long_marks(&text));
        prop_assert_eq!(read(&text, Unit::Word, false).tokens, words_naive(&text), "{:?}", text);
    }

    #[test]
    fn words_beside_signs_match_uax29(text in "[ab1.'_ \u{A0}¶’·日のé\u{301}\u{200D}—א\u{2028}😀\u{AD}]{0,40}") {
        prop_assert_eq!(read(&text, Unit::Word, false).tokens, words_naive(&text), "{:?}", text);
    }

    #[test]
    fn values_do_not_depend_on_who_asks_for_spans(text in messy_text(0..30), homoglyphs in any::<bool>()) {
        let mut values = Vec::new();
        Words::new(&text, homoglyphs).numbers(&mut values);
        prop_assert_eq!(values, read(&text, Unit::Word, homoglyphs).tokens);
    }

    #[test]
    fn small_helpings_equal_one_large(text in messy_text(0..8), want in 1usize..20) {
        struct Sip(usize);
        impl Visitor for Sip {
            type Output = (Vec<u64>, Vec<Span>);
            fn visit<S: Source>(self, mut source: S) -> Self::Output {
                let (mut tokens, mut spans) = (Vec::new(), Vec::new());
                loop {
                    let want = tokens.len() + self.0;
                    if !source.fill(&mut tokens, &mut spans, want) {
                        return (tokens.into_iter().map(Identify::number).collect(), spans);
                    }
                }
            }
        }
        for unit in UNITS {
            let whole = read(&text, unit, false);
            prop_assert_eq!(options(unit).open(&text, Sip(want)), (whole.tokens, whole.spans));
        }
    }

    #[test]
    fn located_spans_match_the_stream(text in messy_text(0..8), k in 1usize..6, every in 1usize..4) {
        for unit in UNITS {
            let spans = read(&text, unit, false).spans;
            let positions: Vec<u32> = (0..(spans.len() + 1).saturating_sub(k) as u32).step_by(every).collect();
            let want: Vec<Span> = positions.iter().map(|pos| *pos as usize).map(|pos| Span { start: spans[pos].start, end: spans[pos + k - 1].end }).collect();
            prop_assert_eq!(locate(&text, options(unit), &positions, k), want);
        }
    }
}

#[test]
fn every_fragment_has_the_same_canonical_form_either_way() {
    for text in FRAGMENTS {
        assert_eq!(canonical(text), canonical_naive(text, false), "{text:?}");
    }
}
