//! Tests that every language must pass, on sample programs and on hostile texts.

mod classes;
mod hostile;
mod samples;

use crate::{language, CodeLanguage, CodeOptions, CodeTokens, LANGUAGES};
use std::path::Path;

/// Comments are not tokens.
const PLAIN: CodeOptions = CodeOptions { comments: false };

/// The sample programs of a language in `samples/`: text by name.
fn sample(language: &CodeLanguage, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(language.name);
    let path = folder.join(format!("{name}{}", language.suffixes[0]));
    let unreadable = |error| format!("no sample at {}: {error}", path.display());
    std::fs::read_to_string(&path).map_err(unreadable).expect("samples are part of the crate")
}

fn read(language: &CodeLanguage, text: &str) -> CodeTokens {
    language.tokenize(text, PLAIN).expect("the text is short")
}

fn lex(language: &CodeLanguage, text: &str) -> CodeTokens {
    language.lex(text, PLAIN).expect("the text is short")
}

/// Fails unless spans ascend, are disjoint, lie between characters and are as many as tokens.
fn check(code: &CodeTokens, text: &str, what: &str) {
    assert_eq!((code.tokens.len(), code.kinds.len()), (code.spans.len(), code.spans.len()), "{what}");
    for spans in [&code.spans, &code.comments] {
        let mut before = 0;
        for span in spans {
            let (start, end) = (span.start as usize, span.end as usize);
            assert!(before <= start && start < end, "{what}: {span:?} after byte {before}");
            assert!(text.get(start..end).is_some(), "{what}: {span:?} cuts a character");
            before = end;
        }
    }
}

#[test]
fn names_and_suffixes_are_unique() {
    for (i, one) in LANGUAGES.iter().enumerate() {
        assert_eq!(language(one.name).map(|found| found.name), Some(one.name));
        for other in &LANGUAGES[i + 1..] {
            assert!(one.name < other.name, "{} and {} are out of order", one.name, other.name);
            assert!(one.suffixes.iter().all(|suffix| !other.suffixes.contains(suffix)), "{} {}", one.name, other.name);
        }
    }
    assert!(language("cobol").is_none());
}

#[test]
fn every_kind_in_the_tables_is_known_to_its_grammar() {
    for language in LANGUAGES {
        let shape = &language.shape;
        for set in [shape.names, shape.numbers, shape.strings, shape.comments, shape.unread] {
            for kind in set.split_whitespace() {
                let mut family = LANGUAGES.iter().filter(|other| other.family == language.family);
                let knows = |grammar: &tree_sitter::Language| {
                    [true, false].into_iter().any(|is_named| grammar.id_for_node_kind(kind, is_named) != 0)
                };
                assert!(family.any(|other| knows(other.grammar())), "{}: no node is a `{kind}`", language.name);
            }
        }
    }
}
