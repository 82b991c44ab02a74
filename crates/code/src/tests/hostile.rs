//! Hostile texts cause no panic, no deep call stack, no invalid spans and no more than linear cost, which is counted,
//! not timed.

use super::{check, read, sample, PLAIN};
use crate::tree::{self, Cost};
use crate::{language, CodeLanguage, Degraded, LANGUAGES};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// The seed of the property tests of this crate.
const SEED: u64 = 2003;

/// Runs on a stack of 256 KiB: recursion as deep as the text would end the process.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("threads can be made");
    assert!(thread.join().is_ok());
}

/// A text repeated `times` times, with `open` and `close` around the middle.
fn nested(open: &str, middle: &str, close: &str, times: usize) -> String {
    [open.repeat(times), middle.to_owned(), close.repeat(times)].concat()
}

/// Deep, long and empty texts; `n` is their depth or length.
fn hostile(n: usize) -> Vec<String> {
    let mut texts = vec![
        String::new(),
        " \t\r\n\n".repeat(n / 4),
        "\0".repeat(n),
        "a".repeat(n),
        "9".repeat(n),
        "1+".repeat(n) + "1",
        "x = ".to_owned() + &"1 + ".repeat(n) + "1;",
        "\u{FEFF}é日本𝒳 ".repeat(n / 8),
        "if (x) ".repeat(n) + "y();",
        "if x: \n".repeat(n),
        "a.b(".repeat(n),
        "else if (a) {} ".repeat(n),
        "a ? b : ".repeat(n),
        "-".repeat(n) + "1",
        "!".repeat(n) + "x",
        "\\".repeat(n),
        "/* ".repeat(n),
        "R\"(".repeat(n / 4),
        "<<~A ".repeat(n / 4) + "\n",
        "<<A\n".repeat(n / 4),
        "<<<A\n".repeat(n / 4),
        "${".repeat(n),
        "a =~; ".repeat(n / 8),
        "\"#{".repeat(n),
        "`${".repeat(n),
        "$\"{".repeat(n),
        "\"$(".repeat(n),
        "r#\"".repeat(n / 2),
        "--[[ [=[".repeat(n / 4),
        "'".repeat(n),
        "f\"{f'{".repeat(n / 4),
        "#include <".repeat(n / 8),
        "%w[".repeat(n / 4),
        (0..n.min(2_000)).map(|depth| format!("{}if x:\n", " ".repeat(depth % 200))).collect(),
    ];
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{", "}"), ("<div>", "</div>"), ("\"", "\""), ("begin ", "end "), ("f(", ")")]
    {
        texts.push(nested(open, "x", close, n));
        texts.push(open.repeat(n));
        texts.push(close.repeat(n));
    }
    texts
}

#[test]
fn hostile_texts_end_on_a_small_stack() {
    on_a_small_stack(|| {
        for language in LANGUAGES {
            for text in hostile(1_000) {
                check(&read(language, &text), &text, language.name);
            }
        }
    });
}

#[test]
fn a_hundred_thousand_levels_are_read_as_bare_tokens() {
    on_a_small_stack(|| {
        for (name, text, tokens) in [
            ("java", nested("(", "x", ")", 100_000), 1),
            ("python", nested("[", "x", "]", 100_000), 200_001),
            ("c", "x + ".repeat(100_000) + "1", 200_001),
            ("javascript", "if (x) ".repeat(100_000) + "y()", 200_001),
            ("cpp", nested("{", "x;", "}", 100_000), 200_001),
            ("go", "func f() { ".to_owned() + &nested("(", "x", ")", 100_000) + " }", 5),
            ("tsx", nested("<div>", "x", "</div>", 100_000), 600_001),
        ] {
            let language = language(name).expect("it is in the list");
            let code = read(language, &text);
            assert!(
                matches!(code.degraded, Some(Degraded::Nesting { .. } | Degraded::Budget | Degraded::Syntax { .. })),
                "{name}: {:?}",
                code.degraded
            );
            assert_eq!(code.tokens.len(), tokens, "{name}");
            check(&code, &text, name);
        }
    });
}

#[test]
fn nesting_is_named_as_the_reason() {
    let java = language("java").expect("it is in the list");
    let wrap = |depth: usize| format!("class A {{ int x = {}; }}", nested("(", "1", ")", depth));
    assert_eq!(read(java, &wrap(400)).degraded, None);
    assert_eq!(read(java, &wrap(5_000)).degraded, Some(Degraded::Nesting { depth: tree::MAX_DEPTH }));
}

/// Reads and reports of one parse.
fn cost(language: &CodeLanguage, text: &str) -> (usize, usize) {
    let cost = Cost::default();
    // Whether the parse was given up does not matter here.
    let _ = tree::parse(&mut tree_sitter::Parser::new(), language, text, &cost);
    (cost.reads.get(), cost.reports.get())
}

#[test]
fn parsing_is_given_up_at_its_budget() {
    let java = language("java").expect("it is in the list");
    for piece in ["x=>", "a<", "if (a) ", "new ", "1 +", "@A "] {
        let text = piece.repeat(10_000);
        let (reads, reports) = cost(java, &text);
        assert!(reports <= (text.len() + tree::FLOOR) / tree::BYTES_PER_REPORT + 1, "{piece}: {reports}");
        assert!(reads <= (text.len() + tree::FLOOR) * tree::READS_PER_BYTE + tree::PIECE, "{piece}: {reads}");
        assert!(read(java, &text).degraded.is_some(), "{piece}");
    }
}

#[test]
fn a_statement_without_end_is_not_parsed() {
    for name in ["c", "java", "rust"] {
        let language = language(name).expect("it is in the list");
        assert_eq!(cost(language, &"x=>".repeat(1_000)), (0, 0), "{name}");
        let remark = format!("/* {} */ x = \"{}\";", "word ".repeat(1_000), "text ".repeat(1_000));
        assert_ne!(cost(language, &remark), (0, 0), "{name}");
    }
}

#[test]
fn a_scanner_is_spared_what_it_cannot_hold() {
    let mark = "A".repeat(300);
    let indents =
        |from: usize| (from..from + 400).map(|column| format!("{}if x:\n", " ".repeat(column))).collect::<String>();
    for (name, text) in [
        ("ruby", format!("x = <<~{mark}\n a\n{mark}\n")),
        ("ruby", format!("x = <<'{mark}'\n a\n{mark}\n")),
        ("ruby", "\"#{".repeat(203) + "<<A"),
        ("ruby", (0..300).map(|i| format!("f(<<A{i}, ")).collect::<String>()),
        ("python", indents(0)),
        ("python", indents(0).replace("  ", "\t")),
        ("python", "if x:\n ".to_owned() + &" \\\n".repeat(600) + "y"),
        // The SQL scanner does not overrun memory; it leaks it.
        ("sql", "create function f() returns int as $x$ select 1 $x$;".to_owned()),
    ] {
        let language = language(name).expect("it is in the list");
        assert_eq!(cost(language, &text), (0, 0), "{name} {:?}", &text[..20]);
        assert_eq!(read(language, &text).degraded, Some(Degraded::Budget));
    }
    // Other scanners check the room themselves.
    for (name, text) in [
        ("bash", format!("cat <<{mark}\na\n{mark}\n")),
        ("bash", (0..300).map(|i| format!("cat <<A{i} ")).collect::<String>()),
        ("php", format!("<?php $x = <<<{mark}\n a $b\n{mark};\n")),
        ("scala", indents(0).replace(':', " then")),
        ("csharp", "var x = ".to_owned() + &"$\"{".repeat(300)),
        ("r", "[[({".repeat(400)),
        ("rust", format!("let x = r{0}\"a\"{0};", "#".repeat(300))),
        ("cpp", format!("auto x = R\"{mark}(a){mark}\";")),
    ] {
        let language = language(name).expect("it is in the list");
        check(&read(language, &text), &text, name);
    }
}

#[test]
fn a_text_that_is_too_long_is_not_parsed() {
    let java = language("java").expect("it is in the list");
    let text = sample(java, "original").repeat(100);
    let cut = &text[..tree::MAX_PARSED];
    assert_ne!(cost(java, cut), (0, 0));
    assert_eq!(cost(java, &text[..tree::MAX_PARSED + 1]), (0, 0));
    assert_eq!(read(java, &text).degraded, Some(Degraded::Budget));
    assert_eq!(read(java, &text).tokens.len(), 100 * read(java, &sample(java, "original")).tokens.len());
}

#[test]
fn sound_programs_stay_far_below_the_budget() {
    for language in LANGUAGES {
        let text = sample(language, "original").repeat(20);
        let (reads, reports) = cost(language, &text);
        assert!(reads * 4 <= text.len() * tree::READS_PER_BYTE, "{}: {reads} of {}", language.name, text.len());
        assert!(reports * 2 <= text.len() / tree::BYTES_PER_REPORT, "{}: {reports} of {}", language.name, text.len());
    }
}

#[test]
fn eight_megabytes_of_zeros_are_nothing() {
    let java = language("java").expect("it is in the list");
    let code = read(java, &"\0".repeat(8 << 20));
    assert!(code.tokens.is_empty() && code.degraded == Some(Degraded::Budget));
}

#[test]
fn empty_and_blank_texts_have_no_tokens() {
    for language in LANGUAGES {
        for text in ["", " ", "\n", "\r\n\t \u{A0}\u{2028}"] {
            let code = read(language, text);
            assert!(code.tokens.is_empty(), "{} {text:?}", language.name);
        }
    }
}

/// Runs `property` on random texts for every language.
fn for_all<S: Strategy>(cases: u32, texts: impl Fn(&CodeLanguage) -> S, property: impl Fn(&CodeLanguage, S::Value)) {
    for language in LANGUAGES {
        let config = Config { cases, rng_seed: RngSeed::Fixed(SEED), failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(&texts(language), |value| {
            property(language, value);
            Ok(())
        });
        assert!(outcome.is_ok(), "{}: {:?}", language.name, outcome.err());
    }
}

fn check_all(language: &CodeLanguage, text: &str) {
    for comments in [false, true] {
        let options = crate::CodeOptions { comments };
        for code in [language.tokenize(text, options), language.lex(text, options)] {
            check(&code.expect("the text is short"), text, language.name);
        }
    }
}

#[test]
fn random_bytes_are_read() {
    let texts = |_: &CodeLanguage| prop::collection::vec(any::<u8>(), 0..400);
    for_all(40, texts, |language, bytes| check_all(language, &String::from_utf8_lossy(&bytes)));
}

#[test]
fn random_signs_are_read() {
    let texts = |_: &CodeLanguage| "[-+*/%&|<>=!?:;.,#@$'\"`(){}\\[\\]\\\\ \n\ta-cR0-1_é日]{0,120}";
    for_all(80, texts, |language, text| check_all(language, &text));
}

#[test]
fn mutated_programs_are_read_the_same_way_twice() {
    let texts = |language: &CodeLanguage| {
        let text = sample(language, "original") + &sample(language, "unrelated");
        let length = text.len();
        prop::collection::vec((0..length, 0..12usize, "[-(){}\\[\\]\"'`/*#<>\n$a0\\\\é]{0,3}"), 1..6)
            .prop_map(move |edits| edits.iter().fold(text.clone(), |text, edit| mutate(&text, edit)))
    };
    for_all(30, texts, |language, text| {
        check_all(language, &text);
        assert_eq!(language.tokenize(&text, PLAIN), language.tokenize(&text, PLAIN));
    });
}

/// Replaces some characters by others.
fn mutate(text: &str, (at, len, new): &(usize, usize, String)) -> String {
    let edge = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (start, end) = (edge(*at), edge(at + len));
    [&text[..start], new, &text[end..]].concat()
}
