//! C and C++, whose tokens match each other.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;
use crate::reachable;
use crate::TokenKind;

const PREFIXES: &[&str] = &["L", "u", "U", "u8"];

const SHAPE: Shape = Shape {
    names: "identifier field_identifier type_identifier namespace_identifier statement_identifier",
    numbers: "number_literal",
    strings: "string_literal char_literal raw_string_literal system_lib_string",
    unread: "preproc_arg",
    ignored: "literal_suffix",
    words: WORDS,
    types:
        "ssize_t ptrdiff_t intptr_t uintptr_t charptr_t max_align_t int8_t int16_t int32_t int64_t uint8_t uint16_t \
        uint32_t uint64_t char8_t char16_t char32_t char64_t",
    imports: "#include using",
    quotes: &[Quote { prefixes: PREFIXES, ..Quote::DOUBLE }, Quote { prefixes: PREFIXES, ..Quote::SINGLE }],
    signed_numbers: true,
    special: Some(special),
    plan: Some(&reachable::C),
    ..Shape::PLAIN
};

/// The built-in types and constants, which are rules in the grammars.
const WORDS: &str =
    "int char float double void bool true false TRUE FALSE NULL nullptr this auto size_t ssize_t ptrdiff_t \
    intptr_t uintptr_t charptr_t nullptr_t max_align_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t \
    uint64_t char8_t char16_t char32_t char64_t";

/// C.
pub static C: CodeLanguage = CodeLanguage::new("c", &[".c", ".h"], "c-family", tree_sitter_c::LANGUAGE, SHAPE);

/// C++.
pub static CPP: CodeLanguage = CodeLanguage::new(
    "cpp",
    &[".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".ino"],
    "c-family",
    tree_sitter_cpp::LANGUAGE,
    Shape { generics: true, soft: "override", ..SHAPE },
);

/// Directives, the names of headers, and raw strings.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    match rest.as_bytes()[0] {
        b'#' => lexer.directive(at),
        b'<' if lexer
            .last
            .is_some_and(|(kind, end)| kind == TokenKind::Keyword && lexer.text[..end].ends_with("include")) =>
        {
            Some((lexer.find_on_line(at, b'>')?, lexer.string()))
        }
        b'R' | b'L' | b'u' | b'U' => raw_string(lexer, at),
        _ => None,
    }
}

/// `R"delimiter(…)delimiter"`.
fn raw_string(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let opening = ["R\"", "LR\"", "uR\"", "UR\"", "u8R\""].into_iter().find(|opening| rest.starts_with(opening))?;
    let inside = &rest.as_bytes()[opening.len()..];
    let len = inside.iter().take(17).position(|byte| *byte == b'(')?;
    let close = format!("){}\"", &rest[opening.len()..opening.len() + len]);
    Some((lexer.find_end(at + opening.len() + len, &close)?, lexer.string()))
}
