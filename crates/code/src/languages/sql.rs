//! SQL in its usual dialects.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

/// SQL.
pub static SQL: CodeLanguage = CodeLanguage::new(
    "sql",
    &[".sql"],
    "sql",
    tree_sitter_sequel::LANGUAGE,
    Shape {
        names: "identifier parameter",
        comments: "comment marginalia",
        unread: "literal",
        soft: "name value data type time text version user password format",
        words: "integer",
        types: "integer bigint smallint tinyint varchar decimal numeric real boolean date timestamp",
        keyword_rules: "keyword_",
        case_blind: true,
        line_comments: &["--"],
        quotes: &[Quote { escape: None, doubled: true, ..Quote::SINGLE }],
        spanning: true,
        special: Some(special),
        fits: Some(fits),
        ..Shape::PLAIN
    },
);

/// Quoted names.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let quote = lexer.rest(at).bytes().next().filter(|byte| matches!(byte, b'"' | b'`'))?;
    Some((lexer.find_on_line(at + 1, quote)?, lexer.name()))
}

/// Whether the text can be parsed: the scanner leaks memory on each dollar-quoted string that it resumes.
fn fits(text: &str) -> bool {
    !text.contains('$')
}
