//! Rust.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;
use crate::TokenKind;

/// Rust.
pub static RUST: CodeLanguage = CodeLanguage::new(
    "rust",
    &[".rs"],
    "rust",
    tree_sitter_rust::LANGUAGE,
    Shape {
        names: "identifier field_identifier shorthand_field_identifier type_identifier metavariable lifetime label",
        numbers: "integer_literal float_literal",
        strings: "string_literal raw_string_literal char_literal",
        comments: "line_comment block_comment shebang",
        words: "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 true false mut self super \
            crate",
        types: "str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64",
        imports: "use",
        soft: "block default expr expr_2021 gen ident item lifetime literal meta pat pat_param path raw stmt try tt \
            ty union vis macro_rules!",
        comments_nest: true,
        quotes: &[Quote { prefixes: &["b", "c"], ..Quote::DOUBLE }],
        generics: true,
        spanning: true,
        special: Some(special),
        ..Shape::PLAIN
    },
);

/// Lifetimes, characters, raw strings and macro variables.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    match rest.as_bytes()[0] {
        b'\'' => quoted(lexer, at, 1),
        b'b' if rest.starts_with("b'") => quoted(lexer, at, 2),
        b'r' | b'b' | b'c' => raw_string(lexer, at),
        // A closure without parameters has two signs where a disjunction has one.
        b'|' if rest.starts_with("||") && !is_operand(lexer, at) => Some((at + 1, lexer.literal("|"))),
        b'$' => {
            let len = rest[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            (len > 0).then(|| (at + 1 + len, lexer.name()))
        }
        _ => None,
    }
}

/// Whether the text before `at` ends an operand.
fn is_operand(lexer: &Lexer<'_>, at: usize) -> bool {
    let before = lexer.text[..at].trim_end();
    let word = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    let is_value = matches!(word, "self" | "Self" | "true" | "false" | "await");
    lexer.follows_operand()
        || is_value
        || before.ends_with(['?', '>'])
        || lexer.last.is_some_and(|(kind, _)| kind == TokenKind::Type)
}

/// A character or, failing that, a lifetime; the inside begins after `skip` bytes.
fn quoted(lexer: &Lexer<'_>, at: usize, skip: usize) -> Option<(usize, NodeClass)> {
    let inside = &lexer.rest(at)[skip..];
    let mut characters = inside.chars();
    let (first, second) = (characters.next()?, characters.next());
    if first == '\\' {
        let line = &inside.as_bytes()[..inside.len().min(16)];
        let close = (2..line.len()).find(|i| line[*i] == b'\'')?;
        return Some((at + skip + close + 1, lexer.string()));
    }
    if second == Some('\'') {
        return Some((at + skip + first.len_utf8() + 1, lexer.string()));
    }
    let len = inside.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(inside.len());
    (len > 0).then(|| (at + skip + len, lexer.name()))
}

/// `r#"…"#`.
fn raw_string(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let prefix = ["r", "br", "cr"]
        .into_iter()
        .find(|prefix| rest.strip_prefix(prefix).is_some_and(|after| after.starts_with(['#', '"'])))?;
    let hashes = rest[prefix.len()..].bytes().take(256).take_while(|byte| *byte == b'#').count();
    let quote = prefix.len() + hashes;
    if !rest[quote..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", &rest[prefix.len()..quote]);
    Some((lexer.find_end(at + quote + 1, &close)?, lexer.string()))
}
