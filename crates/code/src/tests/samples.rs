//! In every language, copies of a program are found and other programs are not.

use super::{check, lex, read, sample, PLAIN};
use crate::{CodeLanguage, CodeOptions, Degraded, TokenKind, CODE_VERSION, LANGUAGES};
use lookalike_core::hash::identity::token_value;
use std::collections::HashSet;

const ALL: [&str; 6] = ["original", "renamed", "reformatted", "reordered", "broken", "unrelated"];

/// The share of `of` in runs of 12 tokens that `within` has too.
fn covered(of: &[u64], within: &[u64]) -> f64 {
    const RUN: usize = 12;
    let runs: HashSet<&[u64]> = within.windows(RUN).collect();
    let (mut covered, mut upto) = (0, 0);
    for (i, run) in of.windows(RUN).enumerate() {
        if runs.contains(run) {
            covered += i + RUN - upto.max(i);
            upto = i + RUN;
        }
    }
    covered as f64 / of.len() as f64
}

/// Length of the longest common subsequence, as a share of the longer sequence.
fn agreement(left: &[u64], right: &[u64]) -> f64 {
    let mut row = vec![0u32; right.len() + 1];
    for token in left {
        let mut diagonal = 0;
        for (i, other) in right.iter().enumerate() {
            let above = row[i + 1];
            row[i + 1] = if token == other { diagonal + 1 } else { above.max(row[i]) };
            diagonal = above;
        }
    }
    f64::from(row[right.len()]) / left.len().max(right.len()) as f64
}

fn tokens(language: &CodeLanguage, name: &str) -> Vec<u64> {
    read(language, &sample(language, name)).tokens
}

#[test]
fn every_sample_has_valid_spans_and_nothing_is_lost() {
    for language in LANGUAGES {
        for name in ALL {
            let text = sample(language, name);
            for code in [read(language, &text), lex(language, &text)] {
                check(&code, &text, language.name);
                let spans = [code.spans, code.comments].concat();
                let inside: usize = spans.iter().map(|span| (span.end - span.start) as usize).sum();
                let signs = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
                let parting = text.bytes().filter(|byte| b"(),;.:".contains(byte)).count();
                let modifiers = ["public", "private", "protected", "static", "final", "const"];
                let modifying: usize = modifiers.iter().map(|word| word.len() * text.matches(word).count()).sum();
                // Separators, modifiers, marks of heredocs and suffixes of literals are not tokens.
                assert!(inside + parting + modifying + 150 > signs, "{} {name}: {inside} of {signs}", language.name);
            }
        }
    }
}

#[test]
fn sound_programs_are_sound_and_broken_ones_are_reported() {
    for language in LANGUAGES {
        for name in ALL {
            let degraded = read(language, &sample(language, name)).degraded;
            assert_eq!(degraded.is_some(), name == "broken", "{} {name}: {degraded:?}", language.name);
        }
    }
}

#[test]
fn renaming_changes_no_token() {
    for language in LANGUAGES {
        assert_ne!(sample(language, "renamed"), sample(language, "original"));
        assert!(tokens(language, "renamed") == tokens(language, "original"), "{}", language.name);
    }
}

#[test]
fn layout_and_comments_change_no_token() {
    for language in LANGUAGES {
        assert_ne!(sample(language, "reformatted"), sample(language, "original"));
        assert!(tokens(language, "reformatted") == tokens(language, "original"), "{}", language.name);
    }
}

#[test]
fn reordered_programs_are_found() {
    for language in LANGUAGES {
        let share = covered(&tokens(language, "reordered"), &tokens(language, "original"));
        assert!(share >= 0.8, "{}: {share}", language.name);
        assert!(tokens(language, "reordered") != tokens(language, "original"), "{}", language.name);
    }
}

#[test]
fn broken_programs_are_found() {
    for language in LANGUAGES {
        let share = covered(&tokens(language, "broken"), &tokens(language, "original"));
        assert!(share >= 0.7, "{}: {share}", language.name);
    }
}

/// How far a sound program agrees with itself with one sign or word missing: the least over all of them.
fn least_without_one(language: &CodeLanguage) -> (f64, String) {
    let text = sample(language, "original");
    let sound = tokens(language, "original");
    let missing: &[&str] = match language.name {
        "bash" => &["{\n", "}\n", "fi\n", "done\n"],
        "lua" | "ruby" => &["end\n"],
        "python" => &["(", ")", "[", "]", "{", "}"],
        "sql" => &["(", ")"],
        _ => &["{", "}"],
    };
    // A brace inside a string is none.
    let code = read(language, &text);
    let strings: Vec<_> = code.spans.iter().zip(&code.kinds).filter(|(_, kind)| **kind == TokenKind::String).collect();
    let is_inside = |at: usize| strings.iter().any(|(span, _)| (span.start as usize..span.end as usize).contains(&at));
    let places = missing.iter().flat_map(|sign| text.match_indices(sign)).filter(|(at, _)| !is_inside(*at));
    let scored = places.map(|(at, sign)| {
        let broken = read(language, &[&text[..at], &text[at + sign.len()..]].concat()).tokens;
        let line = text[..at].matches('\n').count() + 1;
        (agreement(&sound, &broken), format!("`{}` of line {line}", sign.trim()))
    });
    scored.min_by(|one, other| one.0.total_cmp(&other.0)).expect("there is one")
}

#[test]
fn a_missing_brace_leaves_all_but_a_hundredth() {
    let mut low = Vec::new();
    for language in LANGUAGES {
        let (share, place) = least_without_one(language);
        if share < 0.99 {
            low.push(format!("{}: {share:.4} without {place}", language.name));
        }
    }
    assert!(low.is_empty(), "{low:#?}");
}

#[test]
fn unrelated_programs_are_not_found() {
    for language in LANGUAGES {
        let share = covered(&tokens(language, "unrelated"), &tokens(language, "original"));
        assert!(share <= 0.25, "{}: {share}", language.name);
    }
}

#[test]
fn the_lexer_agrees_with_the_tree() {
    for language in LANGUAGES {
        for name in ["original", "renamed", "reformatted", "reordered", "unrelated"] {
            let text = sample(language, name);
            let share = agreement(&read(language, &text).tokens, &lex(language, &text).tokens);
            assert!(share >= 0.995, "{} {name}: {share}", language.name);
        }
    }
}

#[test]
fn languages_of_one_family_match_each_other() {
    let find = |name: &str| crate::language(name).expect("it is in the list");
    for (one, other) in [("c", "cpp"), ("javascript", "typescript"), ("javascript", "tsx"), ("typescript", "tsx")] {
        let text = sample(find(one), "original");
        assert!(read(find(one), &text).tokens == read(find(other), &text).tokens, "{one} read as {other}");
    }
    let text = "int main() { return 0; }";
    assert_ne!(read(find("c"), text).tokens[0], read(find("java"), text).tokens[0], "the family is part of the value");
}

#[test]
fn values_are_those_of_the_definition() {
    let java = crate::language("java").expect("it is in the list");
    let text = "int x = 1 + f(\"a b\", 'c', null); // y";
    let value = |class: &[u8]| token_value(&[b"java\0", class].concat());
    let (name, number, string) = (value(b"\x01name"), value(b"\x01number"), value(b"\x01string"));
    let (call, kind) = (value(b"\x01call"), value(b"\x01type"));
    let sign = |text: &str| value(text.as_bytes());
    let expected = [kind, name, sign("="), number, sign("+"), call, string, string, sign("null")];
    for code in [read(java, text), lex(java, text)] {
        assert_eq!(code.tokens, expected);
        assert_eq!(code.kinds[..4], [TokenKind::Type, TokenKind::Name, TokenKind::Operator, TokenKind::Number]);
        assert_eq!(code.comments.len(), 1);
    }
    let kept = java.tokenize(text, CodeOptions { comments: true }).expect("the text is short");
    assert_eq!(kept.tokens[..expected.len()], expected);
    assert_eq!(kept.tokens[expected.len()..], [value(b"\x01comment:y")]);
    assert_eq!(kept.kinds[expected.len()], TokenKind::Comment);
}

#[test]
fn comments_are_kept_word_by_word_on_request() {
    for language in LANGUAGES {
        let text = sample(language, "original");
        for code in [
            language.tokenize(&text, CodeOptions { comments: true }),
            language.lex(&text, CodeOptions { comments: true }),
        ] {
            let code = code.expect("the text is short");
            check(&code, &text, language.name);
            let words = code.spans.iter().zip(&code.kinds).filter(|(_, kind)| **kind == TokenKind::Comment);
            let words: Vec<&str> = words.map(|(span, _)| &text[span.start as usize..span.end as usize]).collect();
            let is_there = ["Grade", "arithmetic", "components"].iter().any(|word| words.contains(word));
            assert!(is_there, "{}: {words:?}", language.name);
        }
    }
}

#[test]
fn text_that_the_tree_skips_is_lexed() {
    let java = crate::language("java").expect("it is in the list");
    let text =
        "class A { int f() { return 1; } ` ° int g() { return 2; } }".to_owned() + &" class B { int x; }".repeat(40);
    let code = read(java, &text);
    assert!(
        matches!(code.degraded, Some(Degraded::Syntax { errors: 1.., first_line: 1, share_permille: 0..=10 })),
        "{:?}",
        code.degraded
    );
    let shown: Vec<&str> = code.spans.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
    assert!(shown.contains(&"°") && shown.contains(&"`"), "{shown:?}");
}

#[test]
fn degraded_files_say_why() {
    let why = Degraded::Syntax { errors: 3, first_line: 14, share_permille: 13 };
    assert_eq!(
        why.to_string(),
        "3 syntax errors, the first on line 14; the file is compared as plain words and symbols"
    );
}

#[test]
fn code_version_digest() {
    // If a grammar or table reads a sample differently, stored values change: change CODE_VERSION too.
    let mut values = Vec::new();
    for language in LANGUAGES {
        for name in ALL {
            let text = sample(language, name);
            let code = [language.tokenize(&text, PLAIN), language.lex(&text, CodeOptions { comments: true })];
            for code in code {
                let tokens = code.expect("the text is short").tokens;
                values.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
            }
        }
    }
    assert_eq!((CODE_VERSION, token_value(&values)), (4, 0x4588_AEC0_6075_CE65));
}
